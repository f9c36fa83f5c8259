/**
 * A store whose file has damaged pages: flipped bytes, pages torn and mixed up, of every kind. Reads are refused or give
 * rows; a page that takes the process down is counted, a hang or another error is a finding.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Committer } from '../../src/ingest/committer.ts';
import { sampleChunks } from '../../src/sample/sample.ts';
import { PAGE_BYTES } from '../../src/store/lmdb/lmdb-file.ts';
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import type { Random } from '../../test/random.ts';
import type { Outcome } from '../child/page-reader.ts';
import { Finding, type OpenTarget, type Target } from '../target.ts';

const READER = fileURLToPath(new URL('../child/page-reader.ts', import.meta.url));
const LOADER = fileURLToPath(new URL('../run-typescript.mjs', import.meta.url));
const TRANSACTIONS = 150;
/** A read of all pages takes milliseconds; a process that is silent for this long, in milliseconds, hangs. */
const HANG_MS = 10_000;
/** Metas are pages 0 and 1. */
const META_PAGES = 2;
const FLAGS_AT = 18;
const KINDS: readonly (readonly [flag: number, kind: string])[] = [
  [1, 'branch'],
  [2, 'leaf'],
  [4, 'overflow'],
];

/** Bytes that are written over others. */
interface Patch {
  readonly at: number;
  readonly bytes: Buffer;
}

export const pagesTarget: Target = {
  name: 'pages',
  about: 'stores with flipped, torn and exchanged pages',
  open: openPages,
};

async function openPages(seed: number): Promise<OpenTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-pages-'));
  await makeLedger(folder, seed);
  const file = join(folder, 'data.mdb');
  const whole = readFileSync(file);
  const target = new PagesTarget(folder, file, whole);
  return target;
}

async function makeLedger(folder: string, seed: number): Promise<void> {
  const store = await openLmdbStore({ directory: folder });
  const writer = await LedgerWriter.open(store);
  const contents = { seed, transactions: TRANSACTIONS, accounts: 20 };
  await new Committer(writer).pushAll(sampleChunks(contents));
  await store.close();
}

function pagesByKind(whole: Buffer): ReadonlyMap<string, readonly number[]> {
  const pages = new Map<string, number[]>([['meta', [0, 1]]]);
  for (let page = META_PAGES; page * PAGE_BYTES < whole.length; page += 1) {
    const start = page * PAGE_BYTES;
    const isNumbered = whole.readBigUInt64LE(start) === BigInt(page);
    const flags = whole.readUInt16LE(start + FLAGS_AT);
    const kind = isNumbered ? KINDS.find(([flag]) => (flags & flag) !== 0) : undefined;
    const name = kind?.[1] ?? 'rest';
    pages.set(name, [...(pages.get(name) ?? []), page]);
  }
  return pages;
}

class PagesTarget implements OpenTarget {
  readonly #folder: string;
  readonly #file: number;
  readonly #whole: Buffer;
  readonly #pages: ReadonlyMap<string, readonly number[]>;
  readonly #counts: Record<string, number> = {};
  #sameRows = 0;
  #reader: ChildProcess | undefined;

  constructor(folder: string, path: string, whole: Buffer) {
    this.#folder = folder;
    this.#file = openSync(path, 'r+');
    this.#whole = whole;
    this.#pages = pagesByKind(whole);
  }

  /** Patches, one after the other: position u32, length u16, bytes. */
  make(random: Random): Buffer {
    const kinds = [...this.#pages.keys()];
    const page = random.pick(this.#pages.get(random.pick(kinds))!);
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
    return Buffer.concat(
      patches.flatMap(({ at, bytes }) => {
        const head = Buffer.alloc(6);
        head.writeUInt32LE(at, 0);
        head.writeUInt16LE(bytes.length, 4);
        return [head, bytes];
      }),
    );
  }

  async run(input: Buffer): Promise<void> {
    const kind = this.#kindOf(input);
    let how = await this.#read(input);
    // What an earlier page has done to the memory of the process says nothing about this one.
    if (typeof how === 'string') how = await this.#read(input);
    const what = typeof how === 'string' ? how : this.#told(how);
    const name = `${kind}_${what}`;
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
    if (what === 'SIGKILL') throw new Finding('a read of damaged pages never ends');
  }

  #told({ same, refused, fault }: Outcome): string {
    if (fault !== undefined) throw new Finding(fault);
    if (refused > 0) return 'refused';
    return same === this.#sameRows ? 'harmless' : 'unnoticed';
  }

  #kindOf(input: Buffer): string {
    const page = Math.floor((input.readUInt32LE(0) % this.#whole.length) / PAGE_BYTES);
    return [...this.#pages].find(([, pages]) => pages.includes(page))?.[0] ?? 'other';
  }

  /** What a process says that reads the damaged file, or how it ends. */
  async #read(input: Buffer): Promise<Outcome | string> {
    this.#reader ??= await this.#start();
    const reader = this.#reader;
    const patches = patchesOf(input, this.#whole.length);
    for (const { at, bytes } of patches) writeSync(this.#file, bytes, 0, bytes.length, at);
    try {
      const how = await this.#answer(reader);
      if (typeof how === 'string') this.#reader = undefined;
      return how;
    } finally {
      for (const { at, bytes } of patches) {
        writeSync(this.#file, this.#whole, at, bytes.length, at);
      }
    }
  }

  #answer(reader: ChildProcess): Promise<Outcome | string> {
    return new Promise((resolve) => {
      const timeout = setTimeout(() => reader.kill('SIGKILL'), HANG_MS);
      const end = (how: Outcome | string): void => {
        clearTimeout(timeout);
        reader.removeAllListeners();
        resolve(how);
      };
      reader.once('message', (outcome) => end(outcome as Outcome));
      reader.once('exit', (code, signal) => end(signal ?? `code_${code}`));
      reader.send('read');
    });
  }

  async #start(): Promise<ChildProcess> {
    const reader = fork(READER, [this.#folder], {
      execArgv: ['--import', LOADER],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    await once(reader, 'message');
    const whole = await this.#answer(reader);
    if (typeof whole === 'string') throw new Error(`a whole store is not read: ${whole}`);
    this.#sameRows = whole.same;
    return reader;
  }

  facts(): Readonly<Record<string, number>> {
    return this.#counts;
  }

  async close(): Promise<void> {
    this.#reader?.kill('SIGKILL');
    closeSync(this.#file);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function patchesOf(input: Buffer, fileBytes: number): Patch[] {
  const patches: Patch[] = [];
  for (let at = 0; at + 6 < input.length; ) {
    const position = input.readUInt32LE(at) % fileBytes;
    const bytes = input.subarray(at + 6, at + 6 + input.readUInt16LE(at + 4));
    patches.push({ at: position, bytes: bytes.subarray(0, fileBytes - position) });
    at += 6 + bytes.length;
  }
  return patches;
}
