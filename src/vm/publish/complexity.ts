/** Bounds the types and names of a module or script before it is verified (docs/spec/verifier.md §6.1). */
import type {
  BinaryTables,
  CompiledModule,
  CompiledScript,
  Instruction,
  SignatureToken,
} from '../../move/modules/compiled.ts';
import { OPCODES } from '../../move/modules/opcodes.ts';
import { VmError } from '../status/status.ts';
import { allFields, functionSubject, structSubject } from '../verifier/model/instructions.ts';
import { visitTypes } from '../verifier/model/type-table.ts';

const UNITS_PER_TYPE_NODE = 8;
const BASE_BUDGET = 2_048;
const BUDGET_PER_BYTE = 20;

/** @throws VmError PROGRAM_TOO_COMPLEX */
export function checkComplexity(binary: CompiledModule | CompiledScript, byteLength: number): void {
  const meter = new ComplexityMeter(binary, BASE_BUDGET + BUDGET_PER_BYTE * byteLength);
  for (const index of binary.signatures.keys()) meter.signature(index);
  for (const { signature } of binary.functionInstantiations) meter.signature(signature);
  if (binary.kind === 'module') {
    for (const { signature } of binary.structInstantiations) meter.signature(signature);
    for (const { signature } of binary.fieldInstantiations) meter.signature(signature);
  }
  for (const { module, name, parameters, return: results } of binary.functionHandles) {
    meter.names(module, name);
    meter.signature(parameters);
    meter.signature(results);
  }
  for (const { module, name } of binary.structHandles) meter.names(module, name);
  const units =
    binary.kind === 'script'
      ? [binary.code]
      : binary.functionDefinitions.flatMap(({ code }) => code ?? []);
  for (const { locals, code } of units) {
    meter.signature(locals);
    for (const instruction of code) meter.instruction(instruction);
  }
  if (binary.kind === 'module') meter.structs(binary);
}

class ComplexityMeter {
  readonly #binary: CompiledModule | CompiledScript;
  readonly #signatureUnits: (number | undefined)[] = [];
  #left: number;

  constructor(binary: CompiledModule | CompiledScript, budget: number) {
    this.#binary = binary;
    this.#left = budget;
  }

  #charge(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new VmError('PROGRAM_TOO_COMPLEX');
  }

  #name(index: number): void {
    this.#charge(this.#binary.identifiers[index]!.length);
  }

  names(module: number, name: number): void {
    this.#name(this.#binary.moduleHandles[module]!.name);
    this.#name(name);
  }

  signature(index: number): void {
    let units = this.#signatureUnits[index];
    if (units === undefined) {
      units = this.#binary.signatures[index]!.reduce(
        (sum, type) => sum + unitsOf(this.#binary, type),
        0,
      );
      this.#signatureUnits[index] = units;
    }
    this.#charge(units);
  }

  instruction(instruction: Instruction): void {
    const { operand } = OPCODES[instruction.opcode]!;
    if (operand === 'signature') this.signature(instruction.operand as number);
    else if (operand === 'functionInstantiation') {
      this.signature(functionSubject(this.#binary, instruction).signature!);
    } else if (operand.endsWith('Instantiation')) {
      this.signature(structSubject(this.#binary, instruction).signature!);
    }
  }

  structs({ structDefinitions }: CompiledModule): void {
    for (const definition of structDefinitions) {
      const variants = definition.kind === 'enum' ? definition.variants : [];
      for (const { name } of variants) this.#name(name);
      for (const { type } of allFields(definition)) this.#charge(nodesOf(type));
    }
  }
}

function nodesOf(type: SignatureToken): number {
  let nodes = 0;
  visitTypes(type, () => {
    nodes += 1;
  });
  return nodes;
}

function unitsOf(tables: BinaryTables, type: SignatureToken): number {
  let units = 0;
  visitTypes(type, (token) => {
    units += UNITS_PER_TYPE_NODE;
    if (token.kind !== 'struct') return;
    const { module, name } = tables.structHandles[token.handle]!;
    units += tables.identifiers[name]!.length;
    units += tables.identifiers[tables.moduleHandles[module]!.name]!.length;
  });
  return units;
}
