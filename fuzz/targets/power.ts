/**
 * Power cuts at every write of a ledger's commits. Synced writes survive. Of unsynced writes any part may survive: a
 * prefix up to any byte, some of the writes, or some of their sectors. No acknowledged version may be lost, and the
 * remaining ledger must verify, also after another commit.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serialize } from 'node:v8';
import { storeFileOf } from '../../src/store/sqlite/files.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Random } from '../../test/random.ts';
import { BatchedChild } from '../batched-child.ts';
import type { CutOutcome, Recorded } from '../child/cut-checker.ts';
import { memoryFolder } from '../memory-folder.ts';
import { ALL_BEFORE, ANY_OF_THEM, ANY_SECTORS, encodeCut, UP_TO_A_BYTE } from '../recorded-file.ts';
import { recordWrites } from '../recorded-writes.ts';
import { Finding, type OpenTarget, type Target } from '../target.ts';

const WRITER = fileURLToPath(new URL('../child/recorded-writer.ts', import.meta.url));
const CHECKER = fileURLToPath(new URL('../child/cut-checker.ts', import.meta.url));
const LOADER = fileURLToPath(new URL('../../scripts/run-typescript.mjs', import.meta.url));
const PARALLEL = 64;
/** One in this many of the remaining ledgers is continued. */
const CONTINUED_SHARE = 8;

export const powerTarget: Target = {
  name: 'power',
  about: 'power cuts at every write of a commit (needs strace)',
  open: openPower,
};

async function openPower(seed: number): Promise<OpenTarget> {
  const folder = memoryFolder('daybook-power-');
  const made = join(folder, 'made');
  await (await openSqliteStore({ directory: made })).close();
  const files = [storeFileOf(made), `${storeFileOf(made)}-wal`];
  const before = files.map((path) => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0)));
  const command = [process.execPath, '--import', LOADER, WRITER, made, String(seed)];
  const events = recordWrites(command, files, join(made, 'acknowledged'), join(folder, 'trace'));
  rmSync(join(folder, 'trace'));
  const recorded: Recorded = { seed, before, events };
  writeFileSync(join(folder, 'recorded'), serialize(recorded));
  return new PowerTarget(folder, events.length);
}

class PowerTarget implements OpenTarget {
  readonly parallel = PARALLEL;
  readonly #folder: string;
  readonly #events: number;
  readonly #checker: BatchedChild<CutOutcome>;
  readonly #versions = new Set<string>();
  #next = 0;
  #verified = 0;

  constructor(folder: string, events: number) {
    this.#folder = folder;
    this.#events = events;
    this.#checker = new BatchedChild<CutOutcome>(CHECKER, folder);
  }

  /** First a cut after every event in order, then random cuts. */
  make(random: Random): Buffer {
    const count = this.#events + 1;
    const isInOrder = this.#next < count;
    const after = isInOrder ? this.#next : random.below(count);
    this.#next += 1;
    const how = isInOrder ? ALL_BEFORE : random.pick([UP_TO_A_BYTE, ANY_OF_THEM, ANY_SECTORS]);
    const isContinued = random.below(CONTINUED_SHARE) === 0;
    return encodeCut({ after, how, isContinued, seed: random.below(2 ** 31) });
  }

  async run(input: Buffer): Promise<void> {
    const outcome = await this.#checker.run(input);
    if (typeof outcome === 'string') throw new Finding(`the process ended: ${outcome}`);
    const { version, acknowledged, verified, fault } = outcome;
    if (fault !== undefined) throw new Finding(fault);
    if (BigInt(version) < BigInt(acknowledged)) {
      throw new Finding(`version ${version} is left, acknowledged ${acknowledged}`);
    }
    this.#versions.add(version);
    this.#verified = verified;
  }

  facts(): Readonly<Record<string, number>> {
    const versions = this.#versions.size;
    return { events: this.#events, versions_left: versions, ledgers_verified: this.#verified };
  }

  async close(): Promise<void> {
    this.#checker.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
