/**
 * From proven pages to chunks that end where blocks end: a ledger that only ever holds whole blocks answers questions
 * about its newest block as the upstream would.
 */
import type { Chunk } from '../../store/chunk.ts';
import type { LedgerIdentity } from '../../store/columns/identity-column.ts';
import { ChunkBuilder, type EncodedVersion } from '../chunk-builder.ts';
import { frozenRootsOf, type PageCut, type ProvenPage, versionsOf } from './proven-page.ts';

/** Versions of a block that are waited for; a longer block is committed in parts. */
export const MAX_WAITING_TRANSACTIONS = 20_000;
/** Bytes of a block that are waited for. */
export const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** How much of a block is waited for. */
export interface WaitingLimits {
  readonly maxTransactions: number;
  readonly maxBytes: number;
}

const DEFAULT_LIMITS: WaitingLimits = {
  maxTransactions: MAX_WAITING_TRANSACTIONS,
  maxBytes: MAX_WAITING_BYTES,
};

/** Collects proven pages that follow one another. */
export class ChunkAssembler {
  readonly #keepsTransactions: boolean;
  readonly #limits: WaitingLimits;
  #builder: ChunkBuilder;
  #frozenRoots: readonly Buffer[] = [];
  #identity: LedgerIdentity | undefined;
  #completeBytes = 0;
  /** Versions after the last place where a block is known to end. */
  #waiting: EncodedVersion[] = [];
  #waitingBytes = 0;
  #lastEnd: PageCut | undefined;

  constructor(nextVersion: bigint, keepsTransactions: boolean, limits = DEFAULT_LIMITS) {
    this.#limits = limits;
    this.#keepsTransactions = keepsTransactions;
    this.#builder = new ChunkBuilder(nextVersion);
  }

  /** Versions of whole blocks, ready to be a chunk. */
  get completeTransactions(): number {
    return this.#builder.length;
  }

  /** Bytes of what is ready. */
  get completeBytes(): number {
    return this.#completeBytes;
  }

  /**
   * Takes in the next page.
   * @param isEnd whether nothing follows it for now: what is there is then all there is
   * @throws ChunkDataError
   */
  add(page: ProvenPage, isEnd: boolean): void {
    const { identity } = page;
    if (identity !== undefined) {
      this.#identity = {
        chainId: identity.chainId,
        genesisWaypointHash: Buffer.from(identity.genesisWaypointHash),
        keepsTransactions: this.#keepsTransactions,
      };
    }
    const versions = versionsOf(page, this.#keepsTransactions);
    this.#lastEnd = page.end;
    const cut = this.#cutOf(page, isEnd);
    if (cut === undefined) {
      this.#wait(versions, page.bytes.length);
      return;
    }
    for (const version of this.#waiting) this.#builder.add(version);
    for (const version of versions.slice(0, cut.count)) this.#builder.add(version);
    this.#frozenRoots = frozenRootsOf(cut);
    this.#completeBytes += this.#waitingBytes + page.bytes.length;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#wait(versions.slice(cut.count), 0);
  }

  /** Gives up waiting for the end of a block: what there is of it will be in the next chunk. */
  completeAll(): void {
    if (this.#lastEnd === undefined) return;
    for (const version of this.#waiting) this.#builder.add(version);
    this.#frozenRoots = frozenRootsOf(this.#lastEnd);
    this.#completeBytes += this.#waitingBytes;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** The chunk of all whole blocks so far; `undefined` when there is none. */
  takeChunk(): Chunk | undefined {
    const builder = this.#builder;
    if (builder.length === 0) return undefined;
    const chunk = builder.finish(this.#frozenRoots, this.#identity);
    this.#builder = new ChunkBuilder(builder.nextVersion);
    this.#identity = undefined;
    this.#completeBytes = 0;
    return chunk;
  }

  #cutOf(page: ProvenPage, isEnd: boolean): PageCut | undefined {
    const isLong =
      this.#waiting.length + page.count > this.#limits.maxTransactions ||
      this.#waitingBytes + page.bytes.length > this.#limits.maxBytes;
    if (isEnd || page.endsBlock) return page.end;
    return page.lastBlockStart ?? (isLong ? page.end : undefined);
  }

  #wait(versions: readonly EncodedVersion[], byteLength: number): void {
    for (const version of versions) this.#waiting.push(version);
    this.#waitingBytes += byteLength;
  }
}
