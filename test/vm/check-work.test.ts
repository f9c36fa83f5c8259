/** The limit of work for checking one function. */
import { expect, it } from 'vitest';
import { scriptModule } from '../../src/execution/script-module.ts';
import type { CompiledScript, Instruction } from '../../src/move/modules/compiled.ts';
import { functionCode } from '../../src/vm/code/function-code.ts';
import { DEFAULT_VERIFIER_CONFIG } from '../../src/vm/verifier/model/verifier-config.ts';
import { fullScript, opcodeOf } from '../move/modules/module-samples.ts';

/** Number of results of the generic function. */
const RESULTS = 200;

/** Calls of `f<u8>(): (vector<T>, …)` and of `g(): u8`, whose results are dropped. */
function callsOf(generic: number, plain: number): CompiledScript {
  const call = (name: string, results: number): Instruction[] => [
    { opcode: opcodeOf(name), operand: name === 'Call' ? 1 : 0 },
    ...Array<Instruction>(results).fill({ opcode: opcodeOf('Pop') }),
  ];
  const code = [
    ...Array.from({ length: generic }, () => call('CallGeneric', RESULTS)).flat(),
    ...Array.from({ length: plain }, () => call('Call', 1)).flat(),
    { opcode: opcodeOf('Ret') },
  ];
  const result = () => ({
    kind: 'vector' as const,
    element: { kind: 'typeParameter' as const, index: 0 },
  });
  const handle = { module: 0, parameters: 0, attributes: [] };
  return {
    ...fullScript(8),
    identifiers: ['m', 'f', 'g'],
    addresses: ['0'.repeat(64)],
    moduleHandles: [{ address: 0, name: 0 }],
    structHandles: [],
    signatures: [[], Array.from({ length: RESULTS }, result), [{ kind: 'u8' }]],
    functionHandles: [
      { ...handle, name: 1, return: 1, typeParameters: [0] },
      { ...handle, name: 2, return: 2, typeParameters: [] },
    ],
    functionInstantiations: [{ handle: 0, signature: 2 }],
    typeParameters: [],
    parameters: 0,
    code: { locals: 0, code },
  };
}

/** Units of work for a type without type arguments; types here consist of one or two. */
const PER_TYPE = 30;

it.each([-1, 0, 1])('is bounded: %i', (more) => {
  const types = Math.floor(DEFAULT_VERIFIER_CONFIG.maxFunctionMeterUnits / PER_TYPE) + more;
  // A generic call has a type argument, and results of two types each.
  const perCall = 1 + 2 * RESULTS;
  const generic = Math.floor(types / perCall) - 1;
  const check = () => functionCode(scriptModule(callsOf(generic, types - generic * perCall)), 0);
  if (more <= 0) expect(check().localCount).toBe(0);
  else expect(check).toThrow(expect.objectContaining({ text: 'CONSTRAINT_NOT_SATISFIED' }));
});
