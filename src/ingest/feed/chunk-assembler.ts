/**
 * Turns verified pages into chunks that end where blocks end. A ledger that only ever holds whole blocks answers
 * requests for its newest block as the upstream would.
 */
import type { LedgerIdentity } from '../../store/columns/identity-column.ts';
import type { Chunk } from '../../store/write/chunk.ts';
import { ChunkBuilder } from '../chunk-builder.ts';
import type { VersionParts } from '../version-parts.ts';
import { frozenRootsOf, type PageCut, type VerifiedPage, versionsOf } from './verified-page.ts';

/** How much of an unfinished block may wait for its end. A longer block is committed in parts. */
const WAITING_LIMITS = { maxTransactions: 20_000, maxBytes: 64 * 1024 * 1024 };

export class ChunkAssembler {
  readonly #keepsTransactions: boolean;
  readonly #limits: typeof WAITING_LIMITS;
  /** Whole blocks of the next chunk. */
  #builder: ChunkBuilder;
  #frozenRoots: readonly Buffer[] = [];
  #identity: LedgerIdentity | undefined;
  #completeBytes = 0;
  /** Versions after the last known end of a block. */
  #waiting: VersionParts[] = [];
  #waitingBytes = 0;
  #lastEnd: PageCut | undefined;

  constructor(nextVersion: bigint, keepsTransactions: boolean, limits = WAITING_LIMITS) {
    this.#limits = limits;
    this.#keepsTransactions = keepsTransactions;
    this.#builder = new ChunkBuilder(nextVersion);
  }

  get completeTransactions(): number {
    return this.#builder.length;
  }

  get completeBytes(): number {
    return this.#completeBytes;
  }

  /**
   * Adds the next page.
   * @param isEnd whether no page follows for now. Then its last block does not wait
   * @throws ChunkDataError
   */
  add(page: VerifiedPage, isEnd: boolean): void {
    const { identity } = page;
    if (identity !== undefined) {
      this.#identity = {
        chainId: identity.chainId,
        genesisWaypointHash: Buffer.from(identity.genesisWaypointHash),
        keepsTransactions: this.#keepsTransactions,
      };
    }
    const versions = versionsOf(page, this.#keepsTransactions);
    const cut = this.#cutOf(page, isEnd);
    this.#lastEnd = page.end;
    this.#waiting.push(...versions.splice(0, cut?.count ?? versions.length));
    this.#waitingBytes += page.bytes.length;
    if (cut === undefined) return;
    this.#complete(cut);
    this.#waiting = versions;
  }

  /** Stops waiting for the end of a block: the part received so far goes into the next chunk. */
  flushPartialBlock(): void {
    if (this.#lastEnd !== undefined) this.#complete(this.#lastEnd);
  }

  /** The chunk of all whole blocks so far; `undefined` if there are none. */
  takeChunk(): Chunk | undefined {
    const builder = this.#builder;
    if (builder.length === 0) return undefined;
    const chunk = builder.finish(this.#frozenRoots, this.#identity);
    this.#builder = new ChunkBuilder(builder.nextVersion);
    this.#identity = undefined;
    this.#completeBytes = 0;
    return chunk;
  }

  #cutOf(page: VerifiedPage, isEnd: boolean): PageCut | undefined {
    const isLong =
      this.#waiting.length + page.count > this.#limits.maxTransactions ||
      this.#waitingBytes + page.bytes.length > this.#limits.maxBytes;
    if (isEnd || page.endsBlock) return page.end;
    return page.lastBlockStart ?? (isLong ? page.end : undefined);
  }

  #complete(cut: PageCut): void {
    for (const version of this.#waiting) this.#builder.addParts(version);
    this.#frozenRoots = frozenRootsOf(cut);
    this.#completeBytes += this.#waitingBytes;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}
