/**
 * Checks that types are well formed: references only where allowed, type arguments and fields with the required
 * abilities, and type arguments only for generic things (docs/spec/verifier.md §3.4, §3.5).
 */
import type {
  CodeUnit,
  CompiledModule,
  CompiledScript,
  Instantiation,
  Instruction,
  SignatureToken,
  StructDefinition,
  StructTypeParameter,
} from '../../move/modules/compiled.ts';
import { OPCODES } from '../../move/modules/opcodes.ts';
import {
  COPY,
  DROP,
  hasAll,
  KEY,
  NO_ABILITIES,
  requiredOfParts,
  STORE,
} from '../../move/types/abilities.ts';
import type { AbilitySet } from '../../move/types/type-tag.ts';
import { type StatusName, VmError } from '../status/status.ts';
import { allFields, functionSubject, structSubject } from './model/instructions.ts';
import { partsOf, visitTypes } from './model/type-table.ts';
import type { VerifierConfig } from './model/verifier-config.ts';

/** The abilities that each type parameter must have, 4 bits for each. */
type Constraints = bigint;

const ABILITY_BITS = 4;
const ALL_ABILITIES: AbilitySet = COPY | DROP | STORE | KEY;
/** Capacities for type parameters in the reference, which uses the first that suffices. */
const CAPACITIES = [16, 32, 256];

function constraintOf(typeParameter: number, abilities: AbilitySet): Constraints {
  return BigInt(abilities) << BigInt(ABILITY_BITS * typeParameter);
}

function constraintsOf(abilities: readonly AbilitySet[]): Constraints {
  return abilities.reduce((all, each, place) => all | constraintOf(place, each), 0n);
}

function demand(required: Constraints, declared: Constraints): void {
  if ((required & ~declared) !== 0n) throw new VmError('CONSTRAINT_NOT_SATISFIED');
}

function throwIf(condition: boolean, status: StatusName): void {
  if (condition) throw new VmError(status);
}

/** @throws VmError */
export function checkSignatures(
  binary: CompiledModule | CompiledScript,
  config: VerifierConfig,
): void {
  const capacity = capacityFor(binary, config);
  const checker = new SignatureChecker(binary, config);
  checker.checkPools();
  if (binary.kind === 'module') {
    for (const { handle, code } of binary.functionDefinitions) {
      if (code === undefined) continue;
      checker.checkCode(binary.functionHandles[handle]!.typeParameters, code);
    }
    for (const definition of binary.structDefinitions) checker.checkStruct(definition);
    return;
  }
  throwIf(binary.typeParameters.length > capacity, 'VERIFIER_INVARIANT_VIOLATION');
  demand(checker.signature(binary.parameters), constraintsOf(binary.typeParameters));
  checker.checkCode(binary.typeParameters, binary.code);
}

/** @throws VmError UNKNOWN_INVARIANT_VIOLATION_ERROR for more type parameters than the reference has room for */
function capacityFor(binary: CompiledModule | CompiledScript, config: VerifierConfig): number {
  let count = 0;
  const atLeast = (least: number) => {
    count = Math.max(count, least);
  };
  const countIn = (type: SignatureToken) =>
    visitTypes(type, (token) => {
      if (token.kind === 'typeParameter') atLeast(token.index + 1);
    });
  for (const { typeParameters } of binary.functionHandles) atLeast(typeParameters.length);
  for (const { typeParameters } of binary.structHandles) atLeast(typeParameters.length);
  for (const signature of binary.signatures) signature.forEach(countIn);
  if (binary.kind === 'module') {
    for (const definition of binary.structDefinitions) {
      for (const { type } of allFields(definition)) countIn(type);
    }
  } else if (config.countScriptTypeParameters) atLeast(binary.typeParameters.length);
  const capacity = CAPACITIES.find((size) => count <= size);
  if (capacity === undefined) throw new VmError('UNKNOWN_INVARIANT_VIOLATION_ERROR');
  return capacity;
}

class SignatureChecker {
  readonly #binary: CompiledModule | CompiledScript;
  readonly #checkFunctionTypes: boolean;
  readonly #signatures: Constraints[] = [];
  /** By signature, place in it and wanted abilities. */
  readonly #types = new Map<number, Constraints>();
  readonly #instantiations = new Map<string, Constraints>();

  constructor(binary: CompiledModule | CompiledScript, config: VerifierConfig) {
    this.#binary = binary;
    this.#checkFunctionTypes = config.checkFunctionTypes;
  }

