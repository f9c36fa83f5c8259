/**
 * A verified page in the form that passes between threads: the bytes as received, and the places of each version's
 * parts in them. Both threads run the same program.
 */
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import type { LedgerIdentity } from '../../store/columns/identity-column.ts';
import { VersionParts } from '../version-parts.ts';

/** A place in a page where a block ends, and the accumulator there. */
export interface PageCut {
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
  /** The places of all versions, one after the other: see `versionPlaces`. */
  readonly places: Uint32Array<ArrayBuffer>;
  /** Where the last block that begins in the page begins (and the previous one ends); absent if none begins here. */
  readonly lastBlockStart: PageCut | undefined;
  readonly end: PageCut;
  /** Whether a block ends with the last version. */
  readonly endsBlock: boolean;
  /** Present if the page contains version 0. */
  readonly identity: VerifiedIdentity | undefined;
  readonly decodeMs: number;
  readonly hashMs: number;
}

export function versionsOf(page: VerifiedPage, keepsTransactions: boolean): VersionParts[] {
  const bytes = Buffer.from(page.bytes.buffer, page.bytes.byteOffset, page.bytes.byteLength);
  const versions: VersionParts[] = [];
  let at = 0;
  for (let index = 0; index < page.count; index += 1) {
    const version = new VersionParts(bytes, page.places, at, keepsTransactions);
    versions.push(version);
    at = version.end;
  }
  return versions;
}

export function frozenRootsOf({ frozenRoots }: PageCut): Buffer[] {
  const roots: Buffer[] = [];
  for (let at = 0; at < frozenRoots.length; at += HASH_BYTES) {
    roots.push(Buffer.from(frozenRoots.subarray(at, at + HASH_BYTES)));
  }
  return roots;
}
