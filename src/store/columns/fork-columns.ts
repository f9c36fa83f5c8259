/**
 * The columns of a fork: a store that records what another node answers (docs/fork.md). A fork has a format of its
 * own, because nothing but a fork may read it: what it lacks is not absent, it was not asked for.
 *
 * - `fork_state`: state by key and exact version. A row answers for its version only: writes in between are unknown.
 * - `fork_answers`: answers that are not rows of other columns, such as which keys an account has, by their questions.
 * - `fork_log`: one row for each answer that was taken: when, from where, what was asked.
 *
 * Facts that no version changes are in the columns where every ledger has them: transactions, infos, blocks, events,
 * and the indexes of transactions. These have gaps in a fork.
 */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { readHash, writeHash } from '../../move/bcs/fixed-bytes.ts';
import { sha3 } from '../../move/crypto/hash.ts';
import {
  readStateValueMetadata,
  type StateValueMetadata,
  writeStateValueMetadata,
} from '../../move/types/state-value.ts';
import {
  ACCOUNT_TRANSACTIONS,
  BLOCKS_BY_HEIGHT,
  BLOCKS_BY_VERSION,
  BUCKET_PARTITION_BYTES,
  COLUMNS,
  type Column,
  EVENTS,
  HEAD,
  IDENTITY,
  PRUNING,
  type RowKey,
  STORE_FORMAT_VERSION,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
  TRANSACTIONS,
} from './columns.ts';
import {
  decodeU64Key,
  encodeBucketKey,
  encodeU64Key,
  NO_ORDER,
  type U64_BYTES,
} from './order-key.ts';
import { decodeRow, RowCodec } from './row-codec.ts';
import type { StateEntry } from './state-column.ts';

/** Formats of forks begin here, so that a program that knows no forks refuses them. */
const FIRST_FORK_FORMAT = 1_000_000;
const FORK_FORMAT_VERSION = FIRST_FORK_FORMAT + 1;

export function isForkFormat(format: number): boolean {
  return format >= FIRST_FORK_FORMAT;
}

/** Whether a number may be that of a format, of this program or a later one; others are damage. */
export function isFormat(number: number): boolean {
  return number < 2 * FIRST_FORK_FORMAT && number % FIRST_FORK_FORMAT < 256;
}

export const FORK_STATE = column(90, 'fork_state', 32, 8);
export const FORK_ANSWERS = column(91, 'fork_answers', 32, 0);
export const FORK_LOG = column(92, 'fork_log', BUCKET_PARTITION_BYTES, 2);

/** What a store is made of. */
export interface StoreLayout {
  readonly format: number;
  readonly columns: readonly Column[];
}

export const LEDGER_LAYOUT: StoreLayout = { format: STORE_FORMAT_VERSION, columns: COLUMNS };

export const FORK_LAYOUT: StoreLayout = {
  format: FORK_FORMAT_VERSION,
  columns: [
    ...[IDENTITY, HEAD, EVENTS, TRANSACTION_INFOS, BLOCKS_BY_HEIGHT, BLOCKS_BY_VERSION, PRUNING],
    ...[TRANSACTION_HASHES, ACCOUNT_TRANSACTIONS, TRANSACTIONS],
    ...[FORK_STATE, FORK_ANSWERS, FORK_LOG],
  ],
};

/** Which ledger a fork is of. */
interface ForkOrigin {
  /** Base of the interface of the node that it was made from. */
  readonly url: string;
  /** Root of the transaction accumulator after the fork's version, 32 bytes: it covers the whole history. */
  readonly rootHash: Buffer;
  /** Microseconds since 1970. */
  readonly madeAtUsecs: bigint;
}

export const FORK_ORIGIN = new RowCodec<void, ForkOrigin>(
  IDENTITY,
  () => ({ partition: Buffer.of(3), order: NO_ORDER }),
  (writer, { url, rootHash, madeAtUsecs }) => {
    writer.string(url);
    writeHash(writer, rootHash);
    writer.u64(madeAtUsecs);
  },
  (reader) => {
    const url = reader.string();
    const rootHash = Buffer.from(readHash(reader));
    return { url, rootHash, madeAtUsecs: reader.u64() };
  },
);

const TAG_ABSENT = 0;
const TAG_PLAIN = 1;
const TAG_WITH_METADATA = 2;
const TAG_METADATA_UNKNOWN = 3;
const MAX_METADATA_BYTES = 25;

/** A value as a node gave it: most of its answers have no metadata. */
export interface RecordedValue {
  readonly bytes: Uint8Array;
  readonly metadata: StateValueMetadata | undefined | 'unknown';
}

/** What was recorded for a key and a version. */
export interface RecordedState {
  /** Its version is the one that was asked for, whatever version wrote the value; `undefined`: there was no value. */
  readonly entry: StateEntry | undefined;
  readonly isMetadataKnown: boolean;
}

export function forkStateKey(keyHash: Uint8Array, version: bigint): RowKey {
  return { partition: keyHash, order: encodeU64Key(version) };
}

/** @param value `undefined`: there is none; the key stands in the row instead */
export function encodeForkState(physicalKey: Uint8Array, value: RecordedValue | undefined): Buffer {
  const rest = value === undefined ? physicalKey : value.bytes;
  const writer = new BcsWriter(1 + MAX_METADATA_BYTES + rest.length);
  if (value === undefined) writer.u8(TAG_ABSENT);
  else if (value.metadata === undefined) writer.u8(TAG_PLAIN);
  else if (value.metadata === 'unknown') writer.u8(TAG_METADATA_UNKNOWN);
  else writeStateValueMetadata(writer.u8(TAG_WITH_METADATA), value.metadata);
  return writer.fixed(rest).view();
}

/** Reads a row of the column. @throws RowDamagedError */
export function decodeForkState(key: RowKey, value: Uint8Array): RecordedState {
  return decodeRow(FORK_STATE, key, value, (reader) => {
    const tag = reader.variant(TAG_METADATA_UNKNOWN + 1, 'fork_state');
    const metadata = tag === TAG_WITH_METADATA ? readStateValueMetadata(reader) : undefined;
    const bytes = reader.fixed(reader.remaining);
    const version = decodeU64Key(Buffer.from(key.order));
    const entry = { version, bytes, metadata, deletedKey: undefined };
    return {
      entry: tag === TAG_ABSENT ? undefined : entry,
      isMetadataKnown: tag !== TAG_METADATA_UNKNOWN,
    };
  });
}

/** The row of an answer to a question. */
export function answerKey(question: string): RowKey {
  return { partition: sha3(Buffer.from(question)), order: NO_ORDER };
}

/** An answer that was taken. */
interface ForkLogEntry {
  /** Microseconds since 1970. */
  readonly takenAtUsecs: bigint;
  /** Base of the interface that answered. */
  readonly url: string;
  readonly question: string;
}

/** By a number that counts up. */
export const FORK_LOG_ENTRY = new RowCodec<bigint, ForkLogEntry>(
  FORK_LOG,
  encodeBucketKey,
  (writer, { takenAtUsecs, url, question }) =>
    writer.u64(takenAtUsecs).string(url).string(question),
  (reader: BcsReader) => ({
    takenAtUsecs: reader.u64(),
    url: reader.string(),
    question: reader.string(),
  }),
);

function column(
  number: number,
  name: string,
  partitionBytes: number,
  orderBytes: 0 | 2 | typeof U64_BYTES,
): Column {
  return { number, name, partitionBytes, orderBytes: [orderBytes, orderBytes] };
}
