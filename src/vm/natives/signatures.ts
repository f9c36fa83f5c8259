/** Natives of signatures: Ed25519, several of its keys, ECDSA over secp256k1, BLS12-381 (docs/spec/vm.md §6.9). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { Meter } from '../meter.ts';
import { type Native, NativeAbort } from '../native.ts';
import type { Value } from '../value.ts';
import { bytesInside, bytesOf, byteVector, partsOf } from './arguments.ts';
import {
  isBlsKey,
  isBlsSignature,
  isProofOfPossession,
  isSumOfSignatures,
  sumOfKeys,
  sumOfSignatures,
} from './crypto/bls12381.ts';
import {
  areEd25519Keys,
  ED25519_KEY_BYTES,
  isEd25519Key,
  isEd25519Signature,
  isMultiEd25519Key,
  isMultiEd25519Signature,
} from './crypto/ed25519.ts';
import { recoverKey } from './crypto/secp256k1.ts';
import { type GiveWay, giveWay, turnsOf } from './crypto/turns.ts';
import { DECODE_UNITS, MULTIPLY_UNITS, PAIRING_UNITS } from './crypto/units.ts';

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

type Verify = (
  signature: Uint8Array,
  key: Uint8Array,
  message: Uint8Array,
  giveWay: GiveWay,
) => MaybePromise<boolean>;

function verifying(verify: Verify, unitsOf: (key: Uint8Array) => number): Native {
  return (context, args) => {
    const [signature, key, message] = args.map(bytesOf);
    const { meter } = context;
    meter.charge(unitsOf(key!));
    meter.chargeHashed(message!.length);
    const isRight = verify(signature!, key!, message!, turnsOf(context));
    return andThen(isRight, (found) => [found]);
  };
}

const ED25519_UNITS = 2 * (DECODE_UNITS + MULTIPLY_UNITS);
const keysIn = (key: Uint8Array): number => Math.floor(key.length / ED25519_KEY_BYTES);

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
    await giveWay(context);
    if (!isEd25519Signature(one, by[index]!, what[index]!)) return [false];
  }
  return [true];
};

function validating(isValid: (bytes: Uint8Array) => boolean): Native {
  return ({ meter }, [value]) => {
    const bytes = bytesOf(value);
    meter.charge(DECODE_UNITS * (1 + keysIn(bytes)));
    return [isValid(bytes)];
  };
}

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

/** Structures whose first field is a `vector<u8>`, each a point. */
function pointsOf(values: Value, meter: Meter): Uint8Array[] {
  const points = partsOf(values).map(bytesInside);
  meter.chargeInTurns(points.length * DECODE_UNITS);
  return points;
}

type Sum = (points: readonly Uint8Array[], giveWay: GiveWay) => Promise<Uint8Array | undefined>;

function summing(sum: Sum): Native {
  return async (context, [points]) => {
    const { meter } = context;
    const bytes = await sum(pointsOf(points, meter), turnsOf(context));
    return [byteVector(meter, bytes ?? new Uint8Array(0)), bytes !== undefined];
  };
}

const verifySum: Native = async (context, [signature, keys, messages]) => {
  const points = pointsOf(keys, context.meter);
  context.meter.chargeInTurns((points.length + 1) * PAIRING_UNITS);
  const signed = partsOf(messages).map(bytesOf);
  for (const message of signed) context.meter.chargeHashed(message.length);
  return [await isSumOfSignatures(bytesOf(signature), points, signed, turnsOf(context))];
};

const isSignature: Verify = (signature, key, message, giveWay) =>
  isSumOfSignatures(signature, [key], [message], giveWay);

const verifyPossession: Native = async (context, [key, proof]) => {
  context.meter.charge(2 * PAIRING_UNITS);
  return [await isProofOfPossession(bytesOf(proof), bytesOf(key), turnsOf(context))];
};

export const SIGNATURE_NATIVES: Readonly<Record<string, Native>> = {
  'ed25519::public_key_validate_internal': validateKey,
  'ed25519::signature_verify_strict_internal': verifying(isEd25519Signature, () => ED25519_UNITS),
  'ed25519::signature_batch_verify_strict_internal': verifyBatch,
  'multi_ed25519::public_key_validate_internal': validating(areEd25519Keys),
  'multi_ed25519::public_key_validate_v2_internal': validating(isMultiEd25519Key),
  'multi_ed25519::signature_verify_strict_internal': verifying(
    isMultiEd25519Signature,
    (key) => (1 + keysIn(key)) * ED25519_UNITS,
  ),
  'secp256k1::ecdsa_recover_internal': recover,
  'bls12381::aggregate_pubkeys_internal': summing(sumOfKeys),
  'bls12381::aggregate_signatures_internal': summing(sumOfSignatures),
  'bls12381::signature_subgroup_check_internal': validating(isBlsSignature),
  'bls12381::validate_pubkey_internal': validating(isBlsKey),
  'bls12381::verify_aggregate_signature_internal': verifySum,
  'bls12381::verify_multisignature_internal': verifying(isSignature, () => 2 * PAIRING_UNITS),
  'bls12381::verify_normal_signature_internal': verifying(
    (signature, key, message, giveWay) =>
      isBlsKey(key) && isSignature(signature, key, message, giveWay),
    () => 2 * PAIRING_UNITS,
  ),
  'bls12381::verify_proof_of_possession_internal': verifyPossession,
  'bls12381::verify_signature_share_internal': verifying(isSignature, () => 2 * PAIRING_UNITS),
};
