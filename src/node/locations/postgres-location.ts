/** A ledger in PostgreSQL: a schema of a database. */
import { type PostgresLocation, parsePostgresUrl } from '../../store/postgres/location.ts';
import {
  hasPostgresStore,
  makePostgresStore,
  openPostgresReader,
  openPostgresSnapshot,
  openPostgresStore,
  openPostgresUpgrade,
  removePostgresStore,
} from '../../store/postgres/postgres-store.ts';
import { unfinishedSchema } from '../../store/postgres/schema.ts';
import type {
  ColumnStatistics,
  MakeOptions,
  Store,
  StoreReader,
  StoreSnapshot,
  WritingOptions,
} from '../../store/store.ts';
import { OLD_COLUMNS } from '../../store/upgrade/upgrade.ts';
import type { LedgerLocation } from './location.ts';

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
    const schema = unfinishedSchema(this.#location.schema);
    return hasPostgresStore({ ...this.#location, schema });
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

  openUpgrade(): Promise<Store> {
    return openPostgresUpgrade(this.#location, OLD_COLUMNS);
  }

  makeStore<T>(work: (store: Store) => Promise<T>, options?: MakeOptions): Promise<T> {
    return makePostgresStore(this.#location, work, options);
  }

  async removeUnfinished(): Promise<void> {
    const schema = unfinishedSchema(this.#location.schema);
    const unfinished = { ...this.#location, schema };
    if (await hasPostgresStore(unfinished)) await removePostgresStore(unfinished);
  }

  removeStore(): Promise<void> {
    return removePostgresStore(this.#location);
  }
}
