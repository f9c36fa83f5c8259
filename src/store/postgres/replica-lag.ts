/** How far servers are behind the newest head that this process knows. No clocks are compared. */
import type { Head } from '../columns/head.ts';
import { isOlder, type Standing } from './host.ts';

/** Looks that are remembered, and heads: with a look every quarter of a second, of about half a minute and more. */
const MAX_LOOKS = 128;

interface KnownHead {
  readonly head: Head;
  /** When it was first known, as `performance.now()` gives it. */
  readonly sinceMs: number;
}

export class ReplicaLag {
  /** Oldest first, each newer than the one before. */
  readonly #heads: KnownHead[] = [];
  /** Looks at a server that is written; the newest last. */
  readonly #written: Standing[] = [];

  note(standing: Standing): void {
    const { head, isStandby, askedMs } = standing;
    if (!isStandby) this.#written.push(standing);
    if (this.#written.length > MAX_LOOKS) this.#written.shift();
    if (head === undefined || !isOlder(this.#heads.at(-1)?.head, head)) return;
    this.#heads.push({ head, sinceMs: askedMs });
    if (this.#heads.length > MAX_LOOKS) this.#heads.shift();
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
    // Under load a standby is always a little behind: what it has was the newest a moment ago.
    const confirming = this.#written.findLast((written) => !isOlder(head, written.head));
    return confirming === undefined ? Infinity : performance.now() - confirming.askedMs;
  }
}
