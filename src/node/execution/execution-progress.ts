/** How far a ledger was run again: a small file, so that a killed command resumes where it was. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import type { BatchResult, VersionRange } from '../../verify/execution/batch.ts';
import type { Difference } from '../../verify/execution/replay.ts';
import { NodeError } from '../node-error.ts';
import { bytesOfFile } from '../verification/run-file.ts';

/** Differences that are kept and listed; all are counted. */
const MAX_LISTED = 100;
const INDENT = 2;

/** Identifies program and ledger; progress of any other is ignored. */
interface Subject {
  /** The version of this program. */
  readonly program: string;
  /** The hash of the ledger's genesis waypoint, in hex. */
  readonly genesis: string;
}

interface Counts {
  /** Versions with a different outcome, and different roots. */
  different: number;
  /** Versions that this node cannot execute. */
  open: number;
  /** Transactions whose signatures could not be verified. */
  unverified: number;
  stateRoots: number;
}

export class ExecutionProgress {
  readonly #file: string | undefined;
  readonly #subject: Subject;
  /** Ascending, with a gap after each. */
  #done: VersionRange[] = [];
  readonly listed: Difference[] = [];
  readonly counts: Counts = { different: 0, open: 0, unverified: 0, stateRoots: 0 };
  /** The version up to which roots of state were compared; absent: none yet. */
  rootsUpTo: bigint | undefined;

  /** @param file absent: progress is not kept */
  constructor(file: string | undefined, subject: Subject) {
    this.#file = file;
    this.#subject = subject;
    const content = file === undefined ? undefined : bytesOfFile(file);
    const saved = content === undefined ? undefined : parseSaved(content);
    if (saved === undefined || text(saved.subject) !== text(subject)) return;
    this.#done = saved.done.map(([first, last]) => ({ first: BigInt(first), last: BigInt(last) }));
    this.rootsUpTo = saved.rootsUpTo === null ? undefined : BigInt(saved.rootsUpTo);
    Object.assign(this.counts, saved.counts);
    this.listed.push(...saved.differences.map((one) => ({ ...one, version: BigInt(one.version) })));
  }

  *remaining({ first: begin, last }: VersionRange, maxVersions: bigint): Generator<VersionRange> {
    let first = begin;
    for (const done of [...this.#done, { first: last + 1n, last }]) {
      for (; first < done.first; first += maxVersions) {
        const end =
          first + maxVersions - 1n < done.first ? first + maxVersions - 1n : done.first - 1n;
        yield { first, last: end };
      }
      if (done.last >= first) first = done.last + 1n;
    }
  }

  addBatch({ first, last, differences, unverified }: BatchResult): void {
    this.counts.unverified += unverified;
    for (const difference of differences) this.addDifference(difference);
    const merged: VersionRange[] = [];
    const all = [...this.#done, { first, last }];
    all.sort((left, right) => (left.first < right.first ? -1 : 1));
    for (const range of all) {
      const before = merged.at(-1);
      if (before !== undefined && before.last + 1n === range.first) {
        merged[merged.length - 1] = { first: before.first, last: range.last };
      } else merged.push(range);
    }
    this.#done = merged;
  }

  addDifference(difference: Difference): void {
    if (difference.isOpen) this.counts.open += 1;
    else this.counts.different += 1;
    if (this.listed.length < MAX_LISTED) this.listed.push(difference);
  }

  save(): void {
    if (this.#file === undefined) return;
    const saved = {
      subject: this.#subject,
      done: this.#done.map(({ first, last }) => [first, last]),
      rootsUpTo: this.rootsUpTo ?? null,
      counts: this.counts,
      differences: this.listed,
    };
    const unfinished = `${this.#file}.new`;
    writeFileSync(unfinished, `${text(saved)}\n`);
    renameSync(unfinished, this.#file);
  }

  /** Removes the file: all is done. */
  finish(): void {
    if (this.#file !== undefined) rmSync(this.#file, { force: true });
  }
}

interface Saved {
  readonly subject: Subject;
  readonly done: readonly (readonly [first: string, last: string])[];
  readonly rootsUpTo: string | null;
  readonly counts: Counts;
  readonly differences: readonly (Omit<Difference, 'version'> & { readonly version: string })[];
}

/**
 * Checks a file that a user names, which progress would replace.
 * @throws NodeError `bad_input` for other content or another ledger, `file_not_readable`
 */
export function assertReplaceable(file: string, genesis: string): void {
  const content = bytesOfFile(file);
  if (content === undefined) return;
  const saved = parseSaved(content);
  if (saved?.subject.genesis === genesis) return;
  const found =
    saved === undefined ? 'is not progress of verify --execute' : 'is of another ledger';
  const message = `${file} ${found}: name another file, or delete it`;
  throw new NodeError('bad_input', message, { exitCode: 2 });
}

/** @returns `undefined` for anything other than progress */
function parseSaved(content: Buffer): Saved | undefined {
  try {
    const saved = JSON.parse(content.toString('utf8')) as Partial<Saved> | null;
    const isSaved = typeof saved?.subject?.genesis === 'string' && Array.isArray(saved.done);
    return isSaved ? (saved as Saved) : undefined;
  } catch {
    return undefined;
  }
}

function text(value: unknown): string {
  const plain = (_name: string, part: unknown) => (typeof part === 'bigint' ? String(part) : part);
  return JSON.stringify(value, plain, INDENT);
}
