/** Recorded verdicts of the reference: all upgrades, and one in eight of the others (the long test has all). */
import { describe, expect, it } from 'vitest';
import {
  type ChainRules,
  verifierConfigOf,
} from '../../../src/vm/verifier/model/verifier-config.ts';
import { upgradeDifferences, verifierDifferences } from './recorded-verdicts.ts';
import { readVectors, type UpgradeVector, type VerifierVector, vectorsPresent } from './vectors.ts';

const PART = 8;

/** The recorded configurations: disabled flags, version of the schedule, bounds. */
const CONFIGS: readonly [name: string, off: number[], gas: number, bounds: ChainRules['bounds']][] =
  [
    ['default', [], 52, 'revised'],
    ['no-enum', [74], 52, 'revised'],
    ['no-function-values', [89], 52, 'revised'],
    ['no-access-control', [75], 52, 'revised'],
    ['old-bounds', [], 52, 'none'],
    ['first-bounds', [], 52, 'first'],
    ['old-signatures', [29], 37, 'revised'],
  ];

describe('recorded verdicts', () => {
  it.skipIf(!vectorsPresent)('modules and scripts, a part (needs ../shared/vectors)', () => {
    const file = readVectors<VerifierVector>('verifier.jsonl.gz');
    const part = file.vectors.filter((_, place) => place % PART === 0);
    expect(part.length).toBeGreaterThan(800);
    expect(verifierDifferences(file, part)).toEqual([]);
  });

  it.skipIf(!vectorsPresent)('configurations (needs ../shared/vectors)', () => {
    const { configs } = readVectors<VerifierVector>('verifier.jsonl.gz');
    for (const [name, off, gasFeatureVersion, bounds] of CONFIGS) {
      const isFeatureEnabled = (flag: number) => !off.includes(flag);
      const config = verifierConfigOf({ isFeatureEnabled, gasFeatureVersion, bounds });
      expect(config, name).toEqual(configs.get(name)!.verifier);
    }
  });

  it.skipIf(!vectorsPresent)('upgrades (needs ../shared/vectors)', () => {
    const { dependencies } = readVectors<VerifierVector>('verifier.jsonl.gz');
    const file = readVectors<UpgradeVector>('upgrades.jsonl.gz');
    expect(file.vectors).toHaveLength(806);
    expect(upgradeDifferences(file, dependencies)).toEqual([]);
  });
});
