/** Tables of instructions: written by name, looked up by opcode. */
import { OPCODES } from '../../../move/modules/opcodes.ts';

export function byOpcode<T>(byName: Readonly<Record<string, T>>): readonly (T | undefined)[] {
  return OPCODES.map((info) => (info === undefined ? undefined : byName[info.name]));
}

export function isOneOf(names: readonly string[]): readonly boolean[] {
  return OPCODES.map((info) => info !== undefined && names.includes(info.name));
}
