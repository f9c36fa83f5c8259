/** Requirements for trusting an upstream: the same chain, the same history, and the trusted roots. */
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { parseTrustedRoots } from '../../src/ingest/feed/known-history.ts';
import type { TrustedRoot } from '../../src/ingest/feed/page-verifier.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { ContractEvent } from '../../src/move/transactions/event.ts';
import {
  readOnChainData,
  TransactionOnChainData,
} from '../../src/move/transactions/transaction.ts';
import { WaypointTextError } from '../../src/move/transactions/waypoint.ts';
import { initFromBackup } from '../../src/node/backup.ts';
import { followIntoFolder } from '../../src/node/follow.ts';
import { type Head, openHead, readHead } from '../../src/store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../src/store/columns/identity-column.ts';
import { openView } from '../../src/store/read/view.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { MemoryStore } from '../store/memory-store.ts';
import {
  digests,
  followError,
  followerOf,
  NEVER,
  sampleStore,
  upstreamOver,
} from './feed-following.ts';

/** The root of a version in the feed. */
async function rootAt(store: StoreReader, version: bigint): Promise<TrustedRoot> {
  const [item] = await (await openView(store)).transactions(version, 1);
  const { data } = readOnChainData(new BcsReader(item!));
  return { version, root: Buffer.from(data.accumulatorRootHash) };
}

function wrong({ version, root }: TrustedRoot): TrustedRoot {
  const other = Buffer.from(root);
  other[31]! ^= 1;
  return { version, root: other };
}

describe('an upstream of another chain', () => {
  it('is left at once, and nothing changes', async () => {
    const source = await sampleStore(300);
    const upstream = await upstreamOver(source);
    const copy = new MemoryStore();
    const first = await followerOf(upstream.url, copy, { until: 150n });
    await first.follower.run(NEVER);
    const before = await digests(copy);
    upstream.settings.chainId = 1;
    upstream.settings.headerPrefix = 'x-aptos';
    const { follower, told } = await followerOf(upstream.url, copy);
    const error = await followError(follower.run(NEVER));
    expect(error.code).toBe('other_chain');
    expect(error.message).toMatch(/chain 1\b.*chain 204\b/);
    expect(told.troubles).toEqual([]);
    expect(await digests(copy)).toEqual(before);
  });
});

describe('an upstream with another history of the same chain', () => {
  it.each([
    ['longer', undefined],
    ['as long', 150n],
    ['shorter', 40n],
  ])('that is %s is left, and nothing changes', async (_, newest) => {
    const upstream = await upstreamOver(await sampleStore(300));
    const copy = new MemoryStore();
    const first = await followerOf(upstream.url, copy, { until: 150n });
    await first.follower.run(NEVER);
    const before = await digests(copy);
    const other = await upstreamOver(await sampleStore(300, { seed: 6 }));
    other.settings.newest = newest;
    const { follower } = await followerOf(other.url, copy);
    const error = await followError(follower.run(NEVER));
    expect(error.code).toBe('history_contradicts');
    expect(error.message).toContain(`version ${newest ?? 150n} `);
    expect(await digests(copy)).toEqual(before);
  });

  it('that is told apart only by its accumulator is left too', async () => {
    const source = await sampleStore(300);
    const upstream = await upstreamOver(source);
    const copy = new MemoryStore();
    const first = await followerOf(upstream.url, copy, { until: 150n });
    await first.follower.run(NEVER);
    // The newest info is the same but earlier ones differ: only the root reveals it.
    upstream.settings.misbehave = (_, response, page) => {
      if (page.length === 0) return false;
      const [item] = new BcsReader(page).vector(1, readOnChainData);
      item!.data.accumulatorRootHash[0]! ^= 1;
      response.setHeader('content-type', 'application/x-bcs');
      response.end(page);
      return true;
    };
    const { follower } = await followerOf(upstream.url, copy);
    const error = await followError(follower.run(NEVER));
    expect(error.code).toBe('history_contradicts');
    expect(error.message).toContain('accumulator root');
  });
});

describe('a trusted root', () => {
  it('that is right lets the chunk pass; one that is wrong stops before it', async () => {
    const source = await sampleStore(600);
    const upstream = await upstreamOver(source);
    const until = (await openHead(source)).version;
    const right = await rootAt(source, 250n);
    const copy = new MemoryStore();
    const followed = await followerOf(upstream.url, copy, { until, trustedRoots: [right] });
    await followed.follower.run(NEVER);
    expect(await digests(copy)).toEqual(await digests(source));

    const refused = new MemoryStore();
    const heads: (Head | undefined)[] = [];
    const { follower, told } = await followerOf(
      upstream.url,
      refused,
      { until, trustedRoots: [right, wrong(await rootAt(source, 350n))] },
      { progress: (head) => heads.push(head) },
    );
    const error = await followError(follower.run(NEVER));
    expect(error).toMatchObject({ code: 'trust_contradicts', version: 350n });
    expect(told.troubles).toEqual([]);
    expect((await openHead(refused)).version).toBeLessThan(350n);
    expect(heads.every((head) => head === undefined || head.version < 350n)).toBe(true);
  });

  it('of a version that is here already is compared with what is here', async () => {
    const source = await sampleStore(300);
    const upstream = await upstreamOver(source);
    const copy = new MemoryStore();
    await (await followerOf(upstream.url, copy, { until: 200n })).follower.run(NEVER);
    for (const version of [0n, 120n, 200n]) {
      const root = await rootAt(source, version);
      const right = await followerOf(upstream.url, copy, { until: 200n, trustedRoots: [root] });
      await right.follower.run(NEVER);
      expect(right.told.incomparable).toEqual([]);
      const trustedRoots = [wrong(root)];
      const { follower } = await followerOf(upstream.url, copy, { until: 250n, trustedRoots });
      const error = await followError(follower.run(NEVER));
      expect(error).toMatchObject({ code: 'trust_contradicts', version });
    }
    expect((await openHead(copy)).version).toBe(200n);
  });

  it('that can no longer be compared is said to be so', async () => {
    const source = await sampleStore(300);
    const upstream = await upstreamOver(source);
    const copy = new MemoryStore();
    const until = 200n;
    const lean = { until, keepsTransactions: false };
    await (await followerOf(upstream.url, copy, lean)).follower.run(NEVER);
    const trustedRoots = [wrong(await rootAt(source, 120n))];
    const { follower, told } = await followerOf(upstream.url, copy, { until, trustedRoots });
    await follower.run(NEVER);
    expect(told.incomparable).toEqual([120n]);
  });

  it('is written as a version, a colon and 64 hex digits, also as nodes show them, with 0x', () => {
    const root = 'ab'.repeat(32);
    for (const text of [`12:${root}`, `12:0x${root}`]) {
      expect(parseTrustedRoots([text])).toEqual([{ version: 12n, root: Buffer.alloc(32, 0xab) }]);
    }
    for (const bad of [
      `12:0x0x${'ab'.repeat(32)}`,
      `0x12:${'ab'.repeat(32)}`,
      '',
      '12',
      'ab'.repeat(32),
      `-1:${'ab'.repeat(32)}`,
      `12:${'ab'.repeat(31)}`,
    ]) {
      expect(() => parseTrustedRoots([bad])).toThrow(WaypointTextError);
    }
  });
});

