/** How much the check of one function may look at. */
import { expect, it } from 'vitest';
import { scriptModule } from '../../src/ledger/simulation/script-module.ts';
import type { CompiledScript, Instruction } from '../../src/move/modules/compiled.ts';
import { MAKING_WORK, MAX_WORK } from '../../src/vm/code/checked-type.ts';
import { functionCode } from '../../src/vm/code/function-code.ts';
import { fullScript, opcodeOf } from '../move/modules/module-samples.ts';

/** Results of the generic function. */
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

it.each([-1, 0, 1])('is bounded: %i', (more) => {
  // Of its signatures each type is made; then one is with a type put in; all others are looked up.
  const made = (2 * RESULTS + 1 + 1) * MAKING_WORK + 1;
  const left = MAX_WORK + more - made;
  const generic = Math.floor(left / RESULTS) - 1;
  const check = () => functionCode(scriptModule(callsOf(generic, left - generic * RESULTS)), 0);
  if (more <= 0) expect(check().resultCount).toBe(0);
  else expect(check).toThrow(expect.objectContaining({ text: 'too many types' }));
});
