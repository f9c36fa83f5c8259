/** Transactions and blocks in the upstream's answers: decoded strictly and checked against their own hashes. */

import { ChunkBuilder, ChunkDataError } from '../../ingest/chunk-builder.ts';
import { PageError } from '../../ingest/feed/page-error.ts';
import { checkItem } from '../../ingest/feed/page-verifier.ts';
import { isTranslatedType } from '../../ingest/translate/event-translation.ts';
import { chunkEventOf } from '../../ingest/version-parts.ts';
import { BcsError, type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { readHash } from '../../move/bcs/fixed-bytes.ts';
import {
  type EncodedOnChainData,
  readOnChainData,
  TransactionOnChainData,
} from '../../move/transactions/transaction.ts';
import { writeSetHash } from '../../move/transactions/write-set.ts';
import type { Batch } from '../../store/batch.ts';
import { BLOCK_BY_HEIGHT, BLOCK_BY_VERSION, type Block } from '../../store/columns/block-column.ts';
import { TRANSACTION_INFOS, TRANSACTIONS } from '../../store/columns/columns.ts';
import { encodeBucketKey } from '../../store/columns/order-key.ts';
import { putIndexRows } from '../../store/columns/transaction-index-column.ts';
import { LedgerError } from '../ledger-error.ts';
import type { ForkClient, Reply, UpstreamRequest } from './fork-client.ts';
import { badAnswer, UpstreamFailure } from './upstream-failure.ts';

/** Transactions of one request: a node's default maximum page size. */
export const TRANSACTIONS_PER_REQUEST = 100;

/** The result in a reply. @throws UpstreamFailure for refusals; LedgerError for data that the upstream has pruned */
export function requireResult(what: string, reply: Reply): Reply & { readonly kind: 'result' } {
  if (reply.kind === 'result') return reply;
  const { status, code, message } = reply;
  if (status === 410 && (code === 'version_pruned' || code === 'block_pruned')) {
    throw new LedgerError(code, message);
  }
  throw new UpstreamFailure(
    'upstream_refused',
    `${what}: it answers ${status} ${code}: ${message}`,
  );
}

/** Decodes an answer. @throws UpstreamFailure `bad_answer` */
export function decodeAnswer<T>(what: string, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    const isMalformedAnswer =
      cause instanceof BcsError || cause instanceof PageError || cause instanceof ChunkDataError;
    if (!isMalformedAnswer) throw cause;
    throw badAnswer(what, cause.message, { cause });
  }
}

/**
 * Sends a request and decodes the result; `undefined` for a refusal with the code `absent`.
 * @throws UpstreamFailure; LedgerError for data that the upstream has pruned
 */
export async function fetchIfPresent<T>(
  client: ForkClient,
  what: string,
  { absent, ...request }: UpstreamRequest & { readonly absent?: string },
  read: (reader: BcsReader) => T,
): Promise<{ readonly answer: T; readonly cursor: string | undefined } | undefined> {
  const reply = await client.request(request);
  if (reply.kind === 'refusal' && reply.code === absent) return undefined;
  const { bytes, cursor } = requireResult(what, reply);
  return { answer: decodeAnswer(what, () => decodeBcs(bytes, read)), cursor };
}

export async function fetchDecoded<T>(
  client: ForkClient,
  what: string,
  request: UpstreamRequest,
  read: (reader: BcsReader) => T,
): Promise<T> {
  return (await fetchIfPresent(client, what, request, read))!.answer;
}

/** Requests transactions from a version on: one or more, at most `limit`. */
export async function fetchTransactions(
  client: ForkClient,
  start: bigint,
  limit: number,
): Promise<readonly EncodedOnChainData[]> {
  const what = `transactions from version ${start} on`;
  const query = { start: String(start), limit: String(limit) };
  const items = await fetchDecoded(
    client,
    what,
    { path: '/transactions', query },
    readTransactions,
  );
  if (items.length === 0 || items.length > limit) {
    throw badAnswer(what, `${items.length} instead of ${limit}`);
  }
  for (const [index, item] of items.entries()) {
    decodeAnswer(what, () => checkTransaction(item, start + BigInt(index)));
  }
  return items;
}

export function readTransactions(reader: BcsReader): readonly EncodedOnChainData[] {
  return reader.vector(TransactionOnChainData.minBytes, readOnChainData);
}

