/**
 * A store whose file has damaged pages: flipped bytes, pages torn and mixed up, of every kind. Reads are refused or give
 * rows; a page that takes the process down is counted, a hang or another error is a finding.
 */
import { ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Committer } from '../../src/ingest/committer.ts';
import { sampleChunks } from '../../src/sample/sample.ts';
import { dataFileOf, PAGE_BYTES } from '../../src/store/lmdb/lmdb-file.ts';
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import type { Random } from '../../test/random.ts';
import { BatchedChild } from '../batched-child.ts';
import type { Outcome } from '../child/page-reader.ts';
import { memoryFolder } from '../memory-folder.ts';
import { decodeReading, encodeReading, type Patch } from '../page-reading.ts';
import { Finding, type OpenTarget, type Target } from '../target.ts';

const READER = fileURLToPath(new URL('../child/page-reader.ts', import.meta.url));
const TRANSACTIONS = 80;
const PARALLEL = 256;
/** Rows read of an input: those that are on the page, and any others. */
const ROWS_OF_PAGE = 8;
const OTHER_ROWS = 2;
const ROOM_BYTES = 32 * 1024 * 1024;
/** Metas are pages 0 and 1. */
const META_PAGES = 2;
const FLAGS_AT = 18;
const KINDS: readonly (readonly [flag: number, kind: string])[] = [
  [1, 'branch'],
  [2, 'leaf'],
  [4, 'overflow'],
];
/** How often pages of a kind are damaged: of the two metas everything was tried long ago, and they end the process. */
const SHARES = { meta: 1, branch: 20, leaf: 40, overflow: 20, rest: 4 } as const;
type Kind = keyof typeof SHARES;

export const pagesTarget: Target = {
  name: 'pages',
  about: 'stores with flipped, torn and exchanged pages',
  open: openPages,
};

async function openPages(seed: number): Promise<OpenTarget> {
  const folder = memoryFolder('daybook-pages-');
  await makeLedger(folder, seed);
  const target = new PagesTarget(folder, readFileSync(dataFileOf(folder)));
  await target.findRows();
  return target;
}

async function makeLedger(folder: string, seed: number): Promise<void> {
  const store = await openLmdbStore({ directory: folder });
  const writer = await LedgerWriter.open(store);
  const contents = { seed, transactions: TRANSACTIONS, accounts: 20 };
  await new Committer(writer).pushAll(sampleChunks(contents));
  await store.close();
}

function pagesByKind(whole: Buffer): ReadonlyMap<Kind, readonly number[]> {
  const pages = new Map<Kind, number[]>([['meta', [0, 1]]]);
  for (let page = META_PAGES; page * PAGE_BYTES < whole.length; page += 1) {
    const start = page * PAGE_BYTES;
    const isNumbered = whole.readBigUInt64LE(start) === BigInt(page);
    const flags = whole.readUInt16LE(start + FLAGS_AT);
    const kind = isNumbered ? KINDS.find(([flag]) => (flags & flag) !== 0) : undefined;
    const name = (kind?.[1] ?? 'rest') as Kind;
    pages.set(name, [...(pages.get(name) ?? []), page]);
  }
  return pages;
}

class PagesTarget implements OpenTarget {
  readonly parallel = PARALLEL;
  readonly #folder: string;
  readonly #whole: Buffer;
  readonly #pages: ReadonlyMap<Kind, readonly number[]>;
  readonly #kinds: readonly Kind[];
  readonly #reader: BatchedChild<Outcome>;
  /** Known rows that are not read as they are when a page is damaged. */
  readonly #rowsOf = new Map<number, readonly number[]>();
  readonly #counts: Record<string, number> = {};
  #knownRows = 0;

