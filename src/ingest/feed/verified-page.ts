/**
 * A verified page in the form that passes between threads: the bytes as they came, and where the parts of each version
 * are in them. Both sides are the same program.
 */
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import type { EncodedOnChainData } from '../../move/transactions/transaction.ts';
import type { LedgerIdentity } from '../../store/columns/identity-column.ts';
import type { EncodedVersion } from '../chunk-builder.ts';

/** A place in a page where a block ends, and the accumulator there. */
export interface PageCut {
  /** Versions of the page before the place. */
  readonly count: number;
  /** Full subtrees of the transaction accumulator there, largest first, 32 bytes each, one after the other. */
  readonly frozenRoots: Uint8Array<ArrayBuffer>;
}

export type VerifiedIdentity = Omit<LedgerIdentity, 'keepsTransactions'>;

/** A page whose every byte is covered by its accumulator roots. */
export interface VerifiedPage {
  readonly firstVersion: bigint;
  readonly count: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** For each version: item from and to, info from and to, changes from and to, event count, events from, each to. */
  readonly spans: Uint32Array<ArrayBuffer>;
  /** Where the last block that begins in the page begins (and the previous one ends); absent if none begins here. */
  readonly lastBlockStart: PageCut | undefined;
  readonly end: PageCut;
  /** Whether the last version is one that only ends a block. */
  readonly endsBlock: boolean;
  /** With version 0. */
  readonly identity: VerifiedIdentity | undefined;
  readonly decodeMs: number;
  readonly hashMs: number;
}

/** Appends the spans of one version; its parts are views on the page that begins at `pageOffset` of their buffer. */
export function addSpans(
  spans: number[],
  bytes: EncodedOnChainData['bytes'],
  pageOffset: number,
): void {
  const { whole, info, changes, events } = bytes;
  for (const part of [whole, info, changes]) {
    const start = part.byteOffset - pageOffset;
    spans.push(start, start + part.length);
  }
  spans.push(events.length, (events[0]?.byteOffset ?? pageOffset) - pageOffset);
  for (const event of events) spans.push(event.byteOffset - pageOffset + event.length);
}

/** The versions of a page, as views on its bytes. */
export function versionsOf(page: VerifiedPage, keepsTransactions: boolean): EncodedVersion[] {
  const { spans } = page;
  const bytes = Buffer.from(page.bytes.buffer, page.bytes.byteOffset, page.bytes.byteLength);
  const versions: EncodedVersion[] = [];
  let at = 0;
  const next = (): number => {
    at += 1;
    return spans[at - 1]!;
  };
  const part = (): Buffer => bytes.subarray(next(), next());
  for (let index = 0; index < page.count; index += 1) {
    const item = part();
    const info = part();
    const writeSet = part();
    const eventCount = next();
    const events: Buffer[] = [];
    let start = next();
    for (let event = 0; event < eventCount; event += 1) {
      const end = next();
      events.push(bytes.subarray(start, end));
      start = end;
    }
    versions.push({ info, events, writeSet, transaction: keepsTransactions ? item : undefined });
  }
  return versions;
}

/** The roots of a cut as the store takes them. */
export function frozenRootsOf({ frozenRoots }: PageCut): Buffer[] {
  const roots: Buffer[] = [];
  for (let at = 0; at < frozenRoots.length; at += HASH_BYTES) {
    roots.push(Buffer.from(frozenRoots.subarray(at, at + HASH_BYTES)));
  }
  return roots;
}
