/** Payloads of user transactions as JSON (docs/spec/transactions.md §2.5). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { Executable, type ExtraConfig } from '../../move/transactions/executable.ts';
import { type EncryptedPayload, TransactionPayload } from '../../move/transactions/payload.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';
import { RAW_PAYLOAD_TYPE } from '../../submission/decode/rendering.ts';
import { entryFunctionJson, scriptPayloadJson } from './call-json.ts';
import type { Decoding } from './decoding.ts';
import { quoted, quotedAddress, quotedHex } from './json-units.ts';

export function extraConfigOf(payload: TransactionPayload): ExtraConfig | undefined {
  if (payload.kind === 'payload') return payload.extraConfig;
  return payload.kind === 'encrypted' ? payload.payload.content.extraConfig : undefined;
}

export function payloadJson(payload: TransactionPayload, decoding: Decoding): MaybePromise<string> {
  switch (payload.kind) {
    case 'entryFunction':
      return entryFunctionJson(payload, decoding);
    case 'script':
      return scriptPayloadJson(payload, decoding);
    case 'multisig':
      return multisigJson(payload.multisigAddress, payload.payload, decoding);
    case 'moduleBundle':
      return '{"type":"module_bundle_payload"}';
    case 'payload': {
      const { executable, extraConfig } = payload;
      const { multisigAddress } = extraConfig;
      if (multisigAddress !== undefined) return multisigJson(multisigAddress, executable, decoding);
      return runnableJson(executable, decoding) ?? rawJson(TransactionPayload.encode(payload));
    }
    case 'encrypted':
      return encryptedJson(payload.payload, decoding);
  }
}

/** Payloads without a form of the reference are shown as their bytes. */
function rawJson(bytes: Buffer): string {
  return `{"bcs":${quotedHex(bytes)},"type":"${RAW_PAYLOAD_TYPE}"}`;
}

function runnableJson(
  executable: Executable,
  decoding: Decoding,
): MaybePromise<string> | undefined {
  if (executable.kind === 'entryFunction') return entryFunctionJson(executable, decoding);
  return executable.kind === 'script' ? scriptPayloadJson(executable, decoding) : undefined;
}

/** @param executable `empty` or absent: the payload is stored on the chain */
function multisigJson(
  multisigAddress: Address,
  executable: Executable | undefined,
  decoding: Decoding,
): MaybePromise<string> {
  const isOnChain = executable === undefined || executable.kind === 'empty';
  const inner = isOnChain ? 'null' : executableJson(executable, decoding);
  return andThen(
    inner,
    (shown) =>
      `{"multisig_address":${quotedAddress(multisigAddress)},"transaction_payload":${shown},` +
      '"type":"multisig_payload"}',
  );
}

function executableJson(executable: Executable, decoding: Decoding): MaybePromise<string> {
  return runnableJson(executable, decoding) ?? rawJson(Executable.encode(executable));
}

const ENCRYPTED_STATES = {
  encrypted: 'encrypted',
  failedDecryption: 'failed_decryption',
  decrypted: 'decrypted',
} as const;

function encryptedJson(payload: EncryptedPayload, decoding: Decoding): MaybePromise<string> {
  const { content, state } = payload;
  const head =
    `{"payload_hash":${quotedHex(content.payloadHash)},"ciphertext":${quotedHex(content.ciphertext)},` +
    `"encryption_epoch":"${content.encryptionEpoch}","claimed_entry_fun":${claimJson(content)},`;
  const tail = `"encrypted_state":"${ENCRYPTED_STATES[state]}","type":"encrypted_transaction_payload"}`;
  if (state !== 'decrypted') return head + tail;
  return andThen(
    decryptedJson(payload, decoding),
    (shown) =>
      `${head}"decrypted_payload":${shown},"decryption_nonce":${quotedHex(payload.decryptionNonce)},${tail}`,
  );
}

function claimJson({ claimedEntryFunction }: EncryptedPayload['content']): string {
  if (claimedEntryFunction === undefined) return 'null';
  const { module, function: name } = claimedEntryFunction;
  const id = quoted(`${formatAddress(module.address)}::${module.name}`);
  return `{"module":${id},"name":${name === undefined ? 'null' : quoted(name)}}`;
}

/** A script never becomes a multisig payload. */
function decryptedJson(
  { content, executable }: Extract<EncryptedPayload, { state: 'decrypted' }>,
  decoding: Decoding,
): MaybePromise<string> {
  const { multisigAddress } = content.extraConfig;
  return multisigAddress === undefined || executable.kind !== 'entryFunction'
    ? executableJson(executable, decoding)
    : multisigJson(multisigAddress, executable, decoding);
}
