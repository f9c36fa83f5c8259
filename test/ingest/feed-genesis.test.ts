/** The genesis of real networks, followed from a node that was initialized with its file. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Committer } from '../../src/ingest/committer.ts';
import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { chunkOfGenesis, computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { parseWaypoint } from '../../src/move/transactions/waypoint.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { digests, followerOf, NEVER, upstreamOver } from './feed-following.ts';

const folder = new URL('../../../shared/genesis/', import.meta.url);
const present = existsSync(folder);

describe.skipIf(!present)('the genesis (skipped without ../shared/genesis)', () => {
  it.each([
    ['mainnet', 'mainnet.genesis_waypoint.txt', 1],
    ['testnet', 'testnet.genesis_waypoint.txt', 2],
    ['devnet', 'devnet.waypoint.txt', 243],
  ])('of %s is proved and comes out the same', async (network, waypointFile, chainId) => {
    const genesis = readGenesis(readFileSync(new URL(`${network}.blob`, folder)));
    const waypoint = parseWaypoint(readFileSync(new URL(waypointFile, folder), 'utf8'));
    const source = new MemoryStore();
    const chunk = chunkOfGenesis(genesis, computeGenesisHashes(genesis));
    await new Committer(await LedgerWriter.open(source)).pushAll([chunk]);
    const upstream = await upstreamOver(source);
    const copy = new MemoryStore();
    const { follower, writer } = await followerOf(upstream.url, copy, { until: 0n, waypoint });
    await follower.run(NEVER);
    expect(writer.identity?.chainId).toBe(chainId);
    expect(await digests(copy)).toEqual(await digests(source));
  });
});
