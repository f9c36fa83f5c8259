/**
 * One writer per store. The lock is a row of the environment itself, taken inside a write transaction, which LMDB
 * grants to one process at a time, so two processes cannot both take the lock. A lock left by a process that died is
 * taken over. Should that judgement ever be wrong (two containers that do not see each other's processes), the one
 * that lost the lock still cannot write: every commit is conditional on the lock being its own.
 *
 * The holder is named so that a later process can tell whether it still lives. The system uses a process id again; with
 * the start time it is unique until the next boot.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Database, RootDatabase } from 'lmdb';
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { StoreError } from '../store-error.ts';

export const LOCK_DATABASE = 'writer';
const LOCK_KEY = Buffer.from('lock', 'ascii');
const MAX_TOKEN = 2 ** 47;

/** The writer lock of a store, until it is released or taken over. */
export class LmdbWriterLock {
  readonly #database: Database<Buffer, Buffer>;
  readonly #token: number;

  private constructor(database: Database<Buffer, Buffer>, token: number) {
    this.#database = database;
    this.#token = token;
  }

  /** Removes the lock from a copy, which has the one of its source. */
  static clear(root: RootDatabase<never, string>): void {
    const database = openLockDatabase(root);
    database.transactionSync(() => database.removeSync(LOCK_KEY));
  }

  /** Takes the lock. @throws StoreError `store_locked` when a living process holds it. */
  static acquire(root: RootDatabase<never, string>, where: string): LmdbWriterLock {
    const database = openLockDatabase(root);
    const token = randomInt(1, MAX_TOKEN);
    database.transactionSync(() => {
      const held = database.get(LOCK_KEY);
      if (held !== undefined) {
        const holder = decodeProcessIdentity(held);
        if (isRunning(holder)) throw lockedBy(holder.pid, where);
      }
      database.putSync(LOCK_KEY, encodeProcessIdentity(ownIdentity()), token);
    });
    return new LmdbWriterLock(database, token);
  }

  /**
   * Runs `changes`, which only puts and removes, as one commit on the engine's own thread.
   * @returns false if another process has the lock; then nothing was stored.
   */
  commit(changes: () => void): Promise<boolean> {
    return this.#database.ifVersion(LOCK_KEY, this.#token, changes);
  }

  /** Checks that the environment can still begin a transaction; throws the engine's error if not. */
  probe(): void {
    this.#database.transactionSync(() => undefined);
  }

  /** Releases the lock, unless another process holds it by now. */
  release(): void {
    this.#database.transactionSync(() => {
      if (this.#database.getEntry(LOCK_KEY)?.version === this.#token) {
        this.#database.removeSync(LOCK_KEY);
      }
    });
  }
}

function openLockDatabase(root: RootDatabase<never, string>): Database<Buffer, Buffer> {
  return root.openDB({
    name: LOCK_DATABASE,
    encoding: 'binary',
    keyEncoding: 'binary',
    useVersions: true,
  });
}

function lockedBy(pid: number, where: string): StoreError {
  const remedy = 'stop it first, or open the store for reading';
  const message = `${where} is being written by process ${pid}: ${remedy}`;
  return new StoreError('store_locked', message, { pid });
}

/** A process of this machine. The texts are empty where the system does not give them. */
interface ProcessIdentity {
  readonly pid: number;
  /** Differs after every boot. */
  readonly bootId: string;
  /** When the process started, in the kernel's ticks since boot. */
  readonly startTicks: string;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, bootId: bootId(), startTicks: statusOf(process.pid).startTicks };
}

export function encodeProcessIdentity(identity: ProcessIdentity): Buffer {
  return encodeBcs((writer) =>
    writer.u32(identity.pid).string(identity.bootId).string(identity.startTicks),
  );
}

/** @throws BcsError */
export function decodeProcessIdentity(bytes: Uint8Array): ProcessIdentity {
  const reader = new BcsReader(bytes);
  const pid = reader.u32();
  const identity = { pid, bootId: reader.string(), startTicks: reader.string() };
  reader.finish();
  return identity;
}

/** Whether a process still runs. If unknown, the answer is yes. */
export function isRunning(identity: ProcessIdentity): boolean {
  const boot = bootId();
  if (boot !== '' && identity.bootId !== '' && boot !== identity.bootId) return false;
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    // EPERM: it runs, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const { state, startTicks: started } = statusOf(identity.pid);
  // A process that was killed stays in the table until its parent has collected it; it never writes again.
  if (DEAD_STATES.includes(state)) return false;
  return started === '' || identity.startTicks === '' || started === identity.startTicks;
}

function bootId(): string {
  return readSystemFile('/proc/sys/kernel/random/boot_id').trim();
}

const DEAD_STATES: readonly string[] = ['Z', 'X', 'x'];

/** Fields 3 and 22 of the process's stat file; the name before them may contain spaces and parentheses. */
function statusOf(pid: number): { readonly state: string; readonly startTicks: string } {
  const stat = readSystemFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startTicks: fields[19] ?? '' };
}

function readSystemFile(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
