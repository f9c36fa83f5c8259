/**
 * A backup by the reference's own tool, compared with its chain as the reference's API served it. This project created
 * neither.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { initFromBackup } from '../../src/node/backup.ts';
import { openHead } from '../../src/store/columns/head.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { openTestedStore } from '../api/tested-ledger.ts';
import { newFolder } from '../ingest/backup/backup-chain.ts';
import { rowsSince } from '../ingest/backup/snapshots.ts';
import { followerOf, NEVER } from '../ingest/feed-following.ts';
import { type RecordedChain, startReferenceFeed } from './reference-chain.ts';

const SHARED = new URL('../../../shared/', import.meta.url);
const BACKUP = new URL('reference-backup/plain/', SHARED);
const CHAIN = new URL('reference-simulations/', SHARED);
const isPresent = existsSync(BACKUP) && existsSync(CHAIN);

const NEWEST_VERSION = 399;
const STATE_VERSION = 287n;
const NO_PROGRESS = () => undefined;
const WAYPOINT = () =>
  readFileSync(new URL('reference-backup/waypoint.txt', SHARED), 'utf8').trim();
const BACKUP_INIT = () => ({ isSigned: true, waypoint: WAYPOINT() });

/** The chain of the backup. */
function recordedChain(): RecordedChain {
  const text = (name: string) => readFileSync(new URL(name, CHAIN), 'utf8');
  const offsets = JSON.parse(text('offsets.json')) as Record<string, readonly number[]>;
  const pages = new Map<number, Buffer>();
  const pageFrom = (start: number): Buffer => {
    const name = `pages/${String(start).padStart(6, '0')}.bcs.gz`;
    const page = pages.get(start) ?? gunzipSync(readFileSync(new URL(name, CHAIN)));
    pages.set(start, page);
    return page;
  };
  const [line] = gunzipSync(readFileSync(new URL('pages.jsonl.gz', CHAIN)))
    .toString()
    .split('\n');
  const { headers } = JSON.parse(line!) as { headers: Record<string, string> };
  const { 'content-length': _, 'content-type': __, ...ledgerHeaders } = headers;
  return {
    newestVersion: NEWEST_VERSION,
    headers: ledgerHeaders,
    transaction: (version) => {
      const start = version - (version % 100);
      const at = offsets[start]!;
      return pageFrom(start).subarray(at[version - start], at[version - start + 1]);
    },
  };
}

/** A copy of the backup for changes. */
function copiedBackup(): string {
  const folder = newFolder();
  cpSync(BACKUP, folder, { recursive: true });
  return folder;
}

describe.skipIf(!isPresent)('a backup of the reference (skipped without ../shared)', () => {
  let feed: Awaited<ReturnType<typeof startReferenceFeed>>;
  let original: Store;

  beforeAll(async () => {
    feed = await startReferenceFeed(recordedChain());
    original = await openTestedStore({ directory: newFolder() });
    await follow(original);
    await prune(original);
  });
  afterAll(async () => {
    feed?.close();
    feed?.closeAllConnections();
    await original?.close();
  });

  async function follow(store: Store): Promise<void> {
    const { follower, told } = await followerOf(feed.url, store, {
      until: BigInt(NEWEST_VERSION),
      timeouts: { silenceTimeoutMs: 50_000, totalTimeoutMs: 50_000 },
    });
    await follower.run(NEVER);
    expect(told.troubles).toEqual([]);
  }

  /** Prunes both to where their states begin: a restored ledger has nothing before its snapshot. */
  async function prune(store: Store): Promise<void> {
    const pruner = new Pruner(await LedgerWriter.open(store), { graceMs: 0, restFactor: 0 });
    await pruner.run({ versions: 100 });
  }

  /** Compares a ledger with the recorded chain, row for row. */
  async function expectSame(store: Store): Promise<void> {
    expect(await verifyLedger(store)).toMatchObject({ damages: [] });
    await prune(store);
    const [theirs, ours] = await Promise.all(
      [original, store].map((one) => rowsSince(one, STATE_VERSION)),
    );
    // No backup has the events of streams that ended before its state, only their numbers.
    for (const rows of [theirs!, ours!]) {
      rows['events'] = rows['events']!.filter(
        (row) => Buffer.from(row.split(' ')[2]!, 'hex').readBigUInt64LE() > STATE_VERSION,
      );
    }
    for (const column of Object.keys(theirs!)) {
      expect(ours![column], column).toEqual(theirs![column]);
    }
  }

  async function restored(backup: string) {
    const data = newFolder();
    const report = await initFromBackup(data, backup, BACKUP_INIT(), NO_PROGRESS);
    const store = await openTestedStore({ directory: data });
    onTestFinished(() => store.close());
    return { report, store };
  }

  it('makes the ledger of the chain', async () => {
    const { report, store } = await restored(BACKUP.pathname);
    expect(report).toMatchObject({
      chainId: 4,
      epochs: 6,
      stateVersion: STATE_VERSION,
      keys: 470,
      isGenesisCovered: true,
    });
    expect(report.stateRoot.toString('hex')).toBe(
      'e1297aaecac7ee2ca8c2c7bd4b3a8b9e8c324eabc7e1ae9adb51c04d1f06b47a',
    );
    expect((await openHead(store)).version).toBe(BigInt(NEWEST_VERSION));
    await expectSame(store);
  });

  it('that ends earlier makes one that follows the chain on', async () => {
    const backup = copiedBackup();
    rmSync(join(backup, 'metadata/transaction_301-399.meta'));
    const { report, store } = await restored(backup);
    expect(report.head.version).toBeGreaterThan(STATE_VERSION);
    expect(report.head.version).toBeLessThanOrEqual(300n);
    await follow(store);
    await expectSame(store);
  });

  it('is refused with a proof of an epoch before its state in place of another', async () => {
    const backup = copiedBackup();
    const proof = 'transaction_301-.3997/351-375.proof';
    cpSync(join(backup, 'transaction_101-.49d4/101-116.proof'), join(backup, proof));
    const data = newFolder();
    await expect(initFromBackup(data, backup, BACKUP_INIT(), NO_PROGRESS)).rejects.toMatchObject({
      code: 'backup_refused',
      message: expect.stringContaining(proof),
      cause: { code: 'backup_unproved' },
    });
    expect(readdirSync(data)).toEqual(['writer.lock']);
  });
});
