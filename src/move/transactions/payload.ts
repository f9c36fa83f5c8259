/**
 * Payloads of user transactions, encrypted ones included (docs/spec/ledger.md §3.4, docs/spec/encode.md §A5). Nothing
 * is decrypted here.
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import {
  address,
  byteString,
  type CodecValue,
  codec,
  fixedBytes,
  hash,
  option,
  soleVariant,
  structCodec,
  text,
  u64,
  variantNumber,
  variants,
} from '../bcs/codec.ts';
import { readSizedBytes } from '../bcs/fixed-bytes.ts';
import { ModuleId } from '../types/module-id.ts';
import { ENTRY_FUNCTION, Executable, ExtraConfig, MultisigPayload, SCRIPT } from './executable.ts';

const VERIFICATION_KEY_BYTES = 32;
const IDENTITY_BYTES = 32;
/** Three compressed points of the second group of BLS12-381. */
const GROUP_ELEMENTS_BYTES = 288;
const PADDED_KEY_BYTES = 16;
const SYMMETRIC_NONCE_BYTES = 12;
const SIGNATURE_BYTES = 64;
/** Size of the nonce that decryption reveals. */
const DECRYPTION_NONCE_BYTES = 16;

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

const content = structCodec({
  /** BCS of the ciphertext. */
  ciphertext: codec<Buffer>(readCiphertext, (writer, bytes) => writer.fixed(bytes)),
  extraConfig: ExtraConfig,
  payloadHash: hash,
  encryptionEpoch: u64,
  /** The entry function that the sender claims the ciphertext holds: its module, and its name where given. */
  claimedEntryFunction: option(structCodec({ module: ModuleId, function: option(text) })),
});

export const EncryptedPayload = variants(
  'EncryptedPayload',
  {
    encrypted: { content },
    failedDecryption: {
      content,
      evalProof: option(byteString),
      reason: variantNumber(DECRYPTION_FAILURE_REASONS, 'DecryptionFailureReason'),
    },
    decrypted: {
      content,
      evalProof: byteString,
      executable: Executable,
      decryptionNonce: fixedBytes(DECRYPTION_NONCE_BYTES, 'nonce'),
    },
  },
  'state',
);
export type EncryptedPayload = CodecValue<typeof EncryptedPayload>;

export const TransactionPayload = variants('TransactionPayload', {
  script: SCRIPT,
  /** Removed from the chain; only one number remains on the wire. */
  moduleBundle: { dummy: u64 },
  entryFunction: ENTRY_FUNCTION,
  multisig: {
    multisigAddress: address,
    /** If absent, the payload stored on chain is run. */
    payload: option(MultisigPayload),
  },
  /** The form with extra configuration: orderless transactions and others. */
  payload: {
    executable: soleVariant('TransactionPayloadInner', Executable),
    extraConfig: ExtraConfig,
  },
  encrypted: { payload: EncryptedPayload },
});
export type TransactionPayload = CodecValue<typeof TransactionPayload>;
