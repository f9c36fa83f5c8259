/**
 * Signatures of requests to submit or simulate: the unions by `type`, their fields, the checks before any state is read
 * (docs/spec/transactions.md §2.9, §9.1), and their BCS. No signature is verified cryptographically here.
 */
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { BITMAP_BYTES, MAX_MULTI_ED25519_KEYS } from '../../move/crypto/authenticator.ts';
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from '../../move/crypto/public-key.ts';
import { JsonNumber, type JsonObject } from '../../move/json/json-text.ts';
import { EncodeError } from './encode-error.ts';
import {
  addressField,
  asObject,
  bytesField,
  type JsonField,
  listField,
  parseModuleId,
  type Trace,
  unexpectedType,
  within,
} from './fields.ts';

export interface RequestSignature {
  /** @throws EncodeError of stage `verify` */
  verify(): void;
  /**
   * Writes the authenticator; call `verify` first. The bytes may not decode as an authenticator, because keys and
   * signatures that are BCS in the request are copied unchecked. @throws EncodeError of stage `convert`
   */
  write(writer: BcsWriter): void;
}

/** Reads the fields of one kind of signature. The result's `write` does not write the variants of the kind. */
type SignatureReader = (signature: JsonObject, trace: Trace) => RequestSignature;

/** Keyed by the value of `type`: the name of the kind in messages, its reader, and its variants in BCS. */
type SignatureUnion = Readonly<
  Record<string, readonly [name: string, read: SignatureReader, ...variants: number[]]>
>;

const NO_ACCOUNT: RequestSignature = { verify: () => undefined, write: () => undefined };

const ACCOUNT_SIGNATURES: SignatureUnion = {
  ed25519_signature: ['Ed25519Signature', readEd25519, 0],
  multi_ed25519_signature: ['MultiEd25519Signature', readMultiEd25519, 1],
  single_key_signature: ['SingleKeySignature', readSingleKey, 2],
  multi_key_signature: ['MultiKeySignature', readMultiKey, 3],
  no_account_signature: ['NoAccountSignature', () => NO_ACCOUNT, 4],
  abstract_signature: ['AbstractSignature', readAbstract, 5],
};

const TRANSACTION_SIGNATURES: SignatureUnion = {
  ed25519_signature: ['Ed25519Signature', readEd25519, 0],
  multi_ed25519_signature: ['MultiEd25519Signature', readMultiEd25519, 1],
  multi_agent_signature: ['MultiAgentSignature', readMultiAgent, 2],
  fee_payer_signature: ['FeePayerSignature', readFeePayer, 3],
  no_account_signature: ['NoAccountSignature', () => NO_ACCOUNT, 4, 4],
};

/**
 * The signature of a transaction. A `single_sender` is always rejected: the signature inside it would need a second
 * `type` in the same object. @throws EncodeError of stage `parse`
 */
export function readTransactionSignature(value: JsonField, outer: Trace): RequestSignature {
  const trace = within('TransactionSignature', outer);
  if (asObject(value)?.get('type') === 'single_sender') {
    throw unexpectedType('AccountSignature', value, trace);
  }
  return readUnion('TransactionSignature', TRANSACTION_SIGNATURES, value, outer);
}

function readAccountSignature(value: JsonField, outer: Trace): RequestSignature {
  return readUnion('AccountSignature', ACCOUNT_SIGNATURES, value, outer);
}

function readUnion(
  union: string,
  kinds: SignatureUnion,
  value: JsonField,
  outer: Trace,
): RequestSignature {
  const signature = asObject(value);
  const type = signature?.get('type');
  if (signature === undefined || typeof type !== 'string' || !Object.hasOwn(kinds, type)) {
    throw unexpectedType(union, value, outer);
  }
  const [name, read, ...variants] = kinds[type]!;
  const { verify, write } = read(signature, within(name, within(union, outer)));
  return {
    verify,
    write(writer) {
      for (const variant of variants) writer.uleb32(variant);
      write(writer);
    },
  };
}

