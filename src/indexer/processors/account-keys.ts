/** The keys of accounts that have several, or other keys than the one that their address was derived from. */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { setBits } from '../../move/bcs/bits.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { sha3 } from '../../move/crypto/hash.ts';
import { AnyPublicKey } from '../../move/crypto/public-key.ts';
import { tryParse } from '../../move/errors.ts';
import type { RowSink } from '../rows/row-buffer.ts';
import { type Signer, signersOf, type UsedKey } from './signers.ts';
import { type Fields, fullAddress, type TransactionFacts } from './transaction-facts.ts';

const ACCOUNT = '0x1::account::Account';
/** The event of a rotation that both keys have signed. */
const ROTATION = '0x1::account::KeyRotation';
const ROTATION_TO_KEY = '0x1::account::KeyRotationToPublicKey';

/** The last byte of an authentication key's hash input, by type of signature. */
const SCHEMES: Readonly<Record<string, number>> = {
  ed25519_signature: 0,
  multi_ed25519_signature: 1,
  single_key_signature: 2,
  multi_key_signature: 3,
};
const TYPES = Object.keys(SCHEMES);
/** The kinds of keys, in the order of their BCS variants. The bytes of the first three are preceded by their length. */
const KEY_TYPES = ['ed25519', 'secp256k1_ecdsa', 'secp256r1_ecdsa', 'keyless', 'federated_keyless'];
const SIZED_KEYS = 3;
const ED25519_BYTES = 32;

export function accountKeys(facts: TransactionFacts, rows: RowSink): void {
  const [sender] = signersOf(facts);
  if (sender !== undefined) {
    const used = authenticationKey(sender);
    if (used !== undefined) putSenderKeys(facts, sender, used, rows);
    putNewKey(facts, sender.address, used?.authKey, rows);
  }
  for (const { type, data } of facts.events) {
    if (type === ROTATION_TO_KEY) putRotation(facts, data, rows);
  }
}

/** Puts the keys of a sender that has several, or other keys than at first. */
function putSenderKeys(
  facts: TransactionFacts,
  { address, type, keys }: Signer,
  key: AccountKey,
  rows: RowSink,
): void {
  const hasMultipleKeys = type.startsWith('multi_');
  if (key.authKey === address && !hasMultipleKeys) return;
  rows.put('auth_key_account_addresses', {
    auth_key: key.authKey,
    account_address: address,
    is_auth_key_used: true,
    last_transaction_version: facts.version,
  });
  putKeys(facts, key, type, keys, rows);
}

/** Puts the key of a sender if it is no longer the one that signed the transaction. */
function putNewKey(
  facts: TransactionFacts,
  address: string,
  used: string | undefined,
  rows: RowSink,
): void {
  const account = facts.resource(address, ACCOUNT);
  const authKey = account?.authentication_key as string | undefined;
  if (authKey === undefined || used === undefined || authKey === used) return;
  const isProven = facts.events.some(
    ({ type, data }) => type === ROTATION && fullAddress(data.account) === address,
  );
  rows.put('auth_key_account_addresses', {
    auth_key: authKey,
    account_address: address,
    is_auth_key_used: isProven,
    last_transaction_version: facts.version,
  });
}

interface AccountKey {
  readonly authKey: string;
  /** The hashed bytes, without the scheme. */
  readonly publicKey: string;
}

function putKeys(
  { version }: TransactionFacts,
  { authKey, publicKey }: AccountKey,
  type: string,
  keys: readonly UsedKey[],
  rows: RowSink,
): void {
  for (const { publicKey: one, keyType, signature } of keys) {
    rows.put('public_key_auth_keys', {
      ...{ public_key: one, public_key_type: keyType, auth_key: authKey },
      // Null if the key alone gives it: clients take any value to mean one of several keys.
      account_public_key: type.startsWith('multi_') ? publicKey : null,
      signature_type: type,
      last_transaction_version: version,
      // The flag is only set: a key that was used once stays used.
      ...(signature !== undefined && { is_public_key_used: true }),
    });
  }
}

function authenticationKey({ type, threshold, keys }: Signer): AccountKey | undefined {
  const scheme = SCHEMES[type];
  if (scheme === undefined) return undefined;
  const bytes = accountKeyBytes(scheme, threshold, keys);
  const authKey = formatHex(sha3(Buffer.concat([bytes, Buffer.of(scheme)])));
  return { authKey, publicKey: formatHex(bytes) };
}

function accountKeyBytes(scheme: number, threshold: number, keys: readonly UsedKey[]): Buffer {
  const bare = keys.map(({ publicKey }) => Buffer.from(publicKey.slice(2), 'hex'));
  if (scheme === 0) return bare[0]!;
  if (scheme === 1) return Buffer.concat([...bare, Buffer.of(threshold)]);
  const encoded = keys.map(({ keyType }, at) => anyKeyBytes(keyType, bare[at]!));
  if (scheme === 2) return encoded[0]!;
  return encodeBcs((writer) => writer.vector(encoded, (to, key) => to.fixed(key)).u8(threshold));
}

function anyKeyBytes(keyType: string, bytes: Buffer): Buffer {
  const variant = KEY_TYPES.indexOf(keyType);
  const isSized = variant >= 0 && variant < SIZED_KEYS;
  return encodeBcs((writer) => {
    writer.uleb32(Math.max(variant, 0));
    return isSized ? writer.bytes(bytes) : writer.fixed(bytes);
  });
}

/** Puts the new keys of an account. The event states which of them have signed the rotation. */
function putRotation(facts: TransactionFacts, data: Fields, rows: RowSink): void {
  const authKey = fullAddress(data.new_auth_key);
  const proven = new Set(setBits(bytesOf(data.verified_public_key_bit_map)));
  rows.put('auth_key_account_addresses', {
    auth_key: authKey,
    account_address: fullAddress(data.account),
    is_auth_key_used: proven.size > 0,
    last_transaction_version: facts.version,
  });
  const scheme = Number(data.public_key_scheme);
  const keys = tryParse(() => keysIn(scheme, bytesOf(data.public_key)));
  if (keys === undefined) return;
  const used = keys.map((key) => ({ ...key, signature: proven.has(key.index) ? '' : undefined }));
  putKeys(facts, { authKey, publicKey: data.public_key }, TYPES[scheme]!, used, rows);
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

/** The keys in the public key of an account. @throws BcsError */
function keysIn(scheme: number, bytes: Buffer): Omit<UsedKey, 'signature'>[] {
  if (scheme <= 1) {
    const count = Math.floor(bytes.length / ED25519_BYTES);
    return Array.from({ length: count }, (_, index) => {
      const key = bytes.subarray(index * ED25519_BYTES, (index + 1) * ED25519_BYTES);
      return { publicKey: formatHex(key), keyType: KEY_TYPES[0]!, index };
    });
  }
  const reader = new BcsReader(bytes);
  if (scheme === 2) return [readKey(reader, 0)];
  let index = 0;
  return reader.vector(1, (inner) => readKey(inner, index++));
}

function readKey(reader: BcsReader, index: number): Omit<UsedKey, 'signature'> {
  const start = reader.offset;
  const key = AnyPublicKey.read(reader);
  const bare = 'bytes' in key ? key.bytes : reader.buffer.subarray(start + 1, reader.offset);
  return { publicKey: formatHex(bare), keyType: KEY_TYPES[reader.buffer[start]!] ?? '', index };
}
