/**
 * What a user transaction runs: an entry function or a script (docs/spec/ledger.md §3.4, docs/spec/encode.md
 * §A5).
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import type { ModuleId } from '../modules/compiled.ts';
import { readModuleId, writeModuleId } from '../types/module-id.ts';
import { readTypeTag, type TypeTag, writeTypeTag } from '../types/type-tag.ts';
import {
  readTransactionArgument,
  type TransactionArgument,
  writeTransactionArgument,
} from './transaction-argument.ts';

export interface EntryFunction {
  readonly kind: 'entryFunction';
  readonly module: ModuleId;
  readonly function: string;
  readonly typeArguments: readonly TypeTag[];
  /** The BCS of each argument. */
  readonly args: readonly Buffer[];
}

export interface Script {
  readonly kind: 'script';
  readonly code: Buffer;
  readonly typeArguments: readonly TypeTag[];
  readonly args: readonly TransactionArgument[];
}

/** What an orderless or encrypted payload runs; `encrypted` has no content. */
export type Executable =
  | EntryFunction
  | Script
  | { readonly kind: 'empty' }
  | { readonly kind: 'encrypted' };

/** Reads an entry function call. @throws BcsError */
export function readEntryFunction(reader: BcsReader): EntryFunction {
  const module = readModuleId(reader);
  const name = reader.string();
  const typeArguments = reader.vector(1, (inner) => readTypeTag(inner));
  const args = reader.vector(1, (inner) => inner.bytes());
  return { kind: 'entryFunction', module, function: name, typeArguments, args };
}

/** Writes an entry function call. */
export function writeEntryFunction(writer: BcsWriter, call: EntryFunction): void {
  writeModuleId(writer, call.module);
  writer.string(call.function);
  writer.vector(call.typeArguments, (inner, tag) => writeTypeTag(inner, tag));
  writer.vector(call.args, (inner, argument) => inner.bytes(argument));
}

/** Reads a script. @throws BcsError */
export function readScriptCall(reader: BcsReader): Script {
  const code = reader.bytes();
  const typeArguments = reader.vector(1, (inner) => readTypeTag(inner));
  const args = reader.vector(2, readTransactionArgument);
  return { kind: 'script', code, typeArguments, args };
}

/** Writes a script. */
export function writeScriptCall(writer: BcsWriter, script: Script): void {
  writer.bytes(script.code);
  writer.vector(script.typeArguments, (inner, tag) => writeTypeTag(inner, tag));
  writer.vector(script.args, writeTransactionArgument);
}

/** Reads an executable. Its indices are not those of the payload. @throws BcsError */
export function readExecutable(reader: BcsReader): Executable {
  switch (reader.variant(4, 'TransactionExecutable')) {
    case 0:
      return readScriptCall(reader);
    case 1:
      return readEntryFunction(reader);
    case 2:
      return { kind: 'empty' };
    default:
      return { kind: 'encrypted' };
  }
}

/** Writes an executable. */
export function writeExecutable(writer: BcsWriter, executable: Executable): void {
  switch (executable.kind) {
    case 'script':
      writer.uleb32(0);
      writeScriptCall(writer, executable);
      return;
    case 'entryFunction':
      writer.uleb32(1);
      writeEntryFunction(writer, executable);
      return;
    case 'empty':
      writer.uleb32(2);
      return;
    case 'encrypted':
      writer.uleb32(3);
  }
}
