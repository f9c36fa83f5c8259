/**
 * Payloads of user transactions, encrypted ones included (docs/spec/ledger.md §3.4, docs/spec/encode.md §A5). Nothing
 * is decrypted here.
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readHash, readSizedBytes, writeFixedBytes, writeHash } from '../bcs/fixed-bytes.ts';
import type { Address } from '../types/address.ts';
import { type ModuleId, readModuleId, writeModuleId } from '../types/module-id.ts';
import {
  type EntryFunction,
  type Executable,
  type ExtraConfig,
  readEntryFunction,
  readExecutable,
  readExtraConfig,
  readScriptCall,
  type Script,
  writeEntryFunction,
  writeExecutable,
  writeExtraConfig,
  writeScriptCall,
} from './executable.ts';

export type TransactionPayload =
  | Script
  | EntryFunction
  /** Removed from the chain; one number remains of it on the wire. */
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

/** By their variants. */
export const PAYLOAD_KINDS = [
  'script',
  'moduleBundle',
  'entryFunction',
  'multisig',
  'payload',
  'encrypted',
] as const;

export function readTransactionPayload(reader: BcsReader): TransactionPayload {
  const kind = PAYLOAD_KINDS[reader.variant(PAYLOAD_KINDS.length, 'TransactionPayload')]!;
  switch (kind) {
    case 'script':
      return readScriptCall(reader);
    case 'moduleBundle':
      return { kind, dummy: reader.u64() };
    case 'entryFunction':
      return readEntryFunction(reader);
    case 'multisig': {
      const multisigAddress = reader.address();
      return { kind, multisigAddress, payload: reader.option(readMultisigPayload) };
    }
    case 'payload': {
      reader.variant(1, 'TransactionPayloadInner');
      const executable = readExecutable(reader);
      return { kind, executable, extraConfig: readExtraConfig(reader) };
    }
    case 'encrypted':
      return { kind, payload: readEncryptedPayload(reader) };
  }
}

function readMultisigPayload(reader: BcsReader): EntryFunction | Script {
  const variant = reader.variant(2, 'MultisigTransactionPayload');
  return variant === 0 ? readEntryFunction(reader) : readScriptCall(reader);
}

export function writeTransactionPayload(writer: BcsWriter, payload: TransactionPayload): void {
  writer.uleb32(PAYLOAD_KINDS.indexOf(payload.kind));
  switch (payload.kind) {
    case 'script':
      writeScriptCall(writer, payload);
      return;
    case 'moduleBundle':
      writer.u64(payload.dummy);
      return;
    case 'entryFunction':
      writeEntryFunction(writer, payload);
      return;
    case 'multisig':
      writer.address(payload.multisigAddress).option(payload.payload, writeMultisigPayload);
      return;
    case 'payload':
      writer.uleb32(0);
      writeExecutable(writer, payload.executable);
      writeExtraConfig(writer, payload.extraConfig);
      return;
    case 'encrypted':
      writeEncryptedPayload(writer, payload.payload);
  }
}

function writeMultisigPayload(writer: BcsWriter, payload: EntryFunction | Script): void {
  writer.uleb32(payload.kind === 'entryFunction' ? 0 : 1);
  if (payload.kind === 'entryFunction') writeEntryFunction(writer, payload);
  else writeScriptCall(writer, payload);
}

const VERIFICATION_KEY_BYTES = 32;
const IDENTITY_BYTES = 32;
/** Three compressed points of the second group of BLS12-381. */
const GROUP_ELEMENTS_BYTES = 288;
const PADDED_KEY_BYTES = 16;
const SYMMETRIC_NONCE_BYTES = 12;
const SIGNATURE_BYTES = 64;
/** Size of the nonce that decryption reveals. */
const DECRYPTION_NONCE_BYTES = 16;

/** The entry function that the sender claims the ciphertext holds: its module, and its name where given. */
interface ClaimedEntryFunction {
  readonly module: ModuleId;
  readonly function: string | undefined;
}

