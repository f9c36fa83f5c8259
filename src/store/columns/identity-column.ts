/**
 * What a store is: the format it is written in (row 0, there from its creation) and the ledger it
 * holds (row 1, there from genesis). Neither ever changes.
 */

import type { MaybePromise } from '../../maybe-promise.ts';
import { andThen } from '../../maybe-promise.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { readHash, writeHash } from '../../move/bcs/fixed-bytes.ts';
import type { Batch } from '../batch.ts';
import type { StoreReader } from '../store.ts';
import { StoreFormatError } from '../store-error.ts';
import { IDENTITY, STORE_FORMAT_VERSION } from './columns.ts';
import { NO_ORDER } from './order-key.ts';
import { decodeRow } from './row-codec.ts';

const FORMAT_ROW = Buffer.of(0);
const LEDGER_ROW = Buffer.of(1);

/** The ledger a store holds. */
export interface LedgerIdentity {
  /** u8. */
  readonly chainId: number;
  /** The hash of the genesis waypoint, `0:…` (docs/spec/ledger.md §2.7). */
  readonly genesisWaypointHash: Buffer;
  /**
   * Whether whole transactions are kept, so that this ledger can feed another. Decided at genesis.
   */
  readonly keepsTransactions: boolean;
}

/** Bytes of a ledger identity. */
export function encodeLedgerIdentity(identity: LedgerIdentity): Buffer {
  return encodeBcs((writer) => {
    writer.u8(identity.chainId);
    writeHash(writer, identity.genesisWaypointHash);
    writer.bool(identity.keepsTransactions);
  });
}

/** Reads a ledger identity. @throws RowDamagedError */
export function decodeLedgerIdentity(bytes: Uint8Array): LedgerIdentity {
  return decodeRow(IDENTITY, LEDGER_ROW, NO_ORDER, bytes, (reader) => {
    const chainId = reader.u8();
    const genesisWaypointHash = Buffer.from(readHash(reader));
    return { chainId, genesisWaypointHash, keepsTransactions: reader.bool() };
  });
}

/** Puts the ledger identity into the batch that brings genesis. */
export function putLedgerIdentity(batch: Batch, identity: LedgerIdentity): void {
  batch.put(IDENTITY, LEDGER_ROW, NO_ORDER, encodeLedgerIdentity(identity));
}

/** The identity of the ledger in a store; `undefined` before genesis. @throws RowDamagedError */
export function readLedgerIdentity(store: StoreReader): MaybePromise<LedgerIdentity | undefined> {
  return andThen(store.get(IDENTITY, LEDGER_ROW, NO_ORDER), (bytes) =>
    bytes === undefined ? undefined : decodeLedgerIdentity(bytes),
  );
}

/** Bytes of the format this program writes. */
export function encodeFormat(): Buffer {
  return encodeBcs((writer) => writer.u32(STORE_FORMAT_VERSION));
}

/** Puts the format this program writes into the batch that makes a store. */
export function putFormat(batch: Batch): void {
  batch.put(IDENTITY, FORMAT_ROW, NO_ORDER, encodeFormat());
}

/**
 * Checks the format row of a store.
 * @returns false when the store has none yet.
 * @throws StoreFormatError when it is another format, RowDamagedError.
 */
export function checkFormat(bytes: Uint8Array | undefined, where: string): boolean {
  if (bytes === undefined) return false;
  const found = decodeRow(IDENTITY, FORMAT_ROW, NO_ORDER, bytes, (reader) => reader.u32());
  if (found !== STORE_FORMAT_VERSION) {
    throw new StoreFormatError(where, found, STORE_FORMAT_VERSION);
  }
  return true;
}

/** The key of the format row: the one thing every format has in the same place. */
export const FORMAT_KEY = { partition: FORMAT_ROW, order: NO_ORDER } as const;