function readEd25519(signature: JsonObject, trace: Trace): RequestSignature {
  const key = bytesField(signature.get('public_key'), trace);
  const bytes = bytesField(signature.get('signature'), trace);
  return {
    verify: () => checkLengths('Ed25519', PUBLIC_KEY_BYTES.ed25519, key, bytes),
    write: (writer) => writer.bytes(key).bytes(bytes),
  };
}

function checkLengths(scheme: string, keyBytes: number, key: Buffer, signature: Buffer): void {
  const problem = (what: string, expected: number, found: Buffer) =>
    `${scheme} ${what} is an invalid number of bytes, should be ${expected} bytes but found ${found.length}`;
  rejectIf(key.length !== keyBytes, problem("signature's public key", keyBytes, key));
  const isWrongLength = signature.length !== SIGNATURE_BYTES.ed25519;
  rejectIf(isWrongLength, problem('signature length', SIGNATURE_BYTES.ed25519, signature));
}

function rejectIf(isInvalid: boolean, reason: string): void {
  if (isInvalid) throw new EncodeError('verify', 'bad_signature', reason);
}

function readMultiEd25519(signature: JsonObject, trace: Trace): RequestSignature {
  const bytesList = (name: string) =>
    listField(signature.get(name), 'string(HexEncodedBytes)', trace, bytesField);
  const keys = bytesList('public_keys');
  const signatures = bytesList('signatures');
  const threshold = byteField(signature.get('threshold'), trace);
  const bitmap = bytesField(signature.get('bitmap'), trace);
  const verify = () => {
    const reject = (isInvalid: boolean, reason: string) =>
      rejectIf(isInvalid, `MultiEd25519 signature ${reason}`);
    checkCounts('MultiEd25519', keys.length, signatures.length);
    const isUneven = keys.length !== signatures.length;
    reject(isUneven, 'does not have the same number of signatures as public keys');
    const isShort = signatures.length < threshold;
    reject(isShort, 'does not have enough signatures to pass the threshold');
    reject(threshold === 0, 'threshold must be greater than 0');
    const hasWrongLength = (length: number) => (bytes: Buffer) => bytes.length !== length;
    const hasBadSignature = signatures.some(hasWrongLength(SIGNATURE_BYTES.ed25519));
    reject(hasBadSignature, 'has a signature with the wrong signature length');
    const hasBadKey = keys.some(hasWrongLength(PUBLIC_KEY_BYTES.ed25519));
    reject(hasBadKey, 'has a public key with the wrong public key length');
    const bitmapText = `an invalid number of bitmap bytes ${bitmap.length} expected ${BITMAP_BYTES}`;
    reject(bitmap.length !== BITMAP_BYTES, `has ${bitmapText}`);
  };
  const write = (writer: BcsWriter) => {
    writer.bytes(Buffer.concat([...keys, Buffer.of(threshold)]));
    writer.bytes(Buffer.concat([...signatures, bitmap]));
  };
  return { verify, write };
}

function checkCounts(scheme: string, keys: number, signatures: number): void {
  const reject = (isInvalid: boolean, reason: string) =>
    rejectIf(isInvalid, `${scheme} signature has ${reason}`);
  reject(keys === 0, 'no public keys');
  reject(signatures === 0, 'no signatures');
  reject(
    keys > MAX_MULTI_ED25519_KEYS,
    `over the maximum number of public keys ${MAX_MULTI_ED25519_KEYS}`,
  );
  reject(
    signatures > MAX_MULTI_ED25519_KEYS,
    `over the maximum number of signatures ${MAX_MULTI_ED25519_KEYS}`,
  );
}

function byteField(value: JsonField, trace: Trace): number {
  if (!(value instanceof JsonNumber)) throw unexpectedType('integer(uint8)', value, trace);
  const number = /^-?\d+$/.test(value.text) ? BigInt(value.text) : undefined;
  const isInteger = number !== undefined && BigInt.asIntN(64, number) === number;
  if (isInteger && number >= 0n && number <= 255n) return Number(number);
  const reason = isInteger ? 'Only integers from 0 to 255 are accepted.' : 'invalid integer';
  const text = `failed to parse "integer(uint8)": ${reason}${trace}`;
  throw new EncodeError('parse', 'bad_field', text);
}

