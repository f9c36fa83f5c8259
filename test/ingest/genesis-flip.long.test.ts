/** A damaged copy of a real genesis is never taken for the real one, and only ever causes a clear error. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { GenesisError, readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { checkWaypoint } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { parseWaypoint } from '../../src/move/transactions/waypoint.ts';
import { Random, testSeed } from '../random.ts';

const shared = new URL('../../../shared/genesis/', import.meta.url);
const POSITIONS = 200;

const FILES = [
  ['mainnet', 'mainnet.genesis_waypoint.txt'],
  ['testnet', 'testnet.genesis_waypoint.txt'],
  ['devnet', 'devnet.waypoint.txt'],
] as const;

describe.skipIf(!existsSync(shared))('damaged genesis files (needs ../shared/genesis)', () => {
  test.each(FILES)(`%s: a flipped byte at ${POSITIONS} positions`, (name, waypointFile) => {
    const file = readFileSync(new URL(`${name}.blob`, shared));
    const waypoint = parseWaypoint(readFileSync(new URL(waypointFile, shared), 'utf8'));
    const random = new Random(testSeed(`flips of ${name}`));
    const codes = new Map<string, number>();
    for (let run = 0; run < POSITIONS; run += 1) {
      const position = random.below(file.length);
      const change = 1 + random.below(255);
      file[position]! ^= change;
      const code = refusalCode(() => checkWaypoint(readGenesis(file), waypoint));
      codes.set(code, (codes.get(code) ?? 0) + 1);
      file[position]! ^= change;
    }
    console.log(name, Object.fromEntries(codes));
    expect(checkWaypoint(readGenesis(file), waypoint).waypoint).toEqual(waypoint);
  });

  test.each(FILES)('%s: cut anywhere', (name) => {
    const file = readFileSync(new URL(`${name}.blob`, shared));
    const random = new Random(testSeed(`cuts of ${name}`));
    for (let run = 0; run < 100; run += 1) {
      const length = random.below(file.length);
      const code = refusalCode(() => readGenesis(file.subarray(0, length)));
      expect(['malformed', 'empty_file']).toContain(code);
    }
  });
});

function refusalCode(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(GenesisError);
    return (error as GenesisError).code;
  }
  throw new Error('was not refused');
}
