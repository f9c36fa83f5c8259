/** Payloads of user transactions (docs/spec/ledger.md §3.4, docs/spec/encode.md §A5). */

import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import type { Address } from '../types/address.ts';
import {
  type EncryptedPayload,
  readEncryptedPayload,
  writeEncryptedPayload,
} from './encrypted-payload.ts';
import { type ExtraConfig, readExtraConfig, writeExtraConfig } from './extra-config.ts';
import {
  type EntryFunction,
  type Executable,
  readEntryFunction,
  readExecutable,
  readScriptCall,
  type Script,
  writeEntryFunction,
  writeExecutable,
  writeScriptCall,
} from './transaction-executable.ts';

export type TransactionPayload =
  | Script
  | EntryFunction
  /** Removed from the chain; what is left of it on the wire is one number. */
  | { readonly kind: 'moduleBundle'; readonly dummy: bigint }
  | {
      readonly kind: 'multisig';
      readonly multisigAddress: Address;
      /** Absent: the payload stored on chain is run. */
      readonly payload: EntryFunction | Script | undefined;
    }
  /** The form with extra configuration: orderless transactions and others. */
  | {
      readonly kind: 'payload';
      readonly executable: Executable;
      readonly extraConfig: ExtraConfig;
    }
  | { readonly kind: 'encrypted'; readonly payload: EncryptedPayload };

/** Reads a payload. @throws BcsError */
export function readTransactionPayload(reader: BcsReader): TransactionPayload {
  switch (reader.variant(6, 'TransactionPayload')) {
    case 0:
      return readScriptCall(reader);
    case 1:
      return { kind: 'moduleBundle', dummy: reader.u64() };
    case 2:
      return readEntryFunction(reader);
    case 3: {
      const multisigAddress = reader.address();
      return { kind: 'multisig', multisigAddress, payload: reader.option(readMultisigPayload) };
    }
    case 4: {
      reader.variant(1, 'TransactionPayloadInner');
      const executable = readExecutable(reader);
      return { kind: 'payload', executable, extraConfig: readExtraConfig(reader) };
    }
    default:
      return { kind: 'encrypted', payload: readEncryptedPayload(reader) };
  }
}

function readMultisigPayload(reader: BcsReader): EntryFunction | Script {
  const variant = reader.variant(2, 'MultisigTransactionPayload');
  return variant === 0 ? readEntryFunction(reader) : readScriptCall(reader);
}

/** Writes a payload. */
export function writeTransactionPayload(writer: BcsWriter, payload: TransactionPayload): void {
  switch (payload.kind) {
    case 'script':
      writer.uleb32(0);
      writeScriptCall(writer, payload);
      return;
    case 'moduleBundle':
      writer.uleb32(1).u64(payload.dummy);
      return;
    case 'entryFunction':
      writer.uleb32(2);
      writeEntryFunction(writer, payload);
      return;
    case 'multisig':
      writer.uleb32(3).address(payload.multisigAddress);
      writer.option(payload.payload, writeMultisigPayload);
      return;
    case 'payload':
      writer.uleb32(4).uleb32(0);
      writeExecutable(writer, payload.executable);
      writeExtraConfig(writer, payload.extraConfig);
      return;
    case 'encrypted':
      writer.uleb32(5);
      writeEncryptedPayload(writer, payload.payload);
  }
}

function writeMultisigPayload(writer: BcsWriter, payload: EntryFunction | Script): void {
  if (payload.kind === 'entryFunction') {
    writer.uleb32(0);
    writeEntryFunction(writer, payload);
  } else {
    writer.uleb32(1);
    writeScriptCall(writer, payload);
  }
}
