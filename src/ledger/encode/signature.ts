/**
 * Signatures of requests to submit or simulate: the unions by `type`, their fields and what is checked of them before
 * any state is read (docs/spec/transactions.md §2.9, §9.1). Nothing else is done with a signature here, so reading one
 * gives the check that follows.
 */
import { JsonNumber, type JsonObject } from '../../move/json/json-text.ts';
import { EncodeError } from './encode-error.ts';
import {
  addressField,
  asObject,
  bytesField,
  type JsonField,
  listField,
  type Trace,
  unexpectedType,
  within,
} from './fields.ts';

/** Checks a signature whose fields are of the right form. @throws EncodeError of stage `verify` */
export type SignatureCheck = () => void;

/** Reads the fields of one kind of signature. */
type SignatureReader = (signature: JsonObject, trace: Trace) => SignatureCheck;

/** By the value of `type`: how messages name the kind, and its reader. */
type SignatureUnion = Readonly<Record<string, readonly [name: string, read: SignatureReader]>>;

/** Maximum keys, and maximum signatures, of an account with several. */
const MAX_KEYS = 32;
const BITMAP_BYTES = 4;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const SECP256K1_KEY_BYTES = 65;

const UNCHECKED: SignatureCheck = () => undefined;

const ACCOUNT_SIGNATURES: SignatureUnion = {
  ed25519_signature: ['Ed25519Signature', readEd25519],
  multi_ed25519_signature: ['MultiEd25519Signature', readMultiEd25519],
  single_key_signature: ['SingleKeySignature', readSingleKey],
  multi_key_signature: ['MultiKeySignature', readMultiKey],
  no_account_signature: ['NoAccountSignature', () => UNCHECKED],
  abstract_signature: ['AbstractSignature', readAbstract],
};

const TRANSACTION_SIGNATURES: SignatureUnion = {
  ed25519_signature: ['Ed25519Signature', readEd25519],
  multi_ed25519_signature: ['MultiEd25519Signature', readMultiEd25519],
  multi_agent_signature: ['MultiAgentSignature', readMultiAgent],
  fee_payer_signature: ['FeePayerSignature', readFeePayer],
  no_account_signature: ['NoAccountSignature', () => UNCHECKED],
};

/**
 * The signature of a transaction. A `single_sender` is always refused: the signature inside it would need a second
 * `type` in the same object.
 * @throws EncodeError of stage `parse`
 */
export function readTransactionSignature(value: JsonField, outer: Trace): SignatureCheck {
  const trace = within('TransactionSignature', outer);
  if (asObject(value)?.get('type') === 'single_sender') {
    throw unexpectedType('AccountSignature', value, trace);
  }
  return readUnion('TransactionSignature', TRANSACTION_SIGNATURES, value, outer);
}

function readAccountSignature(value: JsonField, outer: Trace): SignatureCheck {
  return readUnion('AccountSignature', ACCOUNT_SIGNATURES, value, outer);
}

function readUnion(
  union: string,
  kinds: SignatureUnion,
  value: JsonField,
  outer: Trace,
): SignatureCheck {
  const signature = asObject(value);
  const type = signature?.get('type');
  if (signature === undefined || typeof type !== 'string' || !Object.hasOwn(kinds, type)) {
    throw unexpectedType(union, value, outer);
  }
  const [name, read] = kinds[type]!;
  return read(signature, within(name, within(union, outer)));
}

function readEd25519(signature: JsonObject, trace: Trace): SignatureCheck {
  const key = bytesField(signature.get('public_key'), trace);
  const bytes = bytesField(signature.get('signature'), trace);
  return () => checkLengths('Ed25519', KEY_BYTES, key, bytes);
}

function checkLengths(scheme: string, keyBytes: number, key: Buffer, signature: Buffer): void {
  const problem = (what: string, due: number, found: Buffer) =>
    `${scheme} ${what} is an invalid number of bytes, should be ${due} bytes but found ${found.length}`;
  refuseIf(key.length !== keyBytes, problem("signature's public key", keyBytes, key));
  const isWrong = signature.length !== SIGNATURE_BYTES;
  refuseIf(isWrong, problem('signature length', SIGNATURE_BYTES, signature));
}

function refuseIf(isBad: boolean, reason: string): void {
  if (isBad) throw new EncodeError('verify', 'bad_signature', reason);
}

function readMultiEd25519(signature: JsonObject, trace: Trace): SignatureCheck {
  const bytesList = (name: string) =>
    listField(signature.get(name), 'string(HexEncodedBytes)', trace, bytesField);
  const keys = bytesList('public_keys');
  const signatures = bytesList('signatures');
  const threshold = byteField(signature.get('threshold'), trace);
  const bitmap = bytesField(signature.get('bitmap'), trace);
  return () => {
    const refuse = (isBad: boolean, reason: string) =>
      refuseIf(isBad, `MultiEd25519 signature ${reason}`);
    checkCounts('MultiEd25519', keys.length, signatures.length);
    const isUneven = keys.length !== signatures.length;
    refuse(isUneven, 'does not have the same number of signatures as public keys');
    const isShort = signatures.length < threshold;
    refuse(isShort, 'does not have enough signatures to pass the threshold');
    refuse(threshold === 0, 'threshold must be greater than 0');
    const isWrong = (length: number) => (bytes: Buffer) => bytes.length !== length;
    const hasBadSignature = signatures.some(isWrong(SIGNATURE_BYTES));
    refuse(hasBadSignature, 'has a signature with the wrong signature length');
    const hasBadKey = keys.some(isWrong(KEY_BYTES));
    refuse(hasBadKey, 'has a public key with the wrong public key length');
    const bitmapText = `an invalid number of bitmap bytes ${bitmap.length} expected ${BITMAP_BYTES}`;
    refuse(bitmap.length !== BITMAP_BYTES, `has ${bitmapText}`);
  };
}

