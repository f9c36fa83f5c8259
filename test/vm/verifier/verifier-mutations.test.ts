/**
 * Real modules with changed code: the verifier accepts or refuses each of them, and accepted ones can be compiled to
 * operations.
 */
import { expect, it } from 'vitest';
import { genesisModules } from '../../../bench/bulk-ledger/framework/framework.ts';
import { checkModuleBounds } from '../../../src/move/modules/bounds-check.ts';
import type {
  CodeUnit,
  CompiledModule,
  FunctionDefinition,
  Instruction,
} from '../../../src/move/modules/compiled.ts';
import { BinaryFormatError } from '../../../src/move/modules/format.ts';
import { OPCODES } from '../../../src/move/modules/opcodes.ts';
import { readModule } from '../../../src/move/modules/read.ts';
import { functionCode } from '../../../src/vm/code/function-code.ts';
import { VmError } from '../../../src/vm/status/status.ts';
import { Random, roundsOf, testSeed } from '../../random.ts';
import { frameworkBytecodes } from '../framework.ts';
import { verifyModule } from './verify-at-once.ts';

const SEED = testSeed('verifier-mutations');
const MUTANTS = roundsOf('VM_MUTANTS', 100, 20_000);

const TIMEOUT_MS = 180_000 + 20 * MUTANTS;

/** Modules that pass unchanged: those of the sample, and the framework of the recorded chain. */
function originals(): CompiledModule[] {
  const sample = genesisModules().map(({ bytes }) => readModule(bytes));
  const recorded = frameworkBytecodes().map((bytes) => readModule(bytes));
  const hasCode = ({ functionDefinitions }: CompiledModule) =>
    functionDefinitions.some(({ code }) => code !== undefined);
  return [...sample, ...recorded].filter((module) => hasCode(module) && isVerified(module));
}

function isVerified(module: CompiledModule): boolean {
  try {
    checkModuleBounds(module);
    verifyModule(module);
    return true;
  } catch (error) {
    if (error instanceof VmError || error instanceof BinaryFormatError) return false;
    throw error;
  }
}

/** Changes one to three instructions of one function. */
function mutant(module: CompiledModule, random: Random): CompiledModule {
  const { below } = random;
  const withCode = module.functionDefinitions.flatMap(({ code }, place) => (code ? place : []));
  const place = random.pick(withCode);
  const functionDefinitions = [...module.functionDefinitions];
  let definition = functionDefinitions[place]!;
  for (let left = 1 + below(3); left > 0; left -= 1) {
    definition = changedFunction(definition, module, random);
  }
  functionDefinitions[place] = definition;
  return { ...module, functionDefinitions };
}

function changedFunction(
  definition: FunctionDefinition,
  module: CompiledModule,
  random: Random,
): FunctionDefinition {
  const { below } = random;
  const { locals, code } = definition.code as CodeUnit;
  const changed = [...code];
  const at = below(changed.length);
  const other = random.pick(changed);
  switch (below(7)) {
    case 0:
      changed[at] = randomInstruction(random, code.length);
      break;
    case 1:
      changed.splice(at, 0, randomInstruction(random, code.length));
      break;
    case 2:
      changed.splice(at, 1);
      break;
    case 3:
      changed.splice(at, 0, other);
      break;
    case 4:
      changed[at] = other;
      break;
    case 5:
      changed[at] = { ...changed[at]!, operand: below(12) };
      break;
    default:
      return { ...definition, code: { locals: below(module.signatures.length), code } };
  }
  if (changed.length === 0) return definition;
  return { ...definition, code: { locals, code: changed } };
}

function randomInstruction(random: Random, length: number): Instruction {
  const opcode = 1 + random.below(0x68);
  const { operand, second, immediate } = OPCODES[opcode]!;
  if (operand === 'none') return { opcode };
  if (immediate !== undefined) {
    return { opcode, operand: immediate.bits <= 32 ? random.below(100) : 7n };
  }
  const index = random.below(operand === 'offset' ? length : 8);
  if (second === 'count') return { opcode, operand: index, count: BigInt(random.below(4)) };
  if (second === 'mask') return { opcode, operand: index, mask: BigInt(random.below(4)) };
  return { opcode, operand: index };
}

it(
  `${MUTANTS} changed modules`,
  () => {
    const random = new Random(SEED);
    const modules = originals();
    expect(modules.length).toBeGreaterThan(50);
    let verified = 0;
    for (let left = MUTANTS; left > 0; left -= 1) {
      const module = mutant(random.pick(modules), random);
      if (!isVerified(module)) continue;
      verified += 1;
      module.functionDefinitions.forEach(({ isNative }, place) => {
        if (!isNative) functionCode(module, place);
      });
    }
    expect(verified).toBeGreaterThan(MUTANTS / 100);
    expect(verified).toBeLessThan(MUTANTS / 2);
  },
  TIMEOUT_MS,
);