describe('trusted roots', () => {
  const [one, other] = ['ab', 'cd'].map((byte) => byte.repeat(32));

  it('may be of several versions, and given twice', () => {
    const roots = parseTrustedRoots([`12:${one}`, `13:${other}`, `12:0x${one!.toUpperCase()}`]);
    expect(roots.map(({ version }) => version)).toEqual([12n, 13n]);
  });

  it('that contradict one another are wrong usage of --trust', async () => {
    const trust = [`12:${one}`, `12:${other}`];
    const refused = {
      ...{ code: 'bad_input', exitCode: 2 },
      message: `--trust: version 12 has two roots, ${one} and ${other}: give one`,
    };
    const options = { isSigned: false, trust };
    const loading = initFromBackup('./none', '.', options, () => undefined);
    await expect(loading).rejects.toMatchObject(refused);
    const from = 'http://127.0.0.1:9';
    const logger = pino({ level: 'silent' });
    const following = followIntoFolder('./none', { from, trust }, logger, undefined, NEVER);
    await expect(following).rejects.toMatchObject(refused);
  });
});

describe('the genesis waypoint', () => {
  it('decides what an empty ledger may begin with, and what one that is there may be', async () => {
    const source = await sampleStore(50);
    const upstream = await upstreamOver(source);
    const { genesisWaypointHash } = (await LEDGER_IDENTITY.get(source))!;
    const right = { version: 0n, hash: genesisWaypointHash };
    const other = { version: 0n, hash: Buffer.alloc(32) };
    const copy = new MemoryStore();
    const refused = await followerOf(upstream.url, copy, { until: 20n, waypoint: other });
    const error = await followError(refused.follower.run(NEVER));
    expect(error.code).toBe('waypoint_mismatch');
    expect(error.message).toContain(genesisWaypointHash.toString('hex'));
    expect(await readHead(copy)).toBeUndefined();
    const followed = await followerOf(upstream.url, copy, { until: 20n, waypoint: right });
    await followed.follower.run(NEVER);
    expect((await openHead(copy)).version).toBe(20n);
    const again = await followerOf(upstream.url, copy, { until: 40n, waypoint: other });
    expect((await followError(again.follower.run(NEVER))).code).toBe('waypoint_mismatch');
    expect((await openHead(copy)).version).toBe(20n);
  });
});

describe('an upstream that translates module events', () => {
  it('is refused with the cause', async () => {
    const source = await sampleStore(5_000);
    const upstream = await upstreamOver(source);
    const view = await openView(source);
    const deposit: ContractEvent = {
      kind: 'v1',
      key: { creationNumber: 2n, address: '0'.repeat(63) + '5' },
      sequenceNumber: 9n,
      typeTag: {
        kind: 'struct',
        struct: {
          address: '0'.repeat(63) + '1',
          module: 'coin',
          name: 'DepositEvent',
          typeArguments: [],
        },
      },
      data: Buffer.alloc(8),
    };
    expect(ContractEvent.encode(deposit).length).toBeGreaterThan(40);
    upstream.settings.misbehave = (_, response, page) => {
      if (page.length === 0) return false;
      const items = new BcsReader(page).vector(1, readOnChainData).map(({ data }) => {
        const events = data.events.map((event) => {
          const isDeposit =
            event.kind === 'v2' &&
            event.typeTag.kind === 'struct' &&
            event.typeTag.struct.name === 'CoinDeposit';
          return isDeposit ? deposit : event;
        });
        return TransactionOnChainData.encode({ ...data, events });
      });
      response.setHeader('content-type', 'application/x-bcs');
      response.end(encodeBcs((writer) => writer.vector(items, (to, item) => to.fixed(item))));
      return true;
    };
    const copy = new MemoryStore();
    const { follower } = await followerOf(upstream.url, copy);
    const error = await followError(follower.run(NEVER));
    expect(error).toMatchObject({ code: 'page_unproved', field: 'events' });
    expect(error.message).toContain('enable_event_v2_translation');
    expect((await openHead(copy)).version).toBeLessThan(view.head.version);
  });
});
