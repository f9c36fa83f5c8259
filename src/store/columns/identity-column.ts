/**
 * The identity of a store: its format (row 0, from its creation on) and its ledger (row 1, from genesis on). Neither
 * ever changes.
 */
import { readHash, writeHash } from '../../move/bcs/fixed-bytes.ts';
import { StoreError } from '../store-error.ts';
import { IDENTITY, type RowKey, STORE_FORMAT_VERSION } from './columns.ts';
import { NO_ORDER } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

/** The key of the format row: the one thing that every format has in the same place. */
export const FORMAT_KEY: RowKey = { partition: Buffer.of(0), order: NO_ORDER };
const LEDGER_KEY: RowKey = { partition: Buffer.of(1), order: NO_ORDER };

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
  (writer, { chainId, genesisWaypointHash, keepsTransactions }) => {
    writer.u8(chainId);
    writeHash(writer, genesisWaypointHash);
    writer.bool(keepsTransactions);
  },
  (reader) => {
    const chainId = reader.u8();
    const genesisWaypointHash = Buffer.from(readHash(reader));
    return { chainId, genesisWaypointHash, keepsTransactions: reader.bool() };
  },
);

export const FORMAT = new RowCodec<void, number>(
  IDENTITY,
  () => FORMAT_KEY,
  (writer, version) => writer.u32(version),
  (reader) => reader.u32(),
);

/**
 * Checks the format row of a store.
 * @returns false when the store has no format row yet.
 * @throws StoreError `store_format_mismatch`, RowDamagedError.
 */
export function checkFormat(bytes: Uint8Array | undefined, where: string): boolean {
  if (bytes === undefined) return false;
  const expected = STORE_FORMAT_VERSION;
  const found = FORMAT.decode(FORMAT_KEY, bytes);
  if (found === expected) return true;
  const remedy =
    found > expected
      ? 'use the newer Daybook that wrote it'
      : 'use the older Daybook that wrote it, or build the store again';
  throw new StoreError(
    'store_format_mismatch',
    `${where} holds store format ${found}, this program reads format ${expected}: ${remedy}`,
    { found, expected },
  );
}
