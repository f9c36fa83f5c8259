/** Opens the store of a ledger, or creates one; errors are NodeErrors that say what to do. */
import { HEAD } from '../store/columns/columns.ts';
import { isPostgresUrl } from '../store/postgres/location.ts';
import { storeFileBytes } from '../store/sqlite/files.ts';
import type {
  ColumnStatistics,
  Store,
  StoreReader,
  StoreSnapshot,
  WritingOptions,
} from '../store/store.ts';
import { isStoreError, StoreError } from '../store/store-error.ts';
import { LedgerWriter } from '../store/write/writer.ts';
import { FolderLocation } from './locations/folder-location.ts';
import type { LedgerLocation } from './locations/location.ts';
import { redactedLocation } from './locations/redacted-location.ts';
import { NodeError, type NodeErrorCode } from './node-error.ts';

/** @param data a folder, or `postgres://…` @throws NodeError `bad_setting` */
async function locationOf(data: string): Promise<LedgerLocation> {
  assertLocation(data);
  if (!isPostgresUrl(data)) return new FolderLocation(data);
  // Loaded here: most ledgers are in folders.
  const { schemaLocation } = await import('./locations/postgres-location.ts');
  return schemaLocation(data);
}

/** Works with a location. @throws NodeError in place of StoreError; what else `work` throws */
async function at<T>(data: string, work: (location: LedgerLocation) => Promise<T>): Promise<T> {
  try {
    return await work(await locationOf(data));
  } catch (cause) {
    throw asNodeError(cause);
  }
}

/**
 * A mistyped `postgres://…`, or a URL for another program, creates no folder, and is not repeated: it may contain a
 * password. @throws NodeError `bad_setting`
 */
export function assertLocation(data: string): void {
  if (isPostgresUrl(data)) return;
  // Schemes may be nested, as in jdbc:postgresql://….
  if (data !== '' && !/^\s*(?:postgres(?:ql)?:|[^/]*:\/\/)/i.test(data)) return;
  const what = data === '' ? 'empty' : 'neither a folder nor postgres://USER@HOST:PORT/DATABASE';
  const message = `the location of the ledger is ${what}`;
  throw new NodeError('bad_setting', message, { exitCode: 2 });
}

/** @throws NodeError `data_not_usable` if the location cannot be read */
export function hasStore(data: string): Promise<boolean> {
  return at(data, (location) => location.hasStore());
}

export function storeBytes(data: string, columns: readonly ColumnStatistics[]): Promise<number> {
  return at(data, async (location) => location.storeBytes(columns));
}

/** Opens the store for reading. @throws NodeError `no_ledger`, `data_not_usable` */
export function openStoreReader(data: string): Promise<StoreReader> {
  return at(data, async (location) => {
    if (!(await location.hasStore())) throw await noLedgerAt(location);
    return await location.openReader();
  });
}

/** Opens the store for writing; creates it if it does not exist. @throws NodeError `data_not_usable` */
export function openStoreWriter(data: string, options?: WritingOptions): Promise<Store> {
  return at(data, (location) => location.openWriter(options));
}

/** Runs `work` with a reader, then closes it. @throws NodeError `no_ledger`, `data_not_usable`; what `work` throws */
export async function withReader<T>(
  data: string,
  work: (store: StoreReader) => Promise<T>,
): Promise<T> {
  return await closing(await openStoreReader(data), work);
}

/** Runs `work` with the writer of a store, then closes it. @throws NodeError `data_not_usable`; what `work` throws */
export async function withWriter<T>(
  data: string,
  work: (writer: LedgerWriter) => Promise<T>,
  open: (data: string) => Promise<Store> = openStoreWriter,
): Promise<T> {
  const store = await open(data);
  return await closing(store, async () => work(await LedgerWriter.open(store)));
}

/**
 * Runs `work` with the writer of a new, empty ledger. The ledger appears when `work` is done; if the process ends
 * before, it leaves no ledger.
 * @param distribute over the workers of Citus
 * @throws NodeError `ledger_exists`, `data_not_usable`; what `work` throws
 */
export function withNewLedger<T>(
  data: string,
  work: (writer: LedgerWriter) => Promise<T>,
  distribute = false,
): Promise<T> {
  const make = async (store: Store) => work(await LedgerWriter.open(store));
  return withNewStore(data, make, distribute);
}

export function withNewStore<T>(
  data: string,
  work: (store: Store) => Promise<T>,
  distribute = false,
): Promise<T> {
  return at(data, (location) => location.makeStore(work, { distribute }));
}

/**
 * Runs `work` with the store of a new ledger, which appears when `work` is done. The store contains what an earlier
 * attempt left; if that attempt imported something else (StoreError `import_of_other`), `work` starts again without it.
 * @param isFinal whether nothing is left for the next attempt after an error
 * @param distribute over the workers of Citus
 * @throws NodeError `ledger_exists`, `data_not_usable`; what `work` throws
 */