/** A key or a signature of a scheme: its kind and its bytes. */
interface Scheme {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Names of the key schemes in messages, in the order of their BCS variants. */
const KEY_SCHEMES: Readonly<Record<string, string>> = {
  ed25519: 'Ed25519',
  secp256k1_ecdsa: 'Secp256k1Ecdsa',
  secp256r1_ecdsa: 'Secp256r1Ecdsa',
  keyless: 'Keyless',
  federated_keyless: 'FederatedKeyless',
  slh_dsa__sha2_128s: 'SlhDsa_Sha2_128s',
};
const SIGNATURE_SCHEMES: Readonly<Record<string, string>> = {
  ed25519: 'Ed25519',
  secp256k1_ecdsa: 'Secp256k1Ecdsa',
  web_authn: 'WebAuthn',
  keyless: 'Keyless',
  slh_dsa__sha2_128s: 'SlhDsa_Sha2_128s',
};
/** Schemes whose bytes in a request are their BCS. */
const BCS_SCHEMES: ReadonlySet<string> = new Set(['keyless', 'federated_keyless', 'web_authn']);
/** Keys whose signatures have a different scheme. */
const SIGNATURE_OF_KEY: Readonly<Record<string, string>> = {
  secp256r1_ecdsa: 'web_authn',
  federated_keyless: 'keyless',
};

function readScheme(
  union: string,
  schemes: Readonly<Record<string, string>>,
  value: JsonField,
  outer: Trace,
): Scheme {
  const object = asObject(value);
  const type = object?.get('type');
  if (object === undefined || typeof type !== 'string' || !Object.hasOwn(schemes, type)) {
    throw unexpectedType(union, value, outer);
  }
  const trace = within(schemes[type]!, within(union, outer));
  return { type, bytes: bytesField(object.get('value'), trace) };
}

function writeScheme(
  writer: BcsWriter,
  schemes: Readonly<Record<string, string>>,
  { type, bytes }: Scheme,
): void {
  writer.uleb32(Object.keys(schemes).indexOf(type));
  if (BCS_SCHEMES.has(type)) writer.fixed(bytes);
  else writer.bytes(bytes);
}

function readSingleKey(signature: JsonObject, trace: Trace): RequestSignature {
  const key = readKey(signature.get('public_key'), trace);
  const keySignature = readKeySignature(signature.get('signature'), trace);
  const verify = () => {
    const isMatch = (SIGNATURE_OF_KEY[key.type] ?? key.type) === keySignature.type;
    rejectIf(!isMatch, 'Invalid public key, signature match.');
    if (key.type === 'ed25519')
      checkLengths('Ed25519', PUBLIC_KEY_BYTES.ed25519, key.bytes, keySignature.bytes);
    if (key.type === 'secp256k1_ecdsa') {
      checkLengths('Secp256k1Ecdsa', PUBLIC_KEY_BYTES.secp256k1, key.bytes, keySignature.bytes);
    }
  };
  const write = (writer: BcsWriter) => {
    writeScheme(writer, KEY_SCHEMES, key);
    writeScheme(writer, SIGNATURE_SCHEMES, keySignature);
  };
  return { verify, write };
}

function readKey(value: JsonField, trace: Trace): Scheme {
  return readScheme('PublicKey', KEY_SCHEMES, value, trace);
}

function readKeySignature(value: JsonField, trace: Trace): Scheme {
  return readScheme('Signature', SIGNATURE_SCHEMES, value, trace);
}

function readMultiKey(signature: JsonObject, trace: Trace): RequestSignature {
  const keys = listField(signature.get('public_keys'), 'PublicKey', trace, readKey);
  const signatures = listField(
    signature.get('signatures'),
    'IndexedSignature',
    trace,
    readIndexedSignature,
  );
  const required = byteField(signature.get('signatures_required'), trace);
  const verify = () => {
    checkCounts('MultiKey', keys.length, signatures.length);
    const isUneven = signatures.length !== required;
    rejectIf(isUneven, 'MultiKey signature does not the number of signatures required');
    const fewer = `${keys.length} < ${required}`;
    rejectIf(
      keys.length < required,
      `The number of public keys is smaller than the number of required signatures, ${fewer}`,
    );
  };
  const write = (writer: BcsWriter) => {
    const bitmap = bitmapOf(signatures, keys.length);
    writer.vector(keys, (to, key) => writeScheme(to, KEY_SCHEMES, key)).u8(required);
    writer.vector(signatures, (to, { scheme }) => writeScheme(to, SIGNATURE_SCHEMES, scheme));
    writer.bytes(bitmap);
  };
  return { verify, write };
}

/** One bit per key, the highest first, set for the keys that signed. */
function bitmapOf(signatures: readonly IndexedSignature[], keyCount: number): Buffer {
  const bitmap = Buffer.alloc(Math.ceil(keyCount / 8));
  for (const { index } of signatures) {
    if (index >= keyCount) {
      throw unusable(`Signature index is out of public key range, ${index} < ${keyCount}.`);
    }
    const bit = 0x80 >> (index % 8);
    const at = Math.floor(index / 8);
    if ((bitmap[at]! & bit) !== 0) throw unusable(`Duplicate signature index, ${index}.`);
    bitmap[at]! |= bit;
  }
  return bitmap;
}

function unusable(reason: string): EncodeError {
  return new EncodeError('convert', 'bad_signature', reason);
}

interface IndexedSignature {
  /** The index of the key, a u8. */
  readonly index: number;
  readonly scheme: Scheme;
}

function readIndexedSignature(value: JsonField, outer: Trace): IndexedSignature {
  const indexed = asObject(value);
  if (indexed === undefined) throw unexpectedType('IndexedSignature', value, outer);
  const trace = within('IndexedSignature', outer);
  const index = byteField(indexed.get('index'), trace);
  return { index, scheme: readKeySignature(indexed.get('signature'), trace) };
}

function readAbstract(signature: JsonObject, trace: Trace): RequestSignature {
  const info = signature.get('function_info');
  if (typeof info !== 'string') throw unexpectedType('string', info, trace);
  const data = bytesField(signature.get('auth_data'), trace);
  const write = (writer: BcsWriter) => {
    writeFunctionInfo(writer, info);
    writer.fixed(data);
  };
  return { verify: () => undefined, write };
}

function writeFunctionInfo(writer: BcsWriter, text: string): void {
  const at = text.lastIndexOf('::');
  const module = at < 0 ? undefined : parseModuleId(text.slice(0, at));
  if (module === undefined) throw unusable(`Invalid function info ${text}`);
  writer
    .address(module.address)
    .string(module.name)
    .string(text.slice(at + 2));
}

function readMultiAgent(signature: JsonObject, trace: Trace): RequestSignature {
  const { sender, addresses, signers, write } = readSigners(signature, trace);
  const verify = () => {
    sender.verify();
    const reject = (isInvalid: boolean, reason: string) =>
      rejectIf(isInvalid, `MultiAgent ${reason}`);
    reject(addresses.length === 0, 'signature has no secondary signer addresses');
    reject(signers.length === 0, 'signature has no secondary signatures');
    reject(signers.length !== addresses.length, "signatures don't match addresses length");
    for (const signer of signers) signer.verify();
  };
  return { verify, write };
}

function readFeePayer(signature: JsonObject, trace: Trace): RequestSignature {
  const { sender, signers, write } = readSigners(signature, trace);
  const address = addressField(signature.get('fee_payer_address'), trace);
  const feePayer = readAccountSignature(signature.get('fee_payer_signer'), trace);
  return {
    verify() {
      for (const one of [sender, ...signers, feePayer]) one.verify();
    },
    write(writer) {
      write(writer);
      writer.address(address);
      feePayer.write(writer);
    },
  };
}

function readSigners(signature: JsonObject, trace: Trace) {
  const sender = readAccountSignature(signature.get('sender'), trace);
  const list = signature.get('secondary_signer_addresses');
  const addresses = listField(list, 'string(Address)', trace, addressField);
  const signers = listField(
    signature.get('secondary_signers'),
    'AccountSignature',
    trace,
    readAccountSignature,
  );
  const write = (writer: BcsWriter) => {
    sender.write(writer);
    writer.vector(addresses, (to, address) => to.address(address));
    writer.vector(signers, (to, signer) => signer.write(to));
  };
  return { sender, addresses, signers, write };
}