/** Common to all states of an encrypted payload. */
interface EncryptedContent {
  /** BCS of the ciphertext. */
  readonly ciphertext: Buffer;
  readonly extraConfig: ExtraConfig;
  /** 32 bytes. */
  readonly payloadHash: Buffer;
  readonly encryptionEpoch: bigint;
  readonly claimedEntryFunction: ClaimedEntryFunction | undefined;
}

export type EncryptedPayload =
  | { readonly state: 'encrypted'; readonly content: EncryptedContent }
  | {
      readonly state: 'failedDecryption';
      readonly content: EncryptedContent;
      readonly evalProof: Buffer | undefined;
      /** 0 to 9. */
      readonly reason: number;
    }
  | {
      readonly state: 'decrypted';
      readonly content: EncryptedContent;
      readonly evalProof: Buffer;
      readonly executable: Executable;
      /** 16 bytes. */
      readonly decryptionNonce: Buffer;
    };

const STATES = ['encrypted', 'failedDecryption', 'decrypted'] as const;
const DECRYPTION_FAILURE_REASONS = 10;

/** Reads the ciphertext of a batch encryption: its BCS, the sizes of whose parts are checked. @throws BcsError */
function readCiphertext(reader: BcsReader): Buffer {
  const start = reader.offset;
  readSizedBytes(reader, VERIFICATION_KEY_BYTES, 'verification key');
  readSizedBytes(reader, IDENTITY_BYTES, 'identity');
  readSizedBytes(reader, GROUP_ELEMENTS_BYTES, 'group elements');
  reader.fixed(PADDED_KEY_BYTES + SYMMETRIC_NONCE_BYTES);
  // The body, then the associated data.
  reader.bytes();
  reader.bytes();
  reader.fixed(SIGNATURE_BYTES);
  return reader.buffer.subarray(start, reader.offset);
}

function readContent(reader: BcsReader): EncryptedContent {
  return {
    ciphertext: readCiphertext(reader),
    extraConfig: readExtraConfig(reader),
    payloadHash: readHash(reader),
    encryptionEpoch: reader.u64(),
    claimedEntryFunction: reader.option((inner) => {
      const module = readModuleId(inner);
      return { module, function: inner.option((name) => name.string()) };
    }),
  };
}

function writeContent(writer: BcsWriter, content: EncryptedContent): void {
  writer.fixed(content.ciphertext);
  writeExtraConfig(writer, content.extraConfig);
  writeHash(writer, content.payloadHash);
  writer.u64(content.encryptionEpoch);
  writer.option(content.claimedEntryFunction, (inner, claimed) => {
    writeModuleId(inner, claimed.module);
    inner.option(claimed.function, (name, text) => name.string(text));
  });
}

export function readEncryptedPayload(reader: BcsReader): EncryptedPayload {
  const state = STATES[reader.variant(STATES.length, 'EncryptedPayload')]!;
  const content = readContent(reader);
  if (state === 'encrypted') return { state, content };
  if (state === 'failedDecryption') {
    const evalProof = reader.option((inner) => inner.bytes());
    const reason = reader.variant(DECRYPTION_FAILURE_REASONS, 'DecryptionFailureReason');
    return { state, content, evalProof, reason };
  }
  const evalProof = reader.bytes();
  const executable = readExecutable(reader);
  const decryptionNonce = reader.fixed(DECRYPTION_NONCE_BYTES);
  return { state, content, evalProof, executable, decryptionNonce };
}

export function writeEncryptedPayload(writer: BcsWriter, payload: EncryptedPayload): void {
  writer.uleb32(STATES.indexOf(payload.state));
  writeContent(writer, payload.content);
  if (payload.state === 'failedDecryption') {
    writer.option(payload.evalProof, (inner, proof) => inner.bytes(proof));
    if (payload.reason >= DECRYPTION_FAILURE_REASONS) {
      throw new RangeError(`unknown reason ${payload.reason} of a failed decryption`);
    }
    writer.uleb32(payload.reason);
  } else if (payload.state === 'decrypted') {
    writer.bytes(payload.evalProof);
    writeExecutable(writer, payload.executable);
    writeFixedBytes(writer, payload.decryptionNonce, DECRYPTION_NONCE_BYTES, 'nonce');
  }
}
