/** Responses to a node that follows a local network when the network is reverted. */
import { expect, it } from 'vitest';
import { openHead } from '../../src/store/columns/head.ts';
import { followError, followerOf, NEVER } from '../ingest/feed-following.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { withNet } from './localnet-client.ts';

it('goes on after a revert until the network has other versions, and then is told', async () => {
  await withNet({ accounts: 0, mining: { kind: 'manual' } }, async (client, net) => {
    const id = await net.snapshot();
    await net.mine(5);
    const store = new MemoryStore();
    const upstream = net.url.replace(/\/v1$/, '');
    const first = await followerOf(upstream, store, { until: net.version });
    await first.follower.run(NEVER);
    const { version } = await openHead(store);
    const { follower, told } = await followerOf(upstream, store);
    const ended = followError(follower.run(NEVER));
    await net.revert(id);
    await client.get('');
    expect(told.troubles).toEqual([]);
    // Fewer versions than the follower has.
    await net.setBalance('0xbeef', 1n);
    await net.mine();
    expect(net.version).toBeLessThan(version);
    const error = await ended;
    expect(error.code).toBe('history_contradicts');
    expect((await openHead(store)).version).toBe(version);
  });
});
