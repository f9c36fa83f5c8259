/** The store's form of events and write sets from their wire bytes, as views on them (docs/spec/ledger.md §1.1–1.3). */

import { BcsReader } from '../move/bcs/bcs-reader.ts';
import { MIN_WRITE_BYTES, readWriteOp } from '../move/transactions/write-set.ts';
import { ADDRESS_BYTES } from '../move/types/address.ts';
import { physicalStateKey, readStateKey } from '../move/types/state-key.ts';
import { readTypeTag } from '../move/types/type-tag.ts';
import type { ChunkModuleEvent, ChunkStreamEvent, StateWrite } from '../store/chunk.ts';

const MODULE_EVENT_VARIANT = 1;
const ACCESS_PATH_VARIANT = 0;
const TABLE_ITEM_VARIANT = 1;

/** @throws BcsError */
export function chunkEventOf(bytes: Buffer): ChunkStreamEvent | ChunkModuleEvent {
  const reader = new BcsReader(bytes);
  if (reader.variant(2, 'ContractEvent') === MODULE_EVENT_VARIANT) {
    return { kind: 'module', ...eventBody(reader) };
  }
  const creationNumber = reader.u64();
  const address = reader.address();
  const sequenceNumber = reader.u64();
  return { kind: 'stream', address, creationNumber, sequenceNumber, ...eventBody(reader) };
}

function eventBody(reader: BcsReader): { readonly typeTag: Buffer; readonly data: Buffer } {
  const start = reader.offset;
  readTypeTag(reader);
  const typeTag = reader.buffer.subarray(start, reader.offset);
  const data = reader.bytes();
  reader.finish();
  return { typeTag, data };
}

/**
 * Hot keys and extensions of a V1 write set are not account state and are left out (docs/spec/ledger.md §1.1).
 * @throws BcsError
 */
export function stateWritesOf(writeSet: Buffer): StateWrite[] {
  const reader = new BcsReader(writeSet);
  reader.variant(2, 'WriteSet');
  const count = reader.length(MIN_WRITE_BYTES);
  const writes: StateWrite[] = [];
  for (let index = 0; index < count; index += 1) {
    const key = readPhysicalKey(reader);
    const op = readWriteOp(reader);
    writes.push({
      key,
      value: op.kind === 'deletion' ? undefined : op.bytes,
      metadata: op.metadata,
    });
  }
  return writes;
}

/** The physical form of a key in BCS; for an access path the bytes are the same (docs/spec/ledger.md §1.2). */
function readPhysicalKey(reader: BcsReader): Buffer {
  const { buffer, offset: start } = reader;
  const variant = buffer[start];
  if (variant !== ACCESS_PATH_VARIANT && variant !== TABLE_ITEM_VARIANT) {
    return physicalStateKey(readStateKey(reader));
  }
  reader.fixed(1 + ADDRESS_BYTES);
  const headEnd = reader.offset;
  const rest = reader.bytes();
  if (variant === ACCESS_PATH_VARIANT) return buffer.subarray(start, reader.offset);
  return Buffer.concat([buffer.subarray(start, headEnd), rest]);
}
