/** Waypoints: their text and the hash of their parts (docs/spec/ledger.md §2.7). */
import { describe, expect, test } from 'vitest';
import { domainHash } from '../../../src/move/crypto/hash.ts';
import {
  formatWaypoint,
  isSameWaypoint,
  parseWaypoint,
  WaypointTextError,
  waypointOfParts,
} from '../../../src/move/transactions/waypoint.ts';
import { ADDRESS_ONE } from '../../../src/move/types/address.ts';

const HASH = '4b56f15c1dcef7f9f3eb4b4798c0cba0f1caacc0d35f1c80ad9b7a21f1f8b454';

describe('text', () => {
  test.each([
    [`0:${HASH}`, 0n],
    [`0:${HASH}\n`, 0n],
    [`  1638030465:${HASH.toUpperCase()}\r\n`, 1638030465n],
    [`18446744073709551615:${HASH}`, 2n ** 64n - 1n],
  ])('%j', (text, version) => {
    const waypoint = parseWaypoint(text);
    expect(waypoint.version).toBe(version);
    expect(formatWaypoint(waypoint)).toBe(`${version}:${HASH}`);
    expect(parseWaypoint(formatWaypoint(waypoint))).toEqual(waypoint);
  });

  test.each([
    '',
    HASH,
    `:${HASH}`,
    `0:${HASH.slice(1)}`,
    `0:${HASH}0`,
    `0:0x${HASH}`,
    `-1:${HASH}`,
    `00:${HASH}`,
    `18446744073709551616:${HASH}`,
    `0:${HASH}\n0:${HASH}`,
    `0:${HASH.replace('4', 'g')}`,
  ])('refuses %j', (text) => {
    expect(() => parseWaypoint(text)).toThrow(WaypointTextError);
  });

  test('a long text is shown shortened, on one line', () => {
    const error = (() => {
      try {
        return parseWaypoint(`\n${'x'.repeat(10_000)}\n`);
      } catch (thrown) {
        return thrown as WaypointTextError;
      }
    })();
    expect(error).toMatchObject({ code: 'bad_waypoint' });
    expect((error as WaypointTextError).message.length).toBeLessThan(250);
    expect((error as WaypointTextError).message).not.toContain('\n');
  });
});

test('the hash covers epoch, root, version, time and the next epoch, in this order', () => {
  const u64 = (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    return bytes;
  };
  const rootHash = Buffer.alloc(32, 7);
  const head = [u64(1n), rootHash, u64(2n), u64(3n)];
  const parts = { epoch: 1n, rootHash, version: 2n, timestampUsecs: 3n };
  const plain = waypointOfParts({ ...parts, nextEpochState: undefined });
  expect(plain).toEqual({
    version: 2n,
    hash: domainHash('Ledger2WaypointConverter', Buffer.concat([...head, Buffer.of(0)])),
  });
  const nextEpochState = {
    epoch: 2n,
    validators: [{ address: ADDRESS_ONE, consensusKey: Buffer.alloc(48, 9), votingPower: 4n }],
  };
  const next = [Buffer.of(1), u64(2n), Buffer.of(1), Buffer.from(ADDRESS_ONE, 'hex')];
  const key = [Buffer.of(48), Buffer.alloc(48, 9), u64(4n)];
  const ending = waypointOfParts({ ...parts, nextEpochState });
  expect(ending.hash).toEqual(
    domainHash('Ledger2WaypointConverter', Buffer.concat([...head, ...next, ...key])),
  );
  expect(isSameWaypoint(plain, ending)).toBe(false);
  expect(isSameWaypoint(plain, { ...plain, version: 3n })).toBe(false);
});