  constructor(folder: string, whole: Buffer) {
    this.#folder = folder;
    this.#whole = whole;
    this.#pages = pagesByKind(whole);
    this.#kinds = [...this.#pages.keys()].flatMap((kind) => Array<Kind>(SHARES[kind]).fill(kind));
    const file = openSync(dataFileOf(folder), 'r+');
    // As behind the pages of a ledger of some size: the ends of values that are named too large are there.
    ftruncateSync(file, whole.length + ROOM_BYTES);
    this.#reader = new BatchedChild<Outcome>(READER, folder, () => {
      writeSync(file, whole, 0, whole.length, 0);
    });
  }

  /** Which rows are on which pages: those that change when the page is not one any more. */
  async findRows(): Promise<void> {
    const intact = await this.#reader.run(encodeReading({ patches: [] }));
    if (typeof intact === 'string' || intact.changed.length > 0 || intact.fault !== undefined) {
      throw new Error(`a whole store is not read: ${JSON.stringify(intact)}`);
    }
    this.#knownRows = intact.known;
    const pages = [...this.#pages].flatMap(([kind, numbers]) =>
      kind === 'meta' || kind === 'rest' ? [] : numbers.map((page) => ({ kind, page })),
    );
    const probes = pages.map(async ({ kind, page }) => {
      const start = page * PAGE_BYTES;
      const bytes = Buffer.from(this.#whole.subarray(start, start + PAGE_BYTES));
      // The engine refuses pages of no kind, and does not look at the kind of those that hold a large value.
      if (kind === 'overflow') bytes.fill(0x55, FLAGS_AT + 6);
      else bytes.writeUInt16LE(0, FLAGS_AT);
      const how = await this.#reader.run(encodeReading({ patches: [{ at: start, bytes }] }));
      if (typeof how !== 'string') this.#rowsOf.set(page, how.changed);
    });
    await Promise.all(probes);
  }

  make(random: Random): Buffer {
    const page = random.pick(this.#pages.get(random.pick(this.#kinds))!);
    const start = page * PAGE_BYTES;
    const patches: Patch[] = [];
    const count = random.pick([1, 1, 1, 2, 8]);
    for (let made = 0; made < count; made += 1) {
      const what = random.below(8);
      if (what === 0) {
        const other = random.below(this.#whole.length / PAGE_BYTES) * PAGE_BYTES;
        const half = random.pick([0, PAGE_BYTES / 2]);
        const bytes = this.#whole.subarray(other + half, other + PAGE_BYTES);
        patches.push({ at: start + half, bytes });
      } else {
        // Headers and the offsets behind them matter most.
        const at = start + random.below(random.pick([24, 24, 200, PAGE_BYTES]));
        patches.push({ at, bytes: random.bytes(random.pick([1, 1, 2, 8, 512])) });
      }
    }
    return encodeReading({ rows: this.#rowsFor(page, random), patches });
  }

  #rowsFor(page: number, random: Random): number[] {
    const onPage = this.#rowsOf.get(page) ?? [];
    const rows = Array.from({ length: OTHER_ROWS }, () => random.below(this.#knownRows));
    for (let made = 0; made < ROWS_OF_PAGE && onPage.length > 0; made += 1) {
      rows.unshift(random.pick(onPage));
    }
    return rows;
  }

  async run(input: Buffer): Promise<void> {
    const how = await this.#reader.run(input);
    const what = typeof how === 'string' ? how : told(how);
    const name = `${this.#kindOf(input)}_${what}`;
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
    if (what === 'SIGKILL') throw new Finding('a read of damaged pages never ends');
  }

  #kindOf(input: Buffer): string {
    const [first] = decodeReading(input, this.#whole.length).patches;
    const page = Math.floor((first?.at ?? 0) / PAGE_BYTES);
    return [...this.#pages].find(([, pages]) => pages.includes(page))?.[0] ?? 'other';
  }

  facts(): Readonly<Record<string, number>> {
    const mapped = [...this.#rowsOf.values()].filter((rows) => rows.length > 0).length;
    return { rows: this.#knownRows, pages_with_rows: mapped, ...this.#counts };
  }

  async close(): Promise<void> {
    this.#reader.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** @throws Finding for an error that is not of damage */
function told({ changed, refused, fault }: Outcome): string {
  if (fault !== undefined) throw new Finding(fault);
  if (refused > 0) return 'refused';
  return changed.length === 0 ? 'harmless' : 'unnoticed';
}
