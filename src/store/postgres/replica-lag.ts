/** How far servers are behind the newest head that this process knows. No clocks are compared. */
import type { Head } from '../columns/head.ts';
import { isOlder, type Standing } from './host.ts';

/** Heads that are remembered: with a look every quarter of a second, of about half a minute and more. */
const MAX_HEADS = 128;

interface KnownHead {
  readonly head: Head;
  /** When it was first known, as `performance.now()` gives it. */
  readonly sinceMs: number;
}

export class ReplicaLag {
  /** Oldest first, each newer than the one before. */
  readonly #heads: KnownHead[] = [];
  /** The newest look at a server that is written. */
  #written: Standing | undefined;

  note(standing: Standing): void {
    const { head, isStandby, askedMs } = standing;
    if (!isStandby) this.#written = standing;
    if (head === undefined || !isOlder(this.#heads.at(-1)?.head, head)) return;
    this.#heads.push({ head, sinceMs: askedMs });
    if (this.#heads.length > MAX_HEADS) this.#heads.shift();
  }

  /** How far a head is behind. */
  of(head: Head | undefined): { readonly behindVersions: bigint; readonly behindMs: number } {
    const newest = this.#heads.at(-1);
    if (newest === undefined || !isOlder(head, newest.head)) {
      return { behindVersions: 0n, behindMs: 0 };
    }
    const missing = this.#heads.find((known) => isOlder(head, known.head))!;
    return {
      behindVersions: newest.head.version - (head?.version ?? -1n),
      behindMs: performance.now() - missing.sinceMs,
    };
  }

  /** How long ago a head is known to have been the newest, in milliseconds; Infinity when that is not known. */
  unconfirmedMs(head: Head | undefined): number {
    const written = this.#written;
    if (written === undefined || isOlder(head, written.head)) return Infinity;
    return performance.now() - written.askedMs;
  }
}
