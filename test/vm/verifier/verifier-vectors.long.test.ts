/** All recorded verdicts of the reference on modules and scripts: verified, linked, published. */
import { expect, it } from 'vitest';
import { verifierDifferences } from './recorded-verdicts.ts';
import { readVectors, type VerifierVector, vectorsPresent } from './vectors.ts';

it.skipIf(!vectorsPresent)('modules and scripts (needs ../shared/vectors)', () => {
  const file = readVectors<VerifierVector>('verifier.jsonl.gz');
  expect(file.vectors).toHaveLength(6_954);
  expect(verifierDifferences(file, file.vectors)).toEqual([]);
});
