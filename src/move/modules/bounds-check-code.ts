/** The bounds check of one function's or script's code (docs/spec/move.md §1.11, points 9 and 10). */
import type { CodeUnit, CompiledModule, CompiledScript, Instantiation } from './compiled.ts';
import { BinaryFormatError } from './format-error.ts';
import { OPCODES, type OperandKind } from './opcodes.ts';

/** Asserts that `index` is one of `count` entries. @throws BinaryFormatError */
export function checkIndex(what: string, index: number, count: number): void {
  if (index >= count) {
    throw new BinaryFormatError('out_of_bounds', `${what} ${index} of ${count}`);
  }
}

/** Asserts that the type parameters used are among `declared` ones. @throws BinaryFormatError */
export function checkTypeParameters(what: string, highest: number, declared: number): void {
  if (highest >= declared) {
    throw new BinaryFormatError('out_of_bounds', `${what}: type parameter ${highest}/${declared}`);
  }
}

/** What the code of one function may use. */
export interface CodeScope {
  /** Highest type parameter of every signature, -1 for none. */
  readonly highestTypeParameters: readonly number[];
  /** Number of the function's type parameters. */
  readonly typeParameterCount: number;
  /** Index of the parameters' signature, which is in bounds. */
  readonly parameters: number;
}

/**
 * What an operand can point at: so many entries, and their type arguments where they are
 * instantiations.
 */
interface Target {
  readonly count: number;
  readonly instantiations?: readonly Instantiation[];
}

/**
 * Asserts that locals, branches and table indices of a code unit have targets, and that the generic
 * ones use only type parameters in scope. The locals' signature is in bounds.
 * @throws BinaryFormatError
 */
export function checkCode(
  binary: CompiledModule | CompiledScript,
  unit: CodeUnit,
  scope: CodeScope,
): void {
  const { signatures } = binary;
  const { highestTypeParameters, typeParameterCount } = scope;
  checkTypeParameters('locals', highestTypeParameters[unit.locals]!, typeParameterCount);
  const localCount = signatures[unit.locals]!.length + signatures[scope.parameters]!.length;
  const targets = targetsOf(binary, unit.code.length, localCount);
  for (const { opcode, operand } of unit.code) {
    const { name, operand: kind } = OPCODES[opcode]!;
    const target = targets.get(kind);
    // Immediates are values already; operands of scripts that name modules' tables are not checked
    // (§1.11).
    if (target === undefined || typeof operand !== 'number') continue;
    checkIndex(name, operand, target.count);
    const signature = kind === 'signature' ? operand : target.instantiations?.[operand]?.signature;
    if (signature !== undefined) {
      checkTypeParameters(name, highestTypeParameters[signature]!, typeParameterCount);
    }
  }
}

function targetsOf(
  binary: CompiledModule | CompiledScript,
  codeLength: number,
  localCount: number,
): ReadonlyMap<OperandKind, Target> {
  const shared: readonly [OperandKind, Target][] = [
    ['offset', { count: codeLength }],
    ['local', { count: localCount }],
    ['constant', { count: binary.constants.length }],
    ['signature', { count: binary.signatures.length }],
    ['function', { count: binary.functionHandles.length }],
    ['functionInstantiation', instantiated(binary.functionInstantiations)],
  ];
  if (binary.kind === 'script') return new Map(shared);
  return new Map<OperandKind, Target>([
    ...shared,
    ['struct', { count: binary.structDefinitions.length }],
    ['structInstantiation', instantiated(binary.structInstantiations)],
    ['fieldHandle', { count: binary.fieldHandles.length }],
    ['fieldInstantiation', instantiated(binary.fieldInstantiations)],
    ['variantFieldHandle', { count: binary.variantFieldHandles.length }],
    ['variantFieldInstantiation', instantiated(binary.variantFieldInstantiations)],
    ['structVariantHandle', { count: binary.structVariantHandles.length }],
    ['structVariantInstantiation', instantiated(binary.structVariantInstantiations)],
  ]);
}

function instantiated(instantiations: readonly Instantiation[]): Target {
  return { count: instantiations.length, instantiations };
}
