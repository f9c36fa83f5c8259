/** A ledger in PostgreSQL: a schema of a database. */
import { type PostgresLocation, parsePostgresUrl } from '../../store/postgres/location.ts';
import {
  hasPostgresStore,
  isPostgresUnfinished,
  makePostgresStore,
  openPostgresReader,
  openPostgresSnapshot,
  openPostgresStore,
  removePostgresUnfinished,
} from '../../store/postgres/postgres-store.ts';
import type {
  ColumnStatistics,
  MakeOptions,
  Store,
  StoreReader,
  StoreSnapshot,
  WritingOptions,
} from '../../store/store.ts';
import { type LedgerLocation, refusingLedger } from './location.ts';

export class SchemaLocation implements LedgerLocation {
  readonly shown: string;
  readonly otherwise = 'another database, or another schema with ?schema=NAME';
  readonly #location: PostgresLocation;

  /** @throws StoreError `store_location_invalid` */
  constructor(url: string) {
    this.#location = parsePostgresUrl(url);
    this.shown = this.#location.shown;
  }

  hasStore(): Promise<boolean> {
    return hasPostgresStore(this.#location);
  }

  isUnfinished(): Promise<boolean> {
    return isPostgresUnfinished(this.#location);
  }

  /** Opening for writing does. */
  async refuseUsed(): Promise<void> {}

  /** Of all tables with their indexes. */
  storeBytes(columns: readonly ColumnStatistics[]): number {
    return columns.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  openReader(): Promise<StoreReader> {
    return openPostgresReader(this.#location);
  }

  openSnapshot(): Promise<StoreSnapshot> {
    return openPostgresSnapshot(this.#location);
  }

  openWriter(options?: WritingOptions): Promise<Store> {
    return openPostgresStore(this.#location, options);
  }

  makeStore<T>(work: (store: Store) => Promise<T>, options?: MakeOptions): Promise<T> {
    return refusingLedger(this, () => makePostgresStore(this.#location, work, options));
  }

  removeUnfinished(): Promise<void> {
    return removePostgresUnfinished(this.#location);
  }
}
