/**
 * The columns of a fork: a store that records the responses of another node (docs/fork.md). A fork has its own format,
 * because only code for forks may read it: if it lacks a row, that row was just never requested.
 *
 * - `fork_state`: rows like those of `state`, by key and exact version. A row is valid for its version only, because
 *   writes in between are unknown.
 * - `fork_answers`: responses that are not rows of other columns, by the operation and its arguments. Lists are stored
 *   page by page.
 *
 * Data that no later version changes is in the same columns as in every ledger: transactions, infos, blocks and the
 * indexes of transactions. These columns have gaps in a fork.
 */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { ownHash, structCodec, text } from '../../move/bcs/codec.ts';
import { sha3 } from '../../move/crypto/hash.ts';
import {
  ACCOUNT_TRANSACTIONS,
  BLOCKS_BY_HEIGHT,
  BLOCKS_BY_VERSION,
  COLUMNS,
  type Column,
  HEAD,
  IDENTITY,
  MAX_ORDER_BYTES,
  PRUNING,
  type RowKey,
  STORE_FORMAT_VERSION,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
  TRANSACTIONS,
} from './columns.ts';
import { NO_ORDER, U64_BYTES } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

/** Formats of forks begin here, so that a program that does not know forks refuses them. */
const FIRST_FORK_FORMAT = 1_000_000;
const FORK_FORMAT_VERSION = FIRST_FORK_FORMAT + 2;

export function isForkFormat(format: number): boolean {
  return format >= FIRST_FORK_FORMAT;
}

/** Whether a number can be a format of this program or a later one. Other numbers mean damage. */
export function isFormat(number: number): boolean {
  return number < 2 * FIRST_FORK_FORMAT && number % FIRST_FORK_FORMAT < 256;
}

export const FORK_STATE: Column = {
  ...{ number: 90, name: 'fork_state', partitionBytes: 32, orderBytes: [U64_BYTES, U64_BYTES] },
};
export const FORK_ANSWERS: Column = {
  ...{ number: 91, name: 'fork_answers', partitionBytes: 32, orderBytes: [0, MAX_ORDER_BYTES] },
};

export interface StoreLayout {
  readonly format: number;
  readonly columns: readonly Column[];
}

export const LEDGER_LAYOUT: StoreLayout = { format: STORE_FORMAT_VERSION, columns: COLUMNS };

export const FORK_LAYOUT: StoreLayout = {
  format: FORK_FORMAT_VERSION,
  columns: [
    ...[IDENTITY, HEAD, TRANSACTION_INFOS, BLOCKS_BY_HEIGHT, BLOCKS_BY_VERSION, PRUNING],
    ...[TRANSACTION_HASHES, ACCOUNT_TRANSACTIONS, TRANSACTIONS],
    ...[FORK_STATE, FORK_ANSWERS],
  ],
};

interface ForkOrigin {
  /** Base URL of the API of the forked node. */
  readonly url: string;
  /** Root of the transaction accumulator after the fork's version, 32 bytes: it covers the whole history. */
  readonly rootHash: Buffer;
}

export const FORK_ORIGIN = new RowCodec<void, ForkOrigin>(
  IDENTITY,
  () => ({ partition: Buffer.of(3), order: NO_ORDER }),
  structCodec({ url: text, rootHash: ownHash }),
);

/** An operation and its arguments. The name determines the types of the arguments. */
export type AnswerName = readonly [operation: string, ...arguments: (bigint | Uint8Array)[]];

/** The key of a response's row. @param from where a page of a list begins, cut after MAX_ORDER_BYTES */
export function answerKey([operation, ...values]: AnswerName, from: Uint8Array = NO_ORDER): RowKey {
  const name = encodeBcs((writer) =>
    writer.string(operation).vector(values, (to, value) => {
      return typeof value === 'bigint' ? to.u64(value) : to.bytes(value);
    }),
  );
  return { partition: sha3(name), order: from.subarray(0, MAX_ORDER_BYTES) };
}
