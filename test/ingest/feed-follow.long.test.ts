/** A sample ledger followed over HTTP is identical, row for row. */
import { describe, expect, it } from 'vitest';
import { openHead } from '../../src/store/columns/head.ts';
import { roundsOf } from '../random.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { digests, followerOf, NEVER, sampleStore, upstreamOver } from './feed-following.ts';

describe('following a sample ledger', () => {
  it('gives every column the same content', async () => {
    const source = await sampleStore(roundsOf('TRANSACTIONS', 5_000, 20_000));
    const upstream = await upstreamOver(source);
    const until = (await openHead(source)).version;
    const copy = new MemoryStore();
    const { follower, told } = await followerOf(upstream.url, copy, { until });
    const head = await follower.run(NEVER);
    expect(head?.version).toBe(until);
    expect(told.troubles).toEqual([]);
    expect(await digests(copy)).toEqual(await digests(source));
    console.info(follower.counters);
  });
});