export function withResumedStore<T>(
  data: string,
  work: (store: Store) => Promise<T>,
  isFinal: (error: unknown) => boolean,
  distribute = false,
): Promise<T> {
  return at(data, async (location) => {
    for (;;) {
      try {
        return await location.makeStore(work, { resumes: true, distribute });
      } catch (error) {
        const isOther = isStoreError(error, 'import_of_other');
        if (isOther || isFinal(error)) await location.removeUnfinished();
        if (!isOther) throw error;
      }
    }
  });
}

interface CopiedFile<T> {
  readonly found: T;
  readonly fromBytes: number;
  readonly toBytes: number;
}

/**
 * Creates a copy of another ledger's file as it is now, while others read and write that.
 * @param onBegin gets a function that returns how many bytes are copied, and the approximate total
 * @returns what `examine` returns for the copy, and the sizes of both; `undefined`, and nothing is created, if one of
 *   the ledgers is not a file
 * @throws NodeError `no_ledger`, `ledger_exists`, `data_not_usable`
 */
export async function copyStoreFile<T>(
  from: string,
  to: string,
  onBegin: (copiedBytes: () => number, neededBytes: number) => void,
  examine: (copy: StoreReader) => Promise<T>,
): Promise<CopiedFile<T> | undefined> {
  return await at(from, async (source) => {
    const target = await locationOf(to);
    if (!(source instanceof FolderLocation && target instanceof FolderLocation)) return undefined;
    if (!(await source.hasStore())) throw await noLedgerAt(source);
    // Fails early if the source cannot be opened.
    await (await source.openReader()).close();
    const found = await target.copyStore(from, onBegin, examine);
    return { found, fromBytes: storeFileBytes(from), toBytes: storeFileBytes(to) };
  });
}

/**
 * Copies a ledger as it is now, while others read and write it. When `work` fails or is interrupted,
 * what it has written is in the store that the next call gets.
 * @throws NodeError `no_ledger`, `ledger_exists`, `data_not_usable`; what `work` throws
 */
export async function withCopy<T>(
  from: string,
  to: string,
  work: (source: StoreSnapshot, copy: Store) => Promise<T>,
): Promise<T> {
  return await at(from, async (source) => {
    const target = await locationOf(to);
    if (!(await source.hasStore())) throw await noLedgerAt(source);
    return await closing(await source.openSnapshot(), async (snapshot) => {
      const [head] = await snapshot.scan(HEAD, { maxRows: 1, maxBytes: 1 });
      if (head === undefined) throw emptyStoreError(from);
      return await target.makeStore((copy) => work(snapshot, copy), { resumes: true });
    });
  });
}

/**
 * Creates a new ledger from the bytes of a folder's data file.
 * @returns what `examine` returns for it; `undefined`, and nothing is created, if ledgers are not files
 * @throws NodeError `ledger_exists`, `data_not_usable`
 */
export function restoreStore<T>(
  data: string,
  bytes: Uint8Array,
  examine: (store: StoreReader) => Promise<T>,
): Promise<T | undefined> {
  return at(data, async (location) =>
    location instanceof FolderLocation ? location.restoreStore(bytes, examine) : undefined,
  );
}

/** Accepts a location that is free or has a ledger. @throws NodeError `data_not_usable` */
export function assertUnusedLocation(data: string): Promise<void> {
  return at(data, async (location) => {
    if (!(await location.hasStore())) await location.assertUnused();
  });
}

export function noLedgerError(data: string): Promise<NodeError> {
  return at(data, noLedgerAt);
}

async function noLedgerAt(location: LedgerLocation): Promise<NodeError> {
  const { displayName } = location;
  const why = (await location.isUnfinished())
    ? ': a command that was to make one was cut off, or is at work'
    : '';
  return new NodeError(
    'no_ledger',
    `there is no ledger in ${displayName}${why}; make one: ` +
      `daybook init --data ${displayName} --genesis FILE --waypoint FILE, ` +
      `or of a sample: daybook sample --data ${displayName}`,
  );
}

async function closing<S extends Pick<StoreReader, 'close'>, T>(
  store: S,
  work: (store: S) => Promise<T>,
): Promise<T> {
  try {
    return await work(store);
  } catch (cause) {
    throw asNodeError(cause);
  } finally {
    await store.close();
  }
}

/** The error for a store without a committed ledger, because its creation was interrupted. */
export function emptyStoreError(data: string): NodeError {
  return new NodeError(
    'no_ledger',
    `the store in ${redactedLocation(data)} holds no ledger yet: ` +
      'a command that was to make one was cut off, run it again',
  );
}

const CODES: Partial<Record<StoreError['code'], NodeErrorCode>> = {
  store_not_found: 'no_ledger',
  store_location_invalid: 'bad_setting',
};

export function asNodeError(cause: unknown): unknown {
  if (!(cause instanceof StoreError)) return cause;
  const code = CODES[cause.code] ?? 'data_not_usable';
  return new NodeError(code, cause.message, { cause, exitCode: code === 'bad_setting' ? 2 : 1 });
}