/**
 * Checks a transaction against the hashes in its info. Events that the upstream translates differ from the hashed ones;
 * they are accepted, because that is what the API returns (docs/spec/ledger.md §5.8). @throws PageError
 */
export function checkTransaction(item: EncodedOnChainData, version: bigint): void {
  try {
    checkItem(item, version);
  } catch (error) {
    const isEventMismatch = error instanceof PageError && error.field === 'events';
    if (!isEventMismatch || !item.bytes.events.some(isTranslated)) throw error;
    if (!writeSetHash(item.bytes.changes).equals(item.data.info.stateChangeHash)) throw error;
  }
}

function isTranslated(bytes: Buffer): boolean {
  const event = chunkEventOf(bytes);
  return event.kind === 'stream' && isTranslatedType(event.typeTag);
}

/**
 * Puts a checked transaction with its info and index rows, and the rows of the block that it begins, if any.
 * @returns that block
 */
export function putTransaction(
  batch: Batch,
  { data, bytes }: EncodedOnChainData,
): Block | undefined {
  const { version } = data;
  const { partition, order } = encodeBucketKey(version);
  batch.put(TRANSACTIONS, partition, order, bytes.whole);
  batch.put(TRANSACTION_INFOS, partition, order, bytes.info);
  putIndexRows(batch, version, bytes.info, bytes.whole);
  const block = decodeAnswer(`version ${version}`, () => blockOf({ data, bytes }));
  if (block === undefined) return undefined;
  BLOCK_BY_HEIGHT.put(batch, block.height, block);
  BLOCK_BY_VERSION.put(batch, block.firstVersion, block);
  return block;
}

/** The block that a transaction begins; `undefined` if it begins none. @throws ChunkDataError */
function blockOf({ data, bytes }: EncodedOnChainData): Block | undefined {
  const builder = new ChunkBuilder(data.version);
  const { info, events, changes: writeSet } = bytes;
  builder.add({ info, events, writeSet, transaction: undefined });
  return builder.finish([]).blocks[0];
}

/** A block as the API returns it (docs/spec/ledger.md §3.2). */
interface BlockReply {
  readonly height: bigint;
  readonly id: Buffer;
  readonly timestampUsecs: bigint;
  readonly firstVersion: bigint;
  readonly lastVersion: bigint;
}

/** Requests a block at or below the fork's version; an upstream at that version has it. */
export async function fetchBlock(
  client: ForkClient,
  by: 'height' | 'version',
  number: bigint,
): Promise<BlockReply> {
  const what = `the block of ${by} ${number}`;
  const block = await fetchDecoded(client, what, { path: `/blocks/by_${by}/${number}` }, readBlock);
  const { height, firstVersion, lastVersion } = block;
  const isRequestedBlock =
    by === 'height' ? height === number : firstVersion <= number && number <= lastVersion;
  if (isRequestedBlock && firstVersion <= lastVersion) return block;
  throw badAnswer(what, `height ${height}, versions ${firstVersion} to ${lastVersion}`);
}

function readBlock(reader: BcsReader): BlockReply {
  const height = reader.u64();
  const id = Buffer.from(readHash(reader));
  const timestampUsecs = reader.u64();
  const firstVersion = reader.u64();
  const lastVersion = reader.u64();
  if (reader.bool()) throw reader.error('bad_value', 'transactions that were not asked for');
  return { height, id, timestampUsecs, firstVersion, lastVersion };
}

/**
 * Requests and puts the transaction that begins a block. It has the rest of the block's data, and must match `reply`.
 * @returns the block
 */
export async function fetchBlockStart(
  client: ForkClient,
  batch: Batch,
  reply: BlockReply,
): Promise<Block> {
  const { height, id, timestampUsecs, firstVersion } = reply;
  const [item] = await fetchTransactions(client, firstVersion, 1);
  const block = putTransaction(batch, item!);
  const isSame =
    block !== undefined &&
    block.height === height &&
    block.timestampUsecs === timestampUsecs &&
    block.id.equals(id);
  if (isSame) return block;
  const what = `the block of height ${height}`;
  throw badAnswer(what, `the transaction of version ${firstVersion} does not begin it`);
}

export function pathOf(...segments: readonly string[]): UpstreamRequest['path'] {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}
