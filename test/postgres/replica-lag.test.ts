/** How far a reading server lags behind the writing ones, computed from the observed heads. */
import { expect, test } from 'vitest';
import type { Head } from '../../src/store/columns/head.ts';
import { ReplicaLag } from '../../src/store/postgres/host.ts';

const headAt = (version: bigint): Head => ({ version, oldestVersion: 0n }) as Head;

function looked(lag: ReplicaLag, version: bigint, agoMs: number, isStandby = false): void {
  const askedMs = performance.now() - agoMs;
  lag.record({ sentAtMs: askedMs, isStandby, isReadOnly: false, head: headAt(version) });
}

test('a head that is behind now was the newest when the primary had no newer one', () => {
  const lag = new ReplicaLag();
  const secondsAgo = (version: bigint) => Math.floor(lag.unconfirmedMs(headAt(version)) / 1_000);
  expect(secondsAgo(5n)).toBe(Infinity);
  looked(lag, 5n, 300_000);
  looked(lag, 5n, 200_000);
  looked(lag, 9n, 150_000, true);
  looked(lag, 6n, 100_000);
  expect([4n, 5n, 6n, 7n].map(secondsAgo)).toEqual([Infinity, 200, 100, 100]);
});

test.each([
  [127, 300],
  [128, Infinity],
])('after %i more looks, the first one is %s s ago', (more, seconds) => {
  const lag = new ReplicaLag();
  looked(lag, 5n, 300_000);
  for (let look = 0; look < more; look += 1) looked(lag, 6n, 0);
  expect(Math.floor(lag.unconfirmedMs(headAt(5n)) / 1_000)).toBe(seconds);
});
