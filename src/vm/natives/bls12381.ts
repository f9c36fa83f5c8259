/**
 * Natives of `0x1::bls12381` (docs/spec/vm.md §6.9). Only the work up to the first fault is charged
 * (docs/spec/gas.md §4).
 */
import type { GasMeter } from '../gas/gas-meter.ts';
import type { Native, NativeContext } from '../native.ts';
import type { Value } from '../value.ts';
import { bytesInside, bytesOf, byteVector, partsOf } from './arguments.ts';
import {
  isInSubgroup,
  isProofOfPossession,
  isSumOfSignatures,
  readKey,
  readSignature,
  sumOfKeys,
  sumOfSignatures,
} from './crypto/bls12381.ts';
import type { G1Point, G2Point } from './crypto/points.ts';
import { DECODE_UNITS, PAIRING_UNITS, turnsOf, yieldTurn } from './crypto/turns.ts';

function charge(gas: GasMeter, price: string, units = 1): void {
  gas.chargeFor(`aptos_framework.bls12381.${price}`, units);
}

function pricedKey({ gas }: NativeContext, bytes: Uint8Array): G1Point | undefined {
  charge(gas, 'per_pubkey_deserialize');
  return readKey(bytes);
}

function pricedSignature({ gas }: NativeContext, bytes: Uint8Array): G2Point | undefined {
  charge(gas, 'per_sig_deserialize');
  return readSignature(bytes);
}

/** The subgroup check of a key costs as much as reading it. */
function isPricedKeyInSubgroup({ gas }: NativeContext, key: G1Point): boolean {
  charge(gas, 'per_pubkey_deserialize');
  return isInSubgroup(key);
}

type Read<Point> = (context: NativeContext, bytes: Uint8Array) => Point | undefined;

/** The points in structs whose first field is a `vector<u8>`; `undefined` if one of them is not a point. */
async function pointsOf<Point>(
  context: NativeContext,
  values: Value,
  read: Read<Point>,
): Promise<readonly Point[] | undefined> {
  const encoded = partsOf(values).map(bytesInside);
  context.meter.chargeInTurns(encoded.length * DECODE_UNITS);
  const points: Point[] = [];
  for (const bytes of encoded) {
    await yieldTurn(context);
    const point = read(context, bytes);
    if (point === undefined) return undefined;
    points.push(point);
  }
  return points;
}

function aggregateNative<Point>(
  read: Read<Point>,
  price: string,
  sum: (points: readonly Point[]) => Uint8Array,
): Native {
  return async (context, [values]) => {
    const { gas, meter } = context;
    charge(gas, 'base');
    const points = await pointsOf(context, values, read);
    if (points === undefined || points.length === 0) {
      return [byteVector(meter, new Uint8Array(0)), false];
    }
    charge(gas, price, points.length);
    return [byteVector(meter, sum(points)), true];
  };
}

const isKey: Native = (context, [value]) => {
  context.meter.charge(2 * DECODE_UNITS);
  charge(context.gas, 'base');
  const key = pricedKey(context, bytesOf(value));
  return [key !== undefined && isPricedKeyInSubgroup(context, key)];
};

const isSignature: Native = (context, [value]) => {
  context.meter.charge(2 * DECODE_UNITS);
  charge(context.gas, 'base');
  const signature = pricedSignature(context, bytesOf(value));
  if (signature === undefined) return [false];
  charge(context.gas, 'per_sig_subgroup_check');
  return [isInSubgroup(signature)];
};

/** @param checksKey whether the key must be in the right subgroup */
function verifyNative(checksKey: boolean): Native {
  return async (context, args) => {
    const [signed, by, message] = args.map(bytesOf) as [Uint8Array, Uint8Array, Uint8Array];
    const { gas, meter } = context;
    meter.charge(2 * PAIRING_UNITS);
    meter.chargeHashed(message.length);
    charge(gas, 'base');
    const key = pricedKey(context, by);
    if (key === undefined) return [false];
    if (checksKey && !isPricedKeyInSubgroup(context, key)) return [false];
    const signature = pricedSignature(context, signed);
    if (signature === undefined) return [false];
    charge(gas, 'per_sig_verify');
    charge(gas, 'per_msg_hashing');
    charge(gas, 'per_byte_hashing', message.length);
    return [await isSumOfSignatures(signature, [key], [message], turnsOf(context))];
  };
}

const verifySum: Native = async (context, [signed, keys, contents]) => {
  const { gas, meter } = context;
  charge(gas, 'base');
  const messages = partsOf(contents).map(bytesOf);
  const count = messages.length;
  if (partsOf(keys).length !== count) return [false];
  const points = await pointsOf(context, keys, pricedKey);
  if (points === undefined) return [false];
  const signature = pricedSignature(context, bytesOf(signed));
  if (signature === undefined) return [false];
  meter.chargeInTurns((count + 1) * PAIRING_UNITS);
  const bytes = messages.reduce((sum, { length }) => sum + length, 0);
  meter.chargeHashed(bytes);
  charge(gas, 'per_pairing', count + 1);
  charge(gas, 'per_msg_hashing', count);
  charge(gas, 'per_byte_hashing', bytes);
  return [await isSumOfSignatures(signature, points, messages, turnsOf(context))];
};

const verifyPossession: Native = async (context, [value, proofValue]) => {
  const { gas, meter } = context;
  meter.charge(2 * PAIRING_UNITS);
  charge(gas, 'base');
  const key = pricedKey(context, bytesOf(value));
  const proof = key === undefined ? undefined : pricedSignature(context, bytesOf(proofValue));
  if (key === undefined || proof === undefined) return [false];
  charge(gas, 'per_pop_verify');
  return [await isProofOfPossession(proof, key, turnsOf(context))];
};

export const BLS_NATIVES: Readonly<Record<string, Native>> = {
  'bls12381::aggregate_pubkeys_internal': aggregateNative(
    pricedKey,
    'per_pubkey_aggregate',
    sumOfKeys,
  ),
  'bls12381::aggregate_signatures_internal': aggregateNative(
    pricedSignature,
    'per_sig_aggregate',
    sumOfSignatures,
  ),
  'bls12381::signature_subgroup_check_internal': isSignature,
  'bls12381::validate_pubkey_internal': isKey,
  'bls12381::verify_aggregate_signature_internal': verifySum,
  'bls12381::verify_multisignature_internal': verifyNative(false),
  'bls12381::verify_normal_signature_internal': verifyNative(true),
  'bls12381::verify_proof_of_possession_internal': verifyPossession,
  'bls12381::verify_signature_share_internal': verifyNative(false),
};
