/** Scripts with instructions on definitions, which only modules have: readers do not check their operands. */
import { expect, it } from 'vitest';
import { OPCODES } from '../../src/move/modules/opcodes.ts';
import { readScript } from '../../src/move/modules/read.ts';
import { checkInstructions } from '../../src/vm/verifier/signatures.ts';
import { fullScript } from '../move/modules/module-samples.ts';
import { writeScript } from '../move/modules/write-module.ts';

const OF_DEFINITIONS = OPCODES.flatMap((info, opcode) =>
  info !== undefined && /^(?:struct|field|variantField)/.test(info.operand)
    ? [{ name: info.name, opcode }]
    : [],
);

it('has them all', () => expect(OF_DEFINITIONS.length).toBeGreaterThan(25));

it.each(OF_DEFINITIONS)('$name is refused', ({ opcode }) => {
  const code = [{ opcode, operand: 0 }];
  const script = readScript(writeScript({ ...fullScript(10), code: { locals: 2, code } }));
  expect(() => checkInstructions(script, code)).toThrow(
    expect.objectContaining({ status: 'INVALID_OPERATION_IN_SCRIPT' }),
  );
});
