/**
 * Power cuts at every write of the commits of a ledger: what was synced is there, of what was not any part, pages torn.
 * No acknowledged version is lost, and what is left verifies.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Random } from '../../test/random.ts';
import { Random as SeededRandom } from '../../test/random.ts';
import type { CutOutcome } from '../child/cut-checker.ts';
import { recordWrites, type WriteEvent } from '../recorded-writes.ts';
import { Finding, type OpenTarget, type Target } from '../target.ts';

const WRITER = fileURLToPath(new URL('../child/recorded-writer.ts', import.meta.url));
const CHECKER = fileURLToPath(new URL('../child/cut-checker.ts', import.meta.url));
const LOADER = fileURLToPath(new URL('../run-typescript.mjs', import.meta.url));
/** What a disk writes whole, in bytes. */
const SECTOR_BYTES = 512;
const HANG_MS = 60_000;

/** What of the writes that were not synced is on the disk. */
const ALL_BEFORE = 0;
const ANY_OF_THEM = 1;
const ANY_SECTORS = 2;

export const powerTarget: Target = {
  name: 'power',
  about: 'power cuts at every write of a commit (needs strace)',
  open: openPower,
};

async function openPower(seed: number): Promise<OpenTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-power-'));
  const made = join(folder, 'made');
  mkdirSync(made);
  const command = [process.execPath, '--import', LOADER, WRITER, made, String(seed)];
  const [data, acknowledged] = [join(made, 'data.mdb'), join(made, 'acknowledged')];
  const events = recordWrites(command, data, acknowledged, join(folder, 'trace'));
  return new PowerTarget(folder, events);
}

class PowerTarget implements OpenTarget {
  readonly #folder: string;
  readonly #events: readonly WriteEvent[];
  readonly #left: string;
  readonly #versions = new Set<string>();
  #next = 0;
  #checker: ChildProcess | undefined;

  constructor(folder: string, events: readonly WriteEvent[]) {
    this.#folder = folder;
    this.#events = events;
    this.#left = join(folder, 'left');
    mkdirSync(this.#left);
  }

  /** After which event the power goes u32, what is left of unsynced writes, seed u32: every event in order, then any. */
  make(random: Random): Buffer {
    const input = Buffer.alloc(9);
    const count = this.#events.length + 1;
    const after = this.#next < count ? this.#next : random.below(count);
    input.writeUInt32LE(after);
    input[4] = this.#next < count ? ALL_BEFORE : random.pick([ANY_OF_THEM, ANY_SECTORS]);
    input.writeUInt32LE(random.below(2 ** 31), 5);
    this.#next += 1;
    return input;
  }

  async run(input: Buffer): Promise<void> {
    const after = input.readUInt32LE(0) % (this.#events.length + 1);
    const random = new SeededRandom(input.readUInt32LE(5));
    const { file, acknowledged } = this.#cut(after, input[4]! % 3, random);
    const data = join(this.#left, 'data.mdb');
    rmSync(join(this.#left, 'lock.mdb'), { force: true });
    if (file.length === 0) rmSync(data, { force: true });
    else writeFileSync(data, file);
    const outcome = await this.#examine();
    if (typeof outcome === 'string') throw new Finding(`the process ended: ${outcome}`);
    if (outcome.fault !== undefined) throw new Finding(`after ${after}: ${outcome.fault}`);
    if (BigInt(outcome.version) < acknowledged) {
      throw new Finding(`after ${after}: version ${outcome.version}, acknowledged ${acknowledged}`);
    }
    this.#versions.add(outcome.version);
  }

  /** The file as it is on the disk. */
  #cut(after: number, how: number, random: SeededRandom) {
    let file = Buffer.alloc(0);
    let acknowledged = -1n;
    let unsynced: { readonly at: number; readonly bytes: Buffer }[] = [];
    const apply = (at: number, bytes: Buffer): void => {
      const end = at + bytes.length;
      if (end > file.length) file = Buffer.concat([file], end);
      bytes.copy(file, at);
    };
    for (const event of this.#events.slice(0, after)) {
      if (event.kind === 'acknowledged') acknowledged = event.version;
      else if (event.kind === 'sync') {
        for (const { at, bytes } of unsynced) apply(at, bytes);
        unsynced = [];
      } else if (event.isSynced) apply(event.at, event.bytes);
      else unsynced.push(event);
    }
    for (const { at, bytes } of unsynced) {
      if (how === ALL_BEFORE) apply(at, bytes);
      else if (how === ANY_OF_THEM) {
        if (random.below(2) === 0) apply(at, bytes);
      } else {
        for (let from = 0; from < bytes.length; from += SECTOR_BYTES) {
          const sector = bytes.subarray(from, from + SECTOR_BYTES);
          if (random.below(2) === 0) apply(at + from, sector);
        }
      }
    }
    return { file, acknowledged };
  }

  async #examine(): Promise<CutOutcome | string> {
    if (this.#checker === undefined) {
      this.#checker = fork(CHECKER, [this.#left], {
        execArgv: ['--import', LOADER],
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      await once(this.#checker, 'message');
    }
    const checker = this.#checker;
    const how = await new Promise<CutOutcome | string>((resolve) => {
      const timeout = setTimeout(() => checker.kill('SIGKILL'), HANG_MS);
      const end = (outcome: CutOutcome | string): void => {
        clearTimeout(timeout);
        checker.removeAllListeners();
        resolve(outcome);
      };
      checker.once('message', (outcome) => end(outcome as CutOutcome));
      checker.once('exit', (code, signal) => end(signal ?? `code ${code}`));
      checker.send('examine');
    });
    if (typeof how === 'string') this.#checker = undefined;
    return how;
  }

  facts(): Readonly<Record<string, number>> {
    return { events: this.#events.length, versions_left: this.#versions.size };
  }

  async close(): Promise<void> {
    this.#checker?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