function checkCounts(scheme: string, keys: number, signatures: number): void {
  const refuse = (isBad: boolean, reason: string) =>
    refuseIf(isBad, `${scheme} signature has ${reason}`);
  refuse(keys === 0, 'no public keys');
  refuse(signatures === 0, 'no signatures');
  refuse(keys > MAX_KEYS, `over the maximum number of public keys ${MAX_KEYS}`);
  refuse(signatures > MAX_KEYS, `over the maximum number of signatures ${MAX_KEYS}`);
}

/** A u8 as a JSON number. */
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
/** The signature that a key makes. */
const SIGNATURE_OF_KEY: Readonly<Record<string, string>> = {
  ed25519: 'ed25519',
  secp256k1_ecdsa: 'secp256k1_ecdsa',
  secp256r1_ecdsa: 'web_authn',
  keyless: 'keyless',
  federated_keyless: 'keyless',
  slh_dsa__sha2_128s: 'slh_dsa__sha2_128s',
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

function readSingleKey(signature: JsonObject, trace: Trace): SignatureCheck {
  const key = readKey(signature.get('public_key'), trace);
  const made = readKeySignature(signature.get('signature'), trace);
  return () => {
    const isMatch = SIGNATURE_OF_KEY[key.type] === made.type;
    refuseIf(!isMatch, 'Invalid public key, signature match.');
    if (key.type === 'ed25519') checkLengths('Ed25519', KEY_BYTES, key.bytes, made.bytes);
    if (key.type === 'secp256k1_ecdsa') {
      checkLengths('Secp256k1Ecdsa', SECP256K1_KEY_BYTES, key.bytes, made.bytes);
    }
  };
}

function readKey(value: JsonField, trace: Trace): Scheme {
  return readScheme('PublicKey', KEY_SCHEMES, value, trace);
}

function readKeySignature(value: JsonField, trace: Trace): Scheme {
  return readScheme('Signature', SIGNATURE_SCHEMES, value, trace);
}

function readMultiKey(signature: JsonObject, trace: Trace): SignatureCheck {
  const keys = listField(signature.get('public_keys'), 'PublicKey', trace, readKey);
  const signatures = listField(
    signature.get('signatures'),
    'IndexedSignature',
    trace,
    checkIndexedSignature,
  );
  const required = byteField(signature.get('signatures_required'), trace);
  return () => {
    checkCounts('MultiKey', keys.length, signatures.length);
    const isUneven = signatures.length !== required;
    refuseIf(isUneven, 'MultiKey signature does not the number of signatures required');
    const fewer = `${keys.length} < ${required}`;
    refuseIf(
      keys.length < required,
      `The number of public keys is smaller than the number of required signatures, ${fewer}`,
    );
  };
}

function checkIndexedSignature(value: JsonField, outer: Trace): void {
  const indexed = asObject(value);
  if (indexed === undefined) throw unexpectedType('IndexedSignature', value, outer);
  const trace = within('IndexedSignature', outer);
  byteField(indexed.get('index'), trace);
  readKeySignature(indexed.get('signature'), trace);
}

function readAbstract(signature: JsonObject, trace: Trace): SignatureCheck {
  const info = signature.get('function_info');
  if (typeof info !== 'string') throw unexpectedType('string', info, trace);
  bytesField(signature.get('auth_data'), trace);
  return UNCHECKED;
}

function readMultiAgent(signature: JsonObject, trace: Trace): SignatureCheck {
  const { checkSender, addresses, checks } = readSigners(signature, trace);
  return () => {
    checkSender();
    const refuse = (isBad: boolean, reason: string) => refuseIf(isBad, `MultiAgent ${reason}`);
    refuse(addresses === 0, 'signature has no secondary signer addresses');
    refuse(checks.length === 0, 'signature has no secondary signatures');
    refuse(checks.length !== addresses, "signatures don't match addresses length");
    for (const check of checks) check();
  };
}

function readFeePayer(signature: JsonObject, trace: Trace): SignatureCheck {
  const { checkSender, checks } = readSigners(signature, trace);
  addressField(signature.get('fee_payer_address'), trace);
  const checkFeePayer = readAccountSignature(signature.get('fee_payer_signer'), trace);
  return () => {
    for (const check of [checkSender, ...checks, checkFeePayer]) check();
  };
}

function readSigners(signature: JsonObject, trace: Trace) {
  const list = signature.get('secondary_signer_addresses');
  return {
    checkSender: readAccountSignature(signature.get('sender'), trace),
    addresses: listField(list, 'string(Address)', trace, addressField).length,
    checks: listField(
      signature.get('secondary_signers'),
      'AccountSignature',
      trace,
      readAccountSignature,
    ),
  };
}
