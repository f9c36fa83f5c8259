/**
 * The process of the target `power`: `node cut-checker FOLDER OUTCOMES`. For each input it writes what a power cut
 * leaves of the recorded writes, opens the store, and reports its version, or what is wrong with it.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize } from 'node:v8';
import { COLUMNS } from '../../src/store/columns/columns.ts';
import { readHead } from '../../src/store/columns/head.ts';
import { storeFileOf } from '../../src/store/sqlite/files.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { type Store, scanPages } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { Random } from '../../test/random.ts';
import { decodeCut, RecordedFiles } from '../recorded-file.ts';
import type { WriteEvent } from '../recorded-writes.ts';
import { recordedChunks } from './recorded-ledger.ts';
import { releaseMemory } from './released-memory.ts';
import { serveInputs } from './serve-inputs.ts';

export interface CutOutcome {
  /** Decimal; −1 without a ledger. */
  readonly version: string;
  /** The last version acknowledged before the cut. */
  readonly acknowledged: string;
  /** How many different ledgers this process has verified. */
  readonly verified: number;
  readonly fault?: string | undefined;
}

/** The recording that this process reads. */
export interface Recorded {
  readonly seed: number;
  /** The store's file and SQLite's log before the recording. */
  readonly before: readonly Buffer[];
  readonly events: readonly WriteEvent[];
}

const [, , directory = ''] = process.argv;
const { seed, before, events } = deserialize(readFileSync(join(directory, 'recorded'))) as Recorded;
const files = new RecordedFiles(
  events,
  before.map((bytes) => Buffer.from(bytes)),
);
const chunks = [...recordedChunks(seed)];
/** Digests of all rows of verified ledgers, so that equal ledgers are verified only once. */
const verified = new Set<string>();
let inputs = 0;

async function digestOf(store: Store): Promise<string> {
  const digest = createHash('sha256');
  for (const column of COLUMNS) {
    digest.update(`${column.number}\n`);
    for await (const page of scanPages(store, column)) {
      for (const { partition, order, value } of page) {
        digest.update(`${partition.length} ${order.length} ${value.length}\n`);
        digest.update(partition).update(order).update(value);
      }
    }
  }
  return digest.digest('hex');
}

async function faultOf(store: Store): Promise<string | undefined> {
  const digest = await digestOf(store);
  if (verified.has(digest)) return undefined;
  const { damageCount, damages } = await verifyLedger(store);
  if (damageCount > 0) return JSON.stringify(damages[0]?.detail);
  verified.add(digest);
  return undefined;
}

async function examine(left: string, isContinued: boolean) {
  const store = await openSqliteStore({ directory: left });
  try {
    const head = await readHead(store);
    const version = head?.version ?? -1n;
    let fault = head === undefined ? undefined : await faultOf(store);
    const next = chunks.find(({ firstVersion }) => firstVersion === version + 1n);
    if (isContinued && fault === undefined && next !== undefined) {
      const writer = await LedgerWriter.open(store);
      await writer.append(next);
      fault = await faultOf(store);
    }
    return { version: String(version), fault };
  } finally {
    await store.close();
  }
}

serveInputs<CutOutcome>(async (input) => {
  const cut = decodeCut(input, events.length);
  // A folder per input: connections to the previous store are closed later.
  const left = join(directory, `left-${process.pid}-${inputs}`);
  inputs += 1;
  mkdirSync(left);
  const path = storeFileOf(left);
  const acknowledged = String(files.leave(cut, [path, `${path}-wal`], new Random(cut.seed)));
  try {
    return { ...(await examine(left, cut.isContinued)), acknowledged, verified: verified.size };
  } catch (error) {
    const fault = String((error as Error).stack);
    return { version: '-1', acknowledged, verified: verified.size, fault };
  } finally {
    rmSync(left, { recursive: true });
    await releaseMemory();
  }
});
