/**
 * Parts of events and write sets found in their wire bytes, without making values of them: what the store is given
 * are views on what came (docs/spec/ledger.md §1.1–1.3).
 */

import { BcsReader } from '../move/bcs/bcs-reader.ts';
import { MIN_WRITE_BYTES, readWriteOp } from '../move/transactions/write-set.ts';
import { ADDRESS_BYTES } from '../move/types/address.ts';
import { physicalStateKey, readStateKey } from '../move/types/state-key.ts';
import { TYPE_TAG_MAX_NESTING } from '../move/types/type-tag.ts';
import type { ChunkModuleEvent, ChunkStreamEvent, StateWrite } from '../store/chunk.ts';

const MODULE_EVENT_VARIANT = 1;
const ACCESS_PATH_VARIANT = 0;
const TABLE_ITEM_VARIANT = 1;
const VECTOR_TAG = 6;
const STRUCT_TAG = 7;
const FUNCTION_TAG = 11;
const TYPE_TAGS = 18;
const FUNCTION_PART_FORMS = 3;
/** Fewest bytes of a part of a function type: its form and a primitive. */
const MIN_FUNCTION_PART_BYTES = 2;

/** The store's form of one event from its BCS, as views. @throws BcsError */
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
  skipTypeTag(reader, 0);
  const typeTag = reader.buffer.subarray(start, reader.offset);
  const data = reader.bytes();
  reader.finish();
  return { typeTag, data };
}

/** Steps over a type tag that a strict decoder has read or will read; only its length is wanted here. */
function skipTypeTag(reader: BcsReader, depth: number): void {
  const tag = reader.variant(TYPE_TAGS, 'TypeTag');
  if (tag !== VECTOR_TAG && tag !== STRUCT_TAG && tag !== FUNCTION_TAG) return;
  if (depth >= TYPE_TAG_MAX_NESTING) throw reader.error('too_deep', 'type tag nesting exceeded');
  if (tag === VECTOR_TAG) {
    skipTypeTag(reader, depth + 1);
  } else if (tag === STRUCT_TAG) {
    reader.fixed(ADDRESS_BYTES);
    reader.bytes();
    reader.bytes();
    const count = reader.length(1);
    for (let index = 0; index < count; index += 1) skipTypeTag(reader, depth + 1);
  } else {
    skipFunctionParts(reader, depth + 1);
    skipFunctionParts(reader, depth + 1);
    reader.u8();
  }
}

function skipFunctionParts(reader: BcsReader, depth: number): void {
  const count = reader.length(MIN_FUNCTION_PART_BYTES);
  for (let index = 0; index < count; index += 1) {
    reader.variant(FUNCTION_PART_FORMS, 'FunctionParamOrReturnTag');
    skipTypeTag(reader, depth);
  }
}

/**
 * The store's form of a write set from its BCS, as views where the wire has the bytes as they are stored. Hot keys
 * and extensions of a V1 write set are no account state and are left out (§1.1).
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

/** Reads a key in BCS and gives its physical form: under an account the bytes are the same (§1.2). */
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
