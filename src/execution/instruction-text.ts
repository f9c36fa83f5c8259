/** Instructions as the reference prints them in its debug form (docs/spec/transactions.md §3). */
import type { Instruction } from '../move/modules/compiled.ts';
import { OPCODES, type OpcodeInfo, type OperandKind } from '../move/modules/opcodes.ts';

/** Operands that are printed with the name of their table; the others are plain numbers. */
const NAMED_INDEXES: ReadonlyMap<OperandKind, string> = new Map([
  ['fieldHandle', 'FieldHandleIndex'],
  ['fieldInstantiation', 'FieldInstantiationIndex'],
  ['variantFieldHandle', 'VariantFieldHandleIndex'],
  ['variantFieldInstantiation', 'VariantFieldInstantiationIndex'],
  ['struct', 'StructDefinitionIndex'],
  ['structInstantiation', 'StructDefInstantiationIndex'],
]);
/** Instructions that print the index of their struct as a plain number. */
const PLAIN = /^(?:Pack|Unpack)/;

export function instructionText({ opcode, operand, count, mask }: Instruction): string {
  // Modules with unknown opcodes do not load.
  const info: OpcodeInfo = OPCODES[opcode]!;
  if (operand === undefined) return info.name;
  if (count !== undefined) return `${info.name}(${operand}, ${count})`;
  if (mask !== undefined) return `${info.name}(${operand}, ${mask.toString(2)})`;
  const table = PLAIN.test(info.name) ? undefined : NAMED_INDEXES.get(info.operand);
  return table === undefined ? `${info.name}(${operand})` : `${info.name}(${table}(${operand}))`;
}
