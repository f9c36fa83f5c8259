/** The signatures of a transaction as JSON (docs/spec/transactions.md §2.9). */
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
import { ADDRESS_BYTES, formatAddress } from '../../move/types/address.ts';
import { jsonTo, writeList } from './json-parts.ts';

/** Types in JSON by the readers' kinds. */
const KEY_TYPES = {
  ed25519: 'ed25519',
  secp256k1: 'secp256k1_ecdsa',
  secp256r1: 'secp256r1_ecdsa',
  webAuthn: 'web_authn',
  keyless: 'keyless',
  federatedKeyless: 'federated_keyless',
  slhDsa: 'slh_dsa__sha2_128s',
} as const;

const PUBLIC_KEY = Buffer.from('"public_key":');
const SIGNATURE = Buffer.from(',"signature":');
const OPEN = Buffer.from('{');
/** The end of a signature, by variant. */
const ENDS = ['ed25519', 'multi_ed25519', 'multi_agent', 'fee_payer'].map((type) =>
  Buffer.from(`,"type":"${type}_signature"}`),
);

/** Reads a TransactionAuthenticator and writes it. @throws BcsError */
export function writeSignature(out: JsonWriter, reader: BcsReader): void {
  const variant = reader.variant(5, 'TransactionAuthenticator');
  out.part(OPEN);
  switch (variant) {
    case 0:
      writeEd25519(out, reader);
      break;
    case 1:
      writeMultiEd25519(out, reader);
      break;
    case 2:
      writeSigners(out, reader);
      break;
    case 3:
      writeSigners(out, reader);
      out.units(`,"fee_payer_address":"${formatAddress(reader.address())}","fee_payer_signer":`);
      writeAccount(out, reader);
      break;
    default:
      writeAccountMembers(out, reader);
      out.units('"type":"single_sender"}');
      return;
  }
  out.part(ENDS[variant]!);
}

function writeSigners(out: JsonWriter, reader: BcsReader): void {
  out.units('"sender":');
  writeAccount(out, reader);
  out.units(',"secondary_signer_addresses":');
  const addresses = reader.vector(ADDRESS_BYTES, (inner) => inner.address());
  writeList(out, addresses, (address) => out.units(`"${formatAddress(address)}"`));
  let separator = ',"secondary_signers":[';
  const { length } = reader.vector(1, (inner) => {
    out.units(separator);
    separator = ',';
    writeAccount(out, inner);
  });
  out.units(length === 0 ? `${separator}]` : ']');
}

function writeAccount(out: JsonWriter, reader: BcsReader): void {
  out.part(OPEN);
  out.units(`"type":"${writeAccountMembers(out, reader)}"}`);
}

/** Writes the members of an AccountAuthenticator, each with a comma after it. @returns its type */
function writeAccountMembers(out: JsonWriter, reader: BcsReader): string {
  const [type, write] = ACCOUNTS[reader.variant(ACCOUNTS.length, 'AccountAuthenticator')]!;
  write?.(out, reader);
  if (write !== undefined) out.units(',');
  return type;
}

function writeEd25519(out: JsonWriter, reader: BcsReader): void {
  out.part(PUBLIC_KEY);
  out.hex(readSizedBytes(reader, PUBLIC_KEY_BYTES.ed25519, 'ed25519 public key'));
  out.part(SIGNATURE);
  out.hex(readSizedBytes(reader, SIGNATURE_BYTES.ed25519, 'ed25519 signature'));
}

function writeMultiEd25519(out: JsonWriter, reader: BcsReader): void {
  const { keys, threshold } = MultiEd25519PublicKey.read(reader);
  const { signatures, bitmap } = MultiEd25519Signature.read(reader);
  const list = (all: readonly Buffer[]) => () => writeList(out, all, (bytes) => out.hex(bytes));
  const json = jsonTo(out);
  json`"public_keys":${list(keys)},"signatures":${list(signatures)},`;
  json`"threshold":${threshold},"bitmap":${bitmap}`;
}

function writeSingleKey(out: JsonWriter, reader: BcsReader): void {
  out.part(PUBLIC_KEY);
  writeTaggedBytes(out, readKey(reader));
  out.part(SIGNATURE);
  writeTaggedBytes(out, readSignature(reader));
}

function writeMultiKey(out: JsonWriter, reader: BcsReader): void {
  out.units('"public_keys":');
  writeList(out, reader.vector(1, readKey), (key) => writeTaggedBytes(out, key));
  const required = reader.u8();
  const signatures = reader.vector(1, readSignature);
  const signers = setBits(reader.bytes());
  out.units(',"signatures":');
  // Surplus signatures or signers are not shown.
  writeList(out, signatures.slice(0, signers.length), (signature, at) => {
    jsonTo(out)`{"index":${signers[at]},"signature":${() => writeTaggedBytes(out, signature)}}`;
  });
  out.units(`,"signatures_required":${required}`);
}

function writeAbstract(out: JsonWriter, reader: BcsReader): void {
  const address = reader.address();
  const module = reader.string();
  // Only here, an address is written in full and without prefix.
  const info = JSON.stringify(`${address}::${module}::${reader.string()}`);
  const start = reader.offset;
  const variant = reader.variant(2, 'AbstractAuthenticationData');
  const partCount = variant === 0 ? 2 : 3;
  for (let part = 0; part < partCount; part += 1) reader.bytes();
  jsonTo(out)`"function_info":${info},"auth_data":${reader.buffer.subarray(start, reader.offset)}`;
}

/** The types of authenticators, and the functions that write their members, by variant. */
const ACCOUNTS: readonly (readonly [
  type: string,
  write?: (out: JsonWriter, reader: BcsReader) => void,
])[] = [
  ['ed25519_signature', writeEd25519],
  ['multi_ed25519_signature', writeMultiEd25519],
  ['single_key_signature', writeSingleKey],
  ['multi_key_signature', writeMultiKey],
  ['no_account_signature'],
  ['abstract_signature', writeAbstract],
];

interface TaggedBytes {
  readonly value: Buffer;
  readonly kind: keyof typeof KEY_TYPES;
}

const readKey = (reader: BcsReader): TaggedBytes => readTaggedBytes(reader, AnyPublicKey.read);
const readSignature = (reader: BcsReader): TaggedBytes =>
  readTaggedBytes(reader, AnySignature.read);

function writeTaggedBytes(out: JsonWriter, { value, kind }: TaggedBytes): void {
  jsonTo(out)`{"value":${value},"type":"${KEY_TYPES[kind]}"}`;
}

/** The value of a struct is its bytes after the variant index of one byte. */
function readTaggedBytes(
  reader: BcsReader,
  read: (reader: BcsReader) => AnyPublicKey | AnySignature,
): TaggedBytes {
  const start = reader.offset;
  const found = read(reader);
  const value = 'bytes' in found ? found.bytes : reader.buffer.subarray(start + 1, reader.offset);
  return { value, kind: found.kind };
}
