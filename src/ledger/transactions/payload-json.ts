/** Payloads of user transactions as JSON (docs/spec/transactions.md §2.5). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { JsonWriter } from '../../move/json/json-writer.ts';
import { Executable, type ExtraConfig } from '../../move/transactions/executable.ts';
import { type EncryptedPayload, TransactionPayload } from '../../move/transactions/payload.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';
import { RAW_PAYLOAD_TYPE } from '../../submission/decode/rendering.ts';
import {
  type CallPlaces,
  readCall,
  writeCall,
  writeEntryFunction,
  writeScriptPayload,
} from './call-json.ts';
import type { Decoding } from './decoding.ts';
import { jsonTo } from './json-parts.ts';

export function extraConfigOf(payload: CallPlaces | TransactionPayload): ExtraConfig | undefined {
  if ('typesAt' in payload) return undefined;
  if (payload.kind === 'payload') return payload.extraConfig;
  return payload.kind === 'encrypted' ? payload.payload.content.extraConfig : undefined;
}

const ENTRY_FUNCTION_VARIANT = TransactionPayload.kinds.indexOf('entryFunction');

/** Reads a payload. An entry function call, which most payloads are, is not decoded. @throws BcsError */
export function readPayload(reader: BcsReader): CallPlaces | TransactionPayload {
  if (reader.buffer[reader.offset] !== ENTRY_FUNCTION_VARIANT) {
    return TransactionPayload.read(reader);
  }
  reader.skip(1);
  return readCall(reader);
}

export function writePayload(
  out: JsonWriter,
  payload: CallPlaces | TransactionPayload,
  decoding: Decoding,
): MaybePromise<void> {
  if ('typesAt' in payload) return writeCall(out, payload, decoding);
  switch (payload.kind) {
    case 'entryFunction':
      return writeEntryFunction(out, payload, decoding);
    case 'script':
      return writeScriptPayload(out, payload, decoding);
    case 'multisig':
      return writeMultisig(out, payload.multisigAddress, payload.payload, decoding);
    case 'moduleBundle':
      out.units('{"type":"module_bundle_payload"}');
      return undefined;
    case 'payload': {
      const { executable, extraConfig } = payload;
      const { multisigAddress } = extraConfig;
      if (multisigAddress !== undefined) {
        return writeMultisig(out, multisigAddress, executable, decoding);
      }
      if (isRunnable(executable)) return writeRunnable(out, executable, decoding);
      writeRaw(out, TransactionPayload.encode(payload));
      return undefined;
    }
    case 'encrypted':
      return writeEncrypted(out, payload.payload, decoding);
  }
}

/** Payloads for which the reference has no form are shown as bytes. */
function writeRaw(out: JsonWriter, bytes: Buffer): void {
  jsonTo(out)`{"bcs":${bytes},"type":"${RAW_PAYLOAD_TYPE}"}`;
}

type Runnable = Extract<Executable, { kind: 'entryFunction' | 'script' }>;

function isRunnable(executable: Executable): executable is Runnable {
  return executable.kind === 'entryFunction' || executable.kind === 'script';
}

function writeRunnable(
  out: JsonWriter,
  executable: Runnable,
  decoding: Decoding,
): MaybePromise<void> {
  return executable.kind === 'entryFunction'
    ? writeEntryFunction(out, executable, decoding)
    : writeScriptPayload(out, executable, decoding);
}

/** @param executable `empty` or absent: the payload is stored on the chain */
function writeMultisig(
  out: JsonWriter,
  multisigAddress: Address,
  executable: Executable | undefined,
  decoding: Decoding,
): MaybePromise<void> {
  const isOnChain = executable === undefined || executable.kind === 'empty';
  out.units(`{"multisig_address":"${formatAddress(multisigAddress)}","transaction_payload":`);
  const written = isOnChain ? out.units('null') : writeExecutable(out, executable, decoding);
  return andThen(written, () => out.units(',"type":"multisig_payload"}'));
}

function writeExecutable(
  out: JsonWriter,
  executable: Executable,
  decoding: Decoding,
): MaybePromise<void> {
  if (isRunnable(executable)) return writeRunnable(out, executable, decoding);
  writeRaw(out, Executable.encode(executable));
  return undefined;
}

const ENCRYPTED_STATES = {
  encrypted: 'encrypted',
  failedDecryption: 'failed_decryption',
  decrypted: 'decrypted',
} as const;

function writeEncrypted(
  out: JsonWriter,
  payload: EncryptedPayload,
  decoding: Decoding,
): MaybePromise<void> {
  const { content, state } = payload;
  const json = jsonTo(out);
  json`{"payload_hash":${content.payloadHash},"ciphertext":${content.ciphertext},`;
  json`"encryption_epoch":"${content.encryptionEpoch}","claimed_entry_fun":${claimJson(content)}`;
  const tail = `,"encrypted_state":"${ENCRYPTED_STATES[state]}","type":"encrypted_transaction_payload"}`;
  if (state !== 'decrypted') {
    out.units(tail);
    return undefined;
  }
  out.units(',"decrypted_payload":');
  return andThen(
    writeDecrypted(out, payload, decoding),
    () => json`,"decryption_nonce":${payload.decryptionNonce}${tail}`,
  );
}

function claimJson({ claimedEntryFunction: claimed }: EncryptedPayload['content']): string {
  if (claimed === undefined) return 'null';
  const { module, function: name = null } = claimed;
  return JSON.stringify({ module: `${formatAddress(module.address)}::${module.name}`, name });
}

/** A script never becomes a multisig payload. */
function writeDecrypted(
  out: JsonWriter,
  { content, executable }: Extract<EncryptedPayload, { state: 'decrypted' }>,
  decoding: Decoding,
): MaybePromise<void> {
  const { multisigAddress } = content.extraConfig;
  return multisigAddress === undefined || executable.kind !== 'entryFunction'
    ? writeExecutable(out, executable, decoding)
    : writeMultisig(out, multisigAddress, executable, decoding);
}
