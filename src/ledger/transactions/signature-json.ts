/** Who signed a transaction, as JSON (docs/spec/transactions.md §2.9). */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { setBits } from '../../move/bcs/bits.ts';
import { readSizedBytes } from '../../move/bcs/fixed-bytes.ts';
import { MultiEd25519PublicKey, MultiEd25519Signature } from '../../move/crypto/authenticator.ts';
import {
  AnyPublicKey,
  AnySignature,
  PUBLIC_KEY_BYTES,
  SIGNATURE_BYTES,
} from '../../move/crypto/public-key.ts';
import type { JsonWriter } from '../../move/json/json-writer.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import { listOf, quoted, quotedAddress, quotedHex } from './json-units.ts';

/** By the names of the readers' kinds. */
const KEY_TYPES = {
  ed25519: 'ed25519',
  secp256k1: 'secp256k1_ecdsa',
  secp256r1: 'secp256r1_ecdsa',
  webAuthn: 'web_authn',
  keyless: 'keyless',
  federatedKeyless: 'federated_keyless',
  slhDsa: 'slh_dsa__sha2_128s',
} as const;

const PUBLIC_KEY = Buffer.from('{"public_key":');
const SIGNATURE = Buffer.from(',"signature":');
const ED25519_END = Buffer.from(',"type":"ed25519_signature"}');

/** Reads a TransactionAuthenticator and writes it. @throws BcsError */
export function writeSignature(out: JsonWriter, reader: BcsReader): void {
  const variant = reader.variant(5, 'TransactionAuthenticator');
  if (variant !== 0) {
    out.units(signatureJson(variant, reader));
    return;
  }
  const { buffer } = reader;
  const { ed25519: keyBytes } = PUBLIC_KEY_BYTES;
  const { ed25519: signatureBytes } = SIGNATURE_BYTES;
  readSizedBytes(reader, keyBytes, 'ed25519 public key');
  out.part(PUBLIC_KEY);
  out.hex(buffer, reader.offset - keyBytes, reader.offset);
  readSizedBytes(reader, signatureBytes, 'ed25519 signature');
  out.part(SIGNATURE);
  out.hex(buffer, reader.offset - signatureBytes, reader.offset);
  out.part(ED25519_END);
}

/** All but the one that most have. */
function signatureJson(variant: number, reader: BcsReader): string {
  switch (variant) {
    case 1:
      return `{${multiEd25519Members(reader)},"type":"multi_ed25519_signature"}`;
    case 2:
      return `{${signersMembers(reader)},"type":"multi_agent_signature"}`;
    case 3: {
      const signers = signersMembers(reader);
      const payer = quotedAddress(reader.address());
      const signer = accountJson(reader);
      return `{${signers},"fee_payer_address":${payer},"fee_payer_signer":${signer},"type":"fee_payer_signature"}`;
    }
    default: {
      const [members] = accountMembers(reader);
      return `{${members}"type":"single_sender"}`;
    }
  }
}

function signersMembers(reader: BcsReader): string {
  const sender = accountJson(reader);
  const addresses = reader.vector(ADDRESS_BYTES, (inner) => quotedAddress(inner.address()));
  const signers = reader.vector(1, accountJson);
  return (
    `"sender":${sender},"secondary_signer_addresses":[${addresses.join(',')}],` +
    `"secondary_signers":[${signers.join(',')}]`
  );
}

function accountJson(reader: BcsReader): string {
  const [members, type] = accountMembers(reader);
  return `{${members}"type":"${type}"}`;
}

/** The members, each with a comma after it, and the type of an AccountAuthenticator. */
function accountMembers(reader: BcsReader): readonly [members: string, type: string] {
  switch (reader.variant(6, 'AccountAuthenticator')) {
    case 0:
      return [`${ed25519Members(reader)},`, 'ed25519_signature'];
    case 1:
      return [`${multiEd25519Members(reader)},`, 'multi_ed25519_signature'];
    case 2: {
      const key = publicKeyJson(reader);
      return [
        `"public_key":${key},"signature":${anySignatureJson(reader)},`,
        'single_key_signature',
      ];
    }
    case 3:
      return [`${multiKeyMembers(reader)},`, 'multi_key_signature'];
    case 4:
      return ['', 'no_account_signature'];
    default:
      return [`${abstractMembers(reader)},`, 'abstract_signature'];
  }
}

function ed25519Members(reader: BcsReader): string {
  const key = readSizedBytes(reader, PUBLIC_KEY_BYTES.ed25519, 'ed25519 public key');
  const signature = readSizedBytes(reader, SIGNATURE_BYTES.ed25519, 'ed25519 signature');
  return `"public_key":${quotedHex(key)},"signature":${quotedHex(signature)}`;
}

function multiEd25519Members(reader: BcsReader): string {
  const { keys, threshold } = MultiEd25519PublicKey.read(reader);
  const { signatures, bitmap } = MultiEd25519Signature.read(reader);
  return (
    `"public_keys":${listOf(keys, quotedHex)},"signatures":${listOf(signatures, quotedHex)},` +
    `"threshold":${threshold},"bitmap":${quotedHex(bitmap)}`
  );
}

function multiKeyMembers(reader: BcsReader): string {
  const keys = reader.vector(1, publicKeyJson);
  const required = reader.u8();
  const signatures = reader.vector(1, anySignatureJson);
  const signers = setBits(reader.bytes());
  const indexed: string[] = [];
  // A surplus of either is not shown.
  for (let at = 0; at < signatures.length && at < signers.length; at += 1) {
    indexed.push(`{"index":${signers[at]},"signature":${signatures[at]}}`);
  }
  return (
    `"public_keys":[${keys.join(',')}],"signatures":[${indexed.join(',')}],` +
    `"signatures_required":${required}`
  );
}

function abstractMembers(reader: BcsReader): string {
  const address = reader.address();
  const module = reader.string();
  // Here alone an address is written without prefix and in full.
  const info = quoted(`${address}::${module}::${reader.string()}`);
  const start = reader.offset;
  const variant = reader.variant(2, 'AbstractAuthenticationData');
  const partCount = variant === 0 ? 2 : 3;
  for (let part = 0; part < partCount; part += 1) reader.bytes();
  return `"function_info":${info},"auth_data":${quotedHex(reader.buffer.subarray(start, reader.offset))}`;
}

function publicKeyJson(reader: BcsReader): string {
  const start = reader.offset;
  const key = AnyPublicKey.read(reader);
  const value = 'bytes' in key ? key.bytes : afterVariant(reader, start);
  return `{"value":${quotedHex(value)},"type":"${KEY_TYPES[key.kind]}"}`;
}

function anySignatureJson(reader: BcsReader): string {
  const start = reader.offset;
  const signature = AnySignature.read(reader);
  const value = 'bytes' in signature ? signature.bytes : afterVariant(reader, start);
  return `{"value":${quotedHex(value)},"type":"${KEY_TYPES[signature.kind]}"}`;
}

/** The bytes of a struct behind a variant index of one byte. */
function afterVariant({ buffer, offset }: BcsReader, start: number): Buffer {
  return buffer.subarray(start + 1, offset);
}
