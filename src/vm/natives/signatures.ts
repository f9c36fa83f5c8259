/** Natives of signatures: Ed25519, several of its keys, ECDSA over secp256k1 (docs/spec/vm.md §6.9). */
import { MAX_MULTI_ED25519_KEYS } from '../../move/crypto/authenticator.ts';
import { type Native, NativeAbort } from '../native.ts';
import { bytesInside, bytesOf, byteVector, partsOf } from './arguments.ts';
import {
  ED25519_KEY_BYTES,
  ED25519_SIGNATURE_BYTES,
  isEd25519Key,
  isEd25519Point,
  isEd25519Signature,
  isSignedByMultiKey,
  readMultiEd25519Signature,
  splitMultiEd25519Key,
  wholeEd25519Keys,
} from './crypto/ed25519.ts';
import { recoverKey } from './crypto/secp256k1.ts';
import { DECODE_UNITS, MULTIPLY_UNITS, turnsOf, yieldTurn } from './crypto/turns.ts';

const WRONG_KEY_SIZE = 1;
const NOT_DESERIALIZED = 0x1_0001;
const WRONG_SIZE_IS_INVALID_FLAG = 14;

const validateKey: Native = ({ world, meter }, [key]) => {
  const bytes = bytesOf(key);
  meter.charge(DECODE_UNITS);
  if (bytes.length === ED25519_KEY_BYTES || world.isFeatureEnabled(WRONG_SIZE_IS_INVALID_FLAG)) {
    return [isEd25519Key(bytes)];
  }
  const text = `Invalid public key length: expected ${ED25519_KEY_BYTES}, got ${bytes.length}`;
  return new NativeAbort(WRONG_KEY_SIZE, text);
};

const ED25519_UNITS = 2 * (DECODE_UNITS + MULTIPLY_UNITS);

const verifyOne: Native = ({ meter }, args) => {
  const [signature, key, message] = args.map(bytesOf) as [Uint8Array, Uint8Array, Uint8Array];
  meter.charge(ED25519_UNITS);
  meter.chargeHashed(message.length);
  return [isEd25519Signature(signature, key, message)];
};

const verifyBatch: Native = async (context, [signatures, keys, messages]) => {
  const [signed, by, what] = [
    partsOf(signatures).map(bytesInside),
    partsOf(keys).map(bytesInside),
    partsOf(messages).map(bytesOf),
  ];
  if (signed.length === 0 || by.length !== signed.length || what.length !== signed.length) {
    return [false];
  }
  context.meter.chargeInTurns(signed.length * ED25519_UNITS);
  for (const message of what) context.meter.chargeHashed(message.length);
  for (const [index, one] of signed.entries()) {
    await yieldTurn(context);
    if (!isEd25519Signature(one, by[index]!, what[index]!)) return [false];
  }
  return [true];
};

const ED25519_PRICES = 'aptos_framework.signature.';

/** @param keysOf the keys in some bytes; `undefined` if they are malformed */
function validateKeys(keysOf: (bytes: Uint8Array) => readonly Uint8Array[] | undefined): Native {
  return ({ meter, gas }, [value]) => {
    gas.chargeFor(`${ED25519_PRICES}base`);
    const keys = keysOf(bytesOf(value));
    if (keys === undefined) return [false];
    meter.charge(DECODE_UNITS * keys.length);
    const isValid = keys.every((key) => {
      gas.chargeFor(`${ED25519_PRICES}per_pubkey_deserialize`);
      gas.chargeFor(`${ED25519_PRICES}per_pubkey_small_order_check`);
      return isEd25519Key(key);
    });
    return [isValid];
  };
}

/** The check for old code, which ignores bytes after the last complete key. */
const validateKeysOnly = validateKeys((bytes) => {
  const keys = wholeEd25519Keys(bytes);
  return keys.length > MAX_MULTI_ED25519_KEYS ? undefined : keys;
});

const verifyMany: Native = async (context, args) => {
  const [signature, key, message] = args.map(bytesOf) as [Uint8Array, Uint8Array, Uint8Array];
  const { meter, gas } = context;
  const keyCount = wholeEd25519Keys(key).length;
  meter.charge((1 + keyCount) * ED25519_UNITS);
  meter.chargeHashed(message.length);
  gas.chargeFor(`${ED25519_PRICES}base`);
  gas.chargeFor(`${ED25519_PRICES}per_pubkey_deserialize`, keyCount);
  const multiKey = splitMultiEd25519Key(key);
  if (multiKey?.keys.every(isEd25519Point) !== true) return [false];
  const count = Math.floor(signature.length / ED25519_SIGNATURE_BYTES);
  gas.chargeFor(`${ED25519_PRICES}per_sig_deserialize`, count);
  const multiSignature = readMultiEd25519Signature(signature);
  if (multiSignature === undefined) return [false];
  gas.chargeFor(`${ED25519_PRICES}per_sig_strict_verify`, count);
  gas.chargeFor(`${ED25519_PRICES}per_msg_hashing_base`, count);
  gas.chargeFor(`${ED25519_PRICES}per_msg_byte_hashing`, message.length * count);
  return [await isSignedByMultiKey(multiSignature, multiKey, message, turnsOf(context))];
};

const recover: Native = ({ meter }, [message, recoveryId, signature]) => {
  meter.charge(DECODE_UNITS + 2 * MULTIPLY_UNITS);
  const key = recoverKey(bytesOf(message), recoveryId as number, bytesOf(signature));
  if (typeof key !== 'string') return [byteVector(meter, key), true];
  switch (key) {
    case 'message':
      return new NativeAbort(NOT_DESERIALIZED, 'Message must be exactly 32 bytes');
    case 'recovery id':
      return new NativeAbort(NOT_DESERIALIZED, 'Recovery ID must be 0, 1, 2, or 3');
    case 'signature':
      return new NativeAbort(NOT_DESERIALIZED, 'Signature must be exactly 64 bytes');
    default:
      return [byteVector(meter, new Uint8Array(0)), false];
  }
};

export const SIGNATURE_NATIVES: Readonly<Record<string, Native>> = {
  'ed25519::public_key_validate_internal': validateKey,
  'ed25519::signature_verify_strict_internal': verifyOne,
  'ed25519::signature_batch_verify_strict_internal': verifyBatch,
  'multi_ed25519::public_key_validate_internal': validateKeysOnly,
  'multi_ed25519::public_key_validate_v2_internal': validateKeys(
    (bytes) => splitMultiEd25519Key(bytes)?.keys,
  ),
  'multi_ed25519::signature_verify_strict_internal': verifyMany,
  'secp256k1::ecdsa_recover_internal': recover,
};
