/** Natives of `0x1::ristretto255_bulletproofs` and `0x1::confidential_range_proofs` (docs/spec/vm.md §6.10). */
import { type Native, NativeAbort, type NativeContext } from '../native.ts';
import type { Value } from '../value.ts';
import { bytesOf, partsOf } from './arguments.ts';
import { isInRange, readRangeProof } from './crypto/range-proof.ts';
import { turnsOf } from './crypto/turns.ts';
import { MULTIPLY_UNITS } from './crypto/units.ts';
import { pointIn } from './ristretto.ts';

const BITS: readonly number[] = [8, 16, 32, 64];
const BATCH_SIZES: readonly number[] = [1, 2, 4, 8, 16];
const BITS_NOT_SUPPORTED = 0x1_0003;
const BATCH_SIZE_NOT_SUPPORTED = 0x1_0004;
const PRICES = 'aptos_framework.bulletproofs.';

type Charge = (bytes: number, isRead: boolean) => void;

async function verified(
  context: NativeContext,
  commitments: readonly Uint8Array[],
  [value, blinding, proofBytes, bitCount, domain]: readonly Value[],
  charge: Charge,
): Promise<readonly Value[]> {
  const [base, blindingBase] = [pointIn(context, value), pointIn(context, blinding)];
  const [bytes, bits] = [bytesOf(proofBytes), Number(bitCount as bigint)];
  charge(bytes.length, false);
  const proof = readRangeProof(bytes);
  if (proof === undefined) return [false];
  charge(bytes.length, true);
  context.meter.chargeInTurns(2 * commitments.length * bits * MULTIPLY_UNITS);
  const statement = { commitments, bits, base, blindingBase, domain: bytesOf(domain) };
  return [await isInRange(proof, statement, turnsOf(context))];
}

const verifyOne: Native = (context, [commitment, ...rest]) => {
  const bits = Number(rest[3] as bigint);
  if (!BITS.includes(bits)) throw new NativeAbort(BITS_NOT_SUPPORTED);
  const { gas } = context;
  return verified(context, [bytesOf(commitment)], rest, (bytes, isRead) => {
    if (isRead) {
      gas.chargeFor(`${PRICES}per_bit_rangeproof_verify`, bits);
      return;
    }
    gas.chargeFor(`${PRICES}base`);
    gas.chargeFor(`${PRICES}per_byte_rangeproof_deserialize`, bytes);
  });
};

const verifyBatch: Native = (context, [commitments, ...rest]) => {
  const bits = Number(rest[3] as bigint);
  const points = partsOf(commitments).map(bytesOf);
  if (!BITS.includes(bits)) throw new NativeAbort(BITS_NOT_SUPPORTED);
  if (!BATCH_SIZES.includes(points.length)) throw new NativeAbort(BATCH_SIZE_NOT_SUPPORTED);
  return verified(context, points, rest, (_, isRead) => {
    if (isRead) return;
    context.gas.chargeFor(`${PRICES}verify.base_batch_${points.length}_bits_${bits}`);
  });
};

export const RANGE_PROOF_NATIVES: Readonly<Record<string, Native>> = {
  'ristretto255_bulletproofs::verify_range_proof_internal': verifyOne,
  'ristretto255_bulletproofs::verify_batch_range_proof_internal': verifyBatch,
  'confidential_range_proofs::verify_batch_range_proof_internal': verifyBatch,
};
