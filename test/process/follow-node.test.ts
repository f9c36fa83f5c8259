/** Following inside a node: begins with an empty store, stops on request, logs why it ended. */
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { type FollowRequest, startFollowing } from '../../src/node/follow.ts';
import { openHead } from '../../src/store/columns/head.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { digests, sampleStore, upstreamOver } from '../ingest/feed-following.ts';
import { MemoryStore } from '../store/memory-store.ts';

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly err?: { readonly code: string; readonly message: string };
}

/** A follower in this process with its log. */
async function following(from: string, more: Partial<FollowRequest> = {}) {
  const lines: LogLine[] = [];
  const logger = pino({ level: 'info' }, { write: (text) => lines.push(JSON.parse(text)) });
  const store = new MemoryStore();
  return {
    store,
    lines,
    run: startFollowing(await LedgerWriter.open(store), { from, ...more }, logger),
  };
}

describe('a node that follows', () => {
  it('has a ledger as soon as genesis has come, and ends at the version it was given', async () => {
    const source = await sampleStore(700);
    const upstream = await upstreamOver(source);
    const until = (await openHead(source)).version;
    const { store, lines, run } = await following(upstream.url, { until });
    await run.started;
    expect((await openHead(store)).oldestVersion).toBe(0n);
    await run.ended;
    expect(await digests(store)).toEqual(await digests(source));
    expect(run.counters.transactions).toBe(Number(until) + 1);
    for (const name of ['networkMs', 'decodeMs', 'hashMs', 'buildMs', 'commitMs'] as const) {
      expect(run.counters[name]).toBeGreaterThan(0);
    }
    expect(lines.map(({ msg }) => msg)).toContain('following ended');
    await run.stop();
  });

  it('has its ledger at once when the upstream is away', async () => {
    const writer = await LedgerWriter.open(await sampleStore(60));
    const run = startFollowing(writer, { from: 'http://127.0.0.1:9' }, pino({ level: 'silent' }));
    await run.started;
    expect(run.now).toMatchObject({ isRunning: true, upstreamVersion: undefined });
    await run.stop();
  });

  it('stops while it waits for more', async () => {
    const source = await sampleStore(60);
    const upstream = await upstreamOver(source);
    const { store, lines, run } = await following(upstream.url);
    await run.started;
    await run.stop();
    expect((await openHead(store)).version).toBeLessThanOrEqual((await openHead(source)).version);
    expect(lines.some(({ level }) => level >= 50)).toBe(false);
  });

  it('logs why it cannot continue, and leaves the ledger as it is', async () => {
    const source = await sampleStore(60);
    const upstream = await upstreamOver(source);
    const trust = [`5:${'00'.repeat(32)}`];
    const { lines, run } = await following(upstream.url, { trust });
    await run.ended;
    const failure = lines.find(({ level }) => level === 50);
    expect(failure?.err).toMatchObject({ code: 'follow_stopped' });
    expect(failure?.err?.message).toContain('version 5, accumulator_root_hash');
  });

  it('does not begin with a malformed address', async () => {
    const begun = following('nowhere');
    await expect(begun).rejects.toThrow(expect.objectContaining({ code: 'bad_input' }));
  });
});
