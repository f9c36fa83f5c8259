/** Facts that only a module's bytecode has: instructions, constants, and which functions call which. */
import { functionNameOfHandle } from '../../../src/move/modules/compiled.ts';
import { constantText, ModuleNames } from '../../../src/move/modules/disassembly.ts';
import { readModule } from '../../../src/move/modules/read.ts';
import { readHexText } from '../encoding/signing-message.ts';

export interface FunctionCode {
  readonly name: string;
  /** `0: MoveLoc 1`; undefined for native functions. */
  readonly instructions: readonly string[] | undefined;
  /** Functions that it calls: those of this module by name, others by their full name. */
  readonly calls: readonly string[];
  readonly calledBy: readonly string[];
}

interface ModuleCode {
  readonly bytecodeVersion: number;
  readonly functions: readonly FunctionCode[];
  readonly constants: readonly { readonly type: string; readonly value: string }[];
}

/** Decodes the bytecode. @throws MoveError if the bytes do not load */
export function readModuleCode(hex: string): ModuleCode {
  const module = readModule(readHexText(hex));
  const names = new ModuleNames(module);
  const own = module.functionDefinitions.map(({ handle, code }) => ({
    name: functionNameOfHandle(module, handle),
    instructions: code?.code.map((one, at) => `${at}: ${names.instruction(one)}`),
    calls: [...new Set((code?.code ?? []).flatMap((one) => names.called(one) ?? []))],
  }));
  const functions = own.map((one) => ({
    ...one,
    calledBy: own.filter(({ calls }) => calls.includes(one.name)).map(({ name }) => name),
  }));
  const constants = module.constants.map(({ type, data }) => ({
    type: names.token(type),
    value: constantText(type, data),
  }));
  return { bytecodeVersion: module.version, functions, constants };
}
