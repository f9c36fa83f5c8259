/** A place for a ledger, with the operations that commands need of any engine. */
import type {
  ColumnStatistics,
  MakeOptions,
  Store,
  StoreReader,
  StoreSnapshot,
  WritingOptions,
} from '../../store/store.ts';
import { isStoreError } from '../../store/store-error.ts';
import { NodeError } from '../node-error.ts';

export interface LedgerLocation {
  /** The location as messages and logs show it, without secrets. */
  readonly displayName: string;
  /** Advice for a location that is already taken. */
  readonly alternative: string;

  hasStore(): Promise<boolean>;
  /** Whether a ledger was begun here and is not complete. */
  isUnfinished(): Promise<boolean>;
  /** @throws NodeError `data_not_usable` if the location contains something other than a store */
  assertUnused(): Promise<void>;
  storeBytes(columns: readonly ColumnStatistics[]): number;

  /** @throws StoreError, as the following ones */
  openReader(): Promise<StoreReader>;
  /** Opens the store as it is now, for as long as it takes. */
  openSnapshot(): Promise<StoreSnapshot>;
  /** Creates the store if it does not exist. */
  openWriter(options?: WritingOptions): Promise<Store>;

  /**
   * Runs `work` with a new store, empty unless resumed. Until `work` is done the location has no store, even if the
   * process is killed. A store in which no ledger was ever committed is replaced.
   * @throws StoreError `store_locked` when another process is making one, `store_not_distributable`; NodeError
   *   `ledger_exists`, `data_not_usable`; what `work` throws
   */
  makeStore<T>(work: (store: Store) => Promise<T>, options?: MakeOptions): Promise<T>;
  /** Removes what an unfinished attempt has left. @throws StoreError `store_locked` */
  removeUnfinished(): Promise<void>;
}

/** Runs `make`. @throws NodeError `ledger_exists` if the location has a store; what `make` throws */
export async function withLocationErrors<T>(
  { displayName, alternative }: LedgerLocation,
  make: () => Promise<T>,
): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    if (!isStoreError(cause, 'store_exists')) throw cause;
    const message = `${displayName} holds a ledger already: give ${alternative}`;
    throw new NodeError('ledger_exists', message, { cause });
  }
}
