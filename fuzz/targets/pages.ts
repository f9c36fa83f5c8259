/**
 * A store whose file is damaged anywhere: flipped bits, other bytes, exchanged, torn or truncated pages. Every read
 * returns the stored value or is refused. Damage that reads do not notice is found by a verification.
 */
import { openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { storeFileOf } from '../../src/store/sqlite/files.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import type { Random } from '../../test/random.ts';
import { moveIntoRun } from '../../test/store/move-into-run.ts';
import { PAGE_BYTES } from '../../test/store/stored-rows.ts';
import { BatchedChild } from '../batched-child.ts';
import type { Outcome } from '../child/page-reader.ts';
import { memoryFolder } from '../memory-folder.ts';
import { encodeReading, type Patch } from '../page-reading.ts';
import { Finding, type OpenTarget, type Target } from '../target.ts';

const READER = fileURLToPath(new URL('../child/page-reader.ts', import.meta.url));
const TRANSACTIONS = 80;
const MORE_TRANSACTIONS = 100;
const PARALLEL = 64;
/** One ledger in this many is verified, whatever reads have noticed. */
const VERIFIED_SHARE = 16;

export const pagesTarget: Target = {
  name: 'pages',
  about: 'stores with flipped, torn, exchanged and missing pages',
  open: openPages,
};

async function openPages(seed: number): Promise<OpenTarget> {
  const folder = memoryFolder('daybook-pages-');
  await makeLedger(folder, seed);
  const target = new PagesTarget(folder, readFileSync(storeFileOf(folder)));
  await target.readWhole();
  return target;
}

/** Creates a ledger with a log, runs, records and long values. */
async function makeLedger(folder: string, seed: number): Promise<void> {
  const store = await openSqliteStore({ directory: folder });
  const writer = await LedgerWriter.open(store);
  const chunks = bulkChunks({
    ...{ seed, transactions: TRANSACTIONS + MORE_TRANSACTIONS, accounts: 20 },
    chunkTransactions: TRANSACTIONS,
  });
  const first = chunks.next().value!;
  await writer.append(first);
  await moveIntoRun(store);
  await new Committer(writer).pushAll(chunks);
  await store.close();
}

class PagesTarget implements OpenTarget {
  readonly parallel = PARALLEL;
  readonly #folder: string;
  readonly #whole: Buffer;
  readonly #reader: BatchedChild<Outcome>;
  readonly #counts: Record<string, number> = {};

  constructor(folder: string, whole: Buffer) {
    this.#folder = folder;
    this.#whole = whole;
    const file = openSync(storeFileOf(folder), 'r+');
    this.#reader = new BatchedChild<Outcome>(READER, folder, () => {
      writeSync(file, whole, 0, whole.length, 0);
    });
  }

  /** @throws Error if an undamaged file cannot be read */
  async readWhole(): Promise<void> {
    const outcome = await this.#reader.run(encodeReading({ isVerified: true, patches: [] }));
    const isWhole = typeof outcome !== 'string' && told(outcome) === 'harmless';
    if (!isWhole) throw new Error(`a whole store is not read: ${JSON.stringify(outcome)}`);
  }

  make(random: Random): Buffer {
    const count = random.pick([1, 1, 1, 2, 8]);
    const patches = Array.from({ length: count }, () => this.#patch(random));
    return encodeReading({ isVerified: random.below(VERIFIED_SHARE) === 0, patches });
  }

  #patch(random: Random): Patch {
    const whole = this.#whole;
    const start = random.below(whole.length / PAGE_BYTES) * PAGE_BYTES;
    // Headers and the offsets behind them matter most.
    const at = start + random.below(random.pick([12, 100, PAGE_BYTES, PAGE_BYTES]));
    switch (random.below(10)) {
      case 0: {
        const other = random.below(whole.length / PAGE_BYTES) * PAGE_BYTES;
        const half = random.pick([0, PAGE_BYTES / 2]);
        return { at: start + half, bytes: whole.subarray(other + half, other + PAGE_BYTES) };
      }
      case 1:
        return { at: start, bytes: Buffer.alloc(PAGE_BYTES) };
      case 2:
        return { at: random.pick([start, at]), bytes: Buffer.of() };
      case 3:
      case 4:
      case 5:
        return { at, bytes: Buffer.of(whole[at]! ^ (1 << random.below(8))) };
      default:
        return { at, bytes: random.bytes(random.pick([1, 1, 2, 8, 512])) };
    }
  }

  async run(input: Buffer): Promise<void> {
    const outcome = await this.#reader.run(input);
    if (outcome === 'SIGKILL') throw new Finding('a read of damaged pages never ends');
    if (typeof outcome === 'string') throw new Finding(`the process ended: ${outcome}`);
    const what = told(outcome);
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
  }

  facts(): Readonly<Record<string, number>> {
    return { pages: this.#whole.length / PAGE_BYTES, ...this.#counts };
  }

  async close(): Promise<void> {
    this.#reader.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** @throws Finding for a wrong value, an error that a store must not throw, and damage that is never found */
function told({ refused, missing, damages, fault }: Outcome): string {
  if (fault !== undefined) throw new Finding(fault);
  if (missing > 0 && damages === 0) throw new Finding('records are missing, and nothing finds it');
  if (refused > 0) return 'refused';
  if (missing > 0) return 'found_by_verify';
  return damages === undefined || damages === 0 ? 'harmless' : 'only_found_by_verify';
}
