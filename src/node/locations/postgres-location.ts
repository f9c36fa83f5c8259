/** A ledger in PostgreSQL: a schema of a database. */
import { parsePostgresUrl } from '../../store/postgres/location.ts';
import {
  hasPostgresStore,
  isPostgresUnfinished,
  makePostgresStore,
  openPostgresReader,
  openPostgresSnapshot,
  openPostgresStore,
  removePostgresUnfinished,
} from '../../store/postgres/postgres-store.ts';
import { type LedgerLocation, withLocationErrors } from './location.ts';

/** @throws StoreError `store_location_invalid` */
export function schemaLocation(url: string): LedgerLocation {
  const location = parsePostgresUrl(url);
  const self: LedgerLocation = {
    displayName: location.displayName,
    alternative: 'another database, or another schema with ?schema=NAME',
    hasStore: () => hasPostgresStore(location),
    isUnfinished: () => isPostgresUnfinished(location),
    // Opening for writing refuses.
    assertUnused: async () => undefined,
    // The size of all tables and their indexes.
    storeBytes: (columns) => columns.reduce((sum, { bytes }) => sum + bytes, 0),
    openReader: () => openPostgresReader(location),
    openSnapshot: () => openPostgresSnapshot(location),
    openWriter: (options) => openPostgresStore(location, options),
    makeStore: (work, options) =>
      withLocationErrors(self, () => makePostgresStore(location, work, options)),
    removeUnfinished: () => removePostgresUnfinished(location),
  };
  return self;
}
