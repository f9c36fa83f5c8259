/**
 * The head: the row that contains the newest version and the oldest retained version of the ledger. A reader reads it
 * first and then ignores everything above it (ARCHITECTURE.md). docs/spec/ledger.md §2.1–2.3 and docs/spec/http.md §3.2
 * say where its values come from.
 */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { hashes, structCodec, u64 } from '../../move/bcs/codec.ts';
import type { StoreReader } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { HEAD, type RowKey } from './columns.ts';
import { NO_ORDER } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

export const HEAD_KEY: RowKey = { partition: Buffer.of(0), order: NO_ORDER };

export interface Head {
  readonly version: bigint;
  /** Time of the newest block, microseconds since 1970. */
  readonly timestampUsecs: bigint;
  readonly epoch: bigint;
  readonly blockHeight: bigint;
  /** The oldest version that can be read; the first version of a block. */
  readonly oldestVersion: bigint;
  readonly oldestBlockHeight: bigint;
  /**
   * Roots of the full subtrees of the transaction accumulator after `version`, the largest first: one for each bit set
   * in `version + 1`. A follower needs them to extend the accumulator. A fork has none.
   */
  readonly frozenRoots: readonly Buffer[];
}

/**
 * Whether a ledger has only the state at its version, and no block yet: it was created from a snapshot and nothing has
 * been committed since.
 */
export function isBareState(head: Omit<Head, 'frozenRoots'>): boolean {
  return head.oldestVersion === head.version && head.oldestBlockHeight > head.blockHeight;
}

/** The oldest version whose transaction and events are retained. In a ledger with only a state, it is the next one. */
export function oldestTransaction(head: Omit<Head, 'frozenRoots'>): bigint {
  return isBareState(head) ? head.version + 1n : head.oldestVersion;
}

/** The number of full subtrees of an accumulator with this many leaves. */
export function frozenRootCount(leafCount: bigint): number {
  let count = 0;
  for (let rest = leafCount; rest > 0n; rest >>= 1n) count += Number(rest & 1n);
  return count;
}

const head = structCodec<Head>({
  version: u64,
  timestampUsecs: u64,
  epoch: u64,
  blockHeight: u64,
  oldestVersion: u64,
  oldestBlockHeight: u64,
  frozenRoots: hashes,
});

export const HEAD_ROW = new RowCodec<void, Head>(HEAD, () => HEAD_KEY, {
  write: head.write,
  read(reader) {
    const found = head.read(reader);
    const roots = found.frozenRoots.length;
    const isFork = roots === 0;
    if (isFork || roots === frozenRootCount(found.version + 1n)) return found;
    throw reader.error('bad_value', `${roots} roots at version ${found.version}`);
  },
});

export function readHead(store: StoreReader): MaybePromise<Head | undefined> {
  return HEAD_ROW.get(store);
}

/** The head of a store that holds a ledger. @throws StoreError `ledger_empty`, RowDamagedError */
export function openHead(store: StoreReader): MaybePromise<Head> {
  return andThen(readHead(store), (head) => head ?? emptyLedger());
}

/** Reads the head of one store repeatedly; an unchanged row is not decoded again. */
export class HeadReader {
  readonly #store: StoreReader;
  #bytes: Buffer | undefined;
  #head: Head | undefined;

  constructor(store: StoreReader) {
    this.#store = store;
  }

  /**
   * The newest head: the same object as long as it has not changed. @throws StoreError `ledger_empty`, RowDamagedError
   */
  read(): MaybePromise<Head> {
    return andThen(this.#store.get(HEAD, HEAD_KEY.partition, NO_ORDER), (bytes) => {
      if (bytes !== undefined && this.#bytes?.equals(bytes) === true) return this.#head!;
      const head = HEAD_ROW.decode(HEAD_KEY, bytes ?? emptyLedger());
      this.#bytes = bytes;
      this.#head = head;
      return head;
    });
  }
}

function emptyLedger(): never {
  throw new StoreError('ledger_empty', 'the store holds no ledger yet: bring a genesis first');
}
