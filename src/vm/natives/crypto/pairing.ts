/** Pairings of many points, one after the other. */
import type { bls12_381 } from '@noble/curves/bls12-381.js';
import type { bn254 } from '@noble/curves/bn254.js';
import type { YieldTurn } from './turns.ts';

export type Curve = typeof bls12_381 | typeof bn254;
export type Fp12Value = ReturnType<Curve['fields']['Fp12']['mul']>;
type Pairs = Parameters<Curve['pairingBatch']>[0];

export interface PointPair {
  readonly g1: unknown;
  readonly g2: unknown;
}

/** The product of the pairings of pairs, none of which has a point at infinity. */
export async function productOfPairings(
  curve: Curve,
  pairs: readonly PointPair[],
  yieldTurn: YieldTurn,
): Promise<Fp12Value> {
  const { Fp12 } = curve.fields;
  let product: Fp12Value = Fp12.ONE;
  for (const pair of pairs) {
    await yieldTurn();
    product = Fp12.mul(product, curve.pairingBatch([pair] as Pairs, false));
  }
  await yieldTurn();
  return Fp12.finalExponentiate(product);
}