  /** All signatures and instantiations, whether code uses them or not. */
  checkPools(): void {
    const binary = this.#binary;
    binary.signatures.forEach((signature, index) => {
      const types = signature.map((type) => this.#check(type, true, NO_ABILITIES));
      this.#signatures[index] = types.reduce((all, each) => all | each, 0n);
    });
    for (const instantiation of binary.functionInstantiations) {
      this.#functionInstantiation(instantiation);
    }
    if (binary.kind === 'module') {
      const { fieldHandles, variantFieldHandles, structVariantHandles } = binary;
      const ownerOf =
        (handles: readonly { readonly owner: number }[]) =>
        ({ handle, signature }: Instantiation) =>
          this.#structInstantiation(handles[handle]!.owner, signature, NO_ABILITIES);
      for (const { handle, signature } of binary.structInstantiations) {
        this.#structInstantiation(handle, signature, NO_ABILITIES);
      }
      binary.fieldInstantiations.forEach(ownerOf(fieldHandles));
      binary.structVariantInstantiations.forEach(ownerOf(structVariantHandles));
      binary.variantFieldInstantiations.forEach(ownerOf(variantFieldHandles));
    }
    for (const handle of binary.functionHandles) {
      const declared = constraintsOf(handle.typeParameters);
      demand(this.signature(handle.parameters), declared);
      demand(this.signature(handle.return), declared);
    }
  }

  signature(index: number): Constraints {
    return this.#signatures[index]!;
  }

  checkCode(typeParameters: readonly AbilitySet[], { locals, code }: CodeUnit): void {
    const declared = constraintsOf(typeParameters);
    demand(this.signature(locals), declared);
    for (const instruction of code) this.#checkInstruction(instruction, declared);
  }

  #checkInstruction(instruction: Instruction, declared: Constraints): void {
    const { name, operand } = OPCODES[instruction.opcode]!;
    switch (operand) {
      case 'functionInstantiation': {
        const { handleIndex, signature } = functionSubject(this.#binary, instruction);
        const instantiation = { handle: handleIndex, signature: signature! };
        demand(this.#functionInstantiation(instantiation), declared);
        return;
      }
      case 'structInstantiation':
      case 'structVariantInstantiation':
      case 'fieldInstantiation':
      case 'variantFieldInstantiation': {
        const { definitionIndex, signature } = structSubject(this.#binary, instruction);
        const required = ON_RESOURCES.has(name) ? KEY : NO_ABILITIES;
        demand(this.#structInstantiation(definitionIndex, signature!, required), declared);
        return;
      }
      case 'signature':
        this.#checkSignatureOperand(name, instruction.operand as number, declared);
    }
  }

  #checkSignatureOperand(name: string, index: number, declared: Constraints): void {
    const types = this.#binary.signatures[index]!;
    const [type] = types;
    if (name === 'CallClosure') {
      const isFunction = types.length === 1 && type!.kind === 'function';
      throwIf(!isFunction, 'CLOSURE_CALL_REQUIRES_FUNCTION');
      return;
    }
    throwIf(types.length !== 1, 'NUMBER_OF_TYPE_ARGUMENTS_MISMATCH');
    throwIf(type!.kind === 'reference', 'INVALID_SIGNATURE_TOKEN');
    demand(this.signature(index), declared);
  }

  checkStruct(definition: StructDefinition): void {
    const { abilities, typeParameters } = this.#binary.structHandles[definition.handle]!;
    const declared = constraintsOf(typeParameters.map(({ constraints }) => constraints));
    const all = constraintsOf(typeParameters.map(() => ALL_ABILITIES));
    for (const { type } of allFields(definition)) {
      demand(this.#check(type, false, NO_ABILITIES), declared);
      try {
        demand(this.#check(type, false, requiredOfParts(abilities)), all);
      } catch (error) {
        throw error instanceof VmError ? new VmError('FIELD_MISSING_TYPE_ABILITY') : error;
      }
      this.#checkPhantoms(type, typeParameters, false);
    }
  }

  #checkPhantoms(
    token: SignatureToken,
    typeParameters: readonly StructTypeParameter[],
    isPhantom: boolean,
  ): void {
    if (token.kind === 'reference') return;
    if (token.kind === 'typeParameter') {
      const isMisplaced = typeParameters[token.index]!.isPhantom && !isPhantom;
      throwIf(isMisplaced, 'INVALID_PHANTOM_TYPE_PARAM_POSITION');
    }
    partsOf(token).forEach((part, place) => {
      const isPhantomPlace =
        token.kind === 'struct' &&
        this.#binary.structHandles[token.handle]!.typeParameters[place]!.isPhantom;
      this.#checkPhantoms(part, typeParameters, isPhantomPlace);
    });
  }

  #functionInstantiation({ handle, signature }: Instantiation): Constraints {
    const { typeParameters } = this.#binary.functionHandles[handle]!;
    const parameters = typeParameters.map((constraints) => ({ constraints, isPhantom: false }));
    return this.#typeArguments(`f${handle} ${signature}`, signature, parameters, NO_ABILITIES);
  }

  #structInstantiation(definition: number, signature: number, required: AbilitySet): Constraints {
    const module = this.#binary as CompiledModule;
    const { handle: handleIndex } = module.structDefinitions[definition]!;
    const { abilities, typeParameters } = module.structHandles[handleIndex]!;
    const isCountWrong = module.signatures[signature]!.length !== typeParameters.length;
    throwIf(!isCountWrong && !hasAll(abilities, required), 'CONSTRAINT_NOT_SATISFIED');
    const key = `s${definition} ${signature} ${required}`;
    return this.#typeArguments(key, signature, typeParameters, required);
  }

  #typeArguments(
    key: string,
    signature: number,
    typeParameters: readonly StructTypeParameter[],
    required: AbilitySet,
  ): Constraints {
    let constraints = this.#instantiations.get(key);
    if (constraints !== undefined) return constraints;
    const types = this.#binary.signatures[signature]!;
    throwIf(types.length !== typeParameters.length, 'NUMBER_OF_TYPE_ARGUMENTS_MISMATCH');
    constraints = 0n;
    types.forEach((type, place) => {
      throwIf(type.kind === 'reference', 'INVALID_SIGNATURE_TOKEN');
      const inside = requiredOfArgument(typeParameters[place]!, required);
      constraints! |= this.#typeInSignature(signature, place, inside);
    });
    this.#instantiations.set(key, constraints);
    return constraints;
  }

  #typeInSignature(signature: number, place: number, required: AbilitySet): Constraints {
    const key = ((signature << 8) | place) * (ALL_ABILITIES + 1) + required;
    let constraints = this.#types.get(key);
    if (constraints === undefined) {
      constraints = this.#check(this.#binary.signatures[signature]![place]!, false, required);
      this.#types.set(key, constraints);
    }
    return constraints;
  }

