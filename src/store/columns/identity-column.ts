/**
 * The identity of a store: its format (row 0, from its creation on), its ledger (row 1, from genesis on; it never
 * changes), and the progress of an import while one is running (row 3).
 */
import { bool, byteString, hash, ownHash, structCodec, u8 } from '../../move/bcs/codec.ts';
import { StoreError } from '../store-error.ts';
import { IDENTITY, type RowKey, STORE_FORMAT_VERSION } from './columns.ts';
import { isForkFormat, isFormat } from './fork-columns.ts';
import { NO_ORDER } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

/** The key of the format row: the one thing that every format has in the same place. */
export const FORMAT_KEY: RowKey = { partition: Buffer.of(0), order: NO_ORDER };
const IMPORT_KEY: RowKey = { partition: Buffer.of(3), order: NO_ORDER };
export const LEDGER_KEY: RowKey = { partition: Buffer.of(1), order: NO_ORDER };

export interface LedgerIdentity {
  /** u8. */
  readonly chainId: number;
  /** The hash of the genesis waypoint, `0:…` (docs/spec/ledger.md §2.7). */
  readonly genesisWaypointHash: Buffer;
  /** Whether whole transactions are stored, so that this ledger can feed another. Decided at genesis. */
  readonly keepsTransactions: boolean;
}

export const LEDGER_IDENTITY = new RowCodec<void, LedgerIdentity>(
  IDENTITY,
  () => LEDGER_KEY,
  structCodec({ chainId: u8, genesisWaypointHash: ownHash, keepsTransactions: bool }),
);

export const FORMAT = new RowCodec<void, number>(IDENTITY, () => FORMAT_KEY, {
  write: (writer, version) => writer.u32(version),
  read(reader) {
    const version = reader.u32();
    if (isFormat(version)) return version;
    throw reader.error('bad_value', `${version} is no format`, 0);
  },
});

interface ImportProgress {
  /** Identifies the import: 32 bytes. */
  readonly source: Buffer;
  /** The computation of the root after all stored values, as saved by StateRootBuilder. */
  readonly root: Buffer;
}

/** The progress of an import of state, while it is running (src/store/write/state-import.ts). */
export const IMPORT = new RowCodec<void, ImportProgress>(
  IDENTITY,
  () => IMPORT_KEY,
  structCodec({ source: hash, root: byteString }),
);

type ReadRow = (key: RowKey) => Uint8Array | undefined;

/**
 * Checks that this program can read a store.
 * @param expected the format that the caller reads
 * @returns false when the store has no format row yet.
 * @throws StoreError `store_format_mismatch`, `store_is_fork`, `store_not_fork`; RowDamagedError.
 */
export function checkFormat(
  read: ReadRow,
  where: string,
  expected = STORE_FORMAT_VERSION,
): boolean {
  const row = read(FORMAT_KEY);
  if (row === undefined) return false;
  const found = FORMAT.decode(FORMAT_KEY, row);
  if (isForkFormat(found) !== isForkFormat(expected)) throw wrongKind(where, isForkFormat(found));
  if (found === expected) return true;
  const remedy =
    found > expected
      ? 'install the newer Daybook that wrote it'
      : 'make the ledger again in another place (daybook init, daybook follow)';
  throw new StoreError(
    'store_format_mismatch',
    `${where} holds store format ${found}, this program reads format ${expected}: ${remedy}`,
    { found, expected },
  );
}

function wrongKind(where: string, isFork: boolean): StoreError {
  if (!isFork) {
    const message = `${where} holds a ledger that is no fork: give another folder to the fork`;
    return new StoreError('store_not_fork', message);
  }
  return new StoreError(
    'store_is_fork',
    `${where} is a fork: it has only what was asked of another node. Only daybook serve (with --offline, ` +
      'or --fork URL), status and fork pack open it',
  );
}