  /** Checks a type for wanted abilities. Returns those that its type parameters must have. */
  #check(token: SignatureToken, isReferenceAllowed: boolean, required: AbilitySet): Constraints {
    const demandAbilities = (abilities: AbilitySet) =>
      throwIf(!hasAll(abilities, required), 'CONSTRAINT_NOT_SATISFIED');
    switch (token.kind) {
      case 'typeParameter':
        return constraintOf(token.index, required);
      case 'reference':
        throwIf(!isReferenceAllowed, 'INVALID_SIGNATURE_TOKEN');
        demandAbilities(COPY | DROP);
        return this.#check(token.to, false, NO_ABILITIES);
      case 'vector':
        demandAbilities(COPY | DROP | STORE);
        return this.#check(token.element, false, requiredOfParts(required));
      case 'function':
        demandAbilities(token.abilities);
        if (!this.#checkFunctionTypes) return 0n;
        return partsOf(token).reduce(
          (all, part) => all | this.#check(part, true, NO_ABILITIES),
          0n,
        );
      case 'struct': {
        const { abilities, typeParameters } = this.#binary.structHandles[token.handle]!;
        demandAbilities(abilities);
        return token.typeArguments.reduce((all, argument, place) => {
          const inside = requiredOfArgument(typeParameters[place]!, required);
          return all | this.#check(argument, false, inside);
        }, 0n);
      }
      default:
        demandAbilities(token.kind === 'signer' ? DROP : COPY | DROP | STORE);
        return 0n;
    }
  }
}

const ON_RESOURCES = new Set([
  ...['ExistsGeneric', 'MoveFromGeneric', 'MoveToGeneric'],
  ...['ImmBorrowGlobalGeneric', 'MutBorrowGlobalGeneric'],
]);

function requiredOfArgument(
  { constraints, isPhantom }: StructTypeParameter,
  required: AbilitySet,
): AbilitySet {
  return isPhantom ? constraints : constraints | requiredOfParts(required);
}

/** Most elements that VecPack and VecUnpack may name. */
const MAX_ELEMENTS = 65_535n;

const ON_FUNCTIONS = OPCODES.map((info) => info?.operand.startsWith('function') === true);
const ON_STRUCTS = OPCODES.map((info) => /struct|field/i.test(info?.operand ?? ''));

/** @throws VmError */
export function checkInstructions(
  binary: CompiledModule | CompiledScript,
  code: readonly Instruction[],
): void {
  for (const instruction of code) {
    const { opcode, count = 0n, mask = 0n } = instruction;
    if (count > MAX_ELEMENTS) throw new VmError('CONSTRAINT_NOT_SATISFIED');
    if (ON_STRUCTS[opcode]) {
      const { definition, signature } = structSubject(binary, instruction);
      checkGeneric(binary.structHandles[definition.handle]!, signature);
    } else if (ON_FUNCTIONS[opcode]) {
      const { handle, signature } = functionSubject(binary, instruction);
      checkGeneric(handle, signature);
      const { length } = binary.signatures[handle.parameters]!;
      if (mask >> BigInt(length) !== 0n) throw new VmError('INVALID_CLOSURE_MASK');
    }
  }
}

function checkGeneric(
  { typeParameters }: { readonly typeParameters: readonly unknown[] },
  signature: number | undefined,
): void {
  if (typeParameters.length > 0 !== (signature !== undefined)) {
    throw new VmError('GENERIC_MEMBER_OPCODE_MISMATCH');
  }
}
