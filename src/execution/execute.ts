/**
 * Runs a transaction of any kind, new or replayed from a ledger, on the state before it and returns its output
 * (docs/spec/vm.md §9).
 */

import { accumulatorRoot } from '../move/crypto/accumulator.ts';
import { auxiliaryInfoHash } from '../move/transactions/auxiliary-info.ts';
import { ContractEvent, contractEventHash } from '../move/transactions/event.ts';
import {
  type EncodedOnChainData,
  storedTransactionHash,
  type Transaction,
} from '../move/transactions/transaction.ts';
import type { TransactionInfo } from '../move/transactions/transaction-info.ts';
import { WriteSet, writeSetHash } from '../move/transactions/write-set.ts';
import { Machine } from '../vm/machine/machine.ts';
import { runIn, VIEW_LIMITS } from '../vm/machine/run.ts';
import { frameworkNative } from '../vm/natives/index.ts';
import { effectsOf } from '../vm/run-effects.ts';
import { VmError } from '../vm/status/status.ts';
import { assertOfTransaction } from './outcome.ts';
import {
  type RunPlace,
  runUserTransaction,
  timeOf,
  type UserTransactionOutput,
} from './run-user-transaction.ts';
import { stateChanges } from './state-changes.ts';
import { unpaidMetadata, writesOf } from './storage-fees.ts';
import { systemCallOf } from './system-call.ts';
import { ViewError } from './view-error.ts';

/** A transaction of any kind, and its BCS, with the leading variant. */
export interface EncodedTransaction {
  readonly transaction: Transaction;
  readonly bytes: Buffer;
}

export type TransactionOutput = Omit<UserTransactionOutput, 'message'>;

const SUCCESS = { status: { kind: 'success' }, gasUsed: 0n } as const;
const NOTHING: TransactionOutput = { ...SUCCESS, writes: [], events: [] };

/**
 * Rejects with ViewError for what this node does not execute, with LedgerError, and with VmError if a
 * transaction that no user sent fails: no chain commits that.
 */
export async function execute(
  { transaction, bytes }: EncodedTransaction,
  place: RunPlace,
): Promise<TransactionOutput> {
  if (transaction.kind === 'user') return runUserTransaction(transaction.transaction, place);
  if (transaction.kind === 'genesis') return genesisOf(transaction);
  const { modules, program } = place;
  const hash = storedTransactionHash(bytes, transaction);
  try {
    const ran = await systemCallOf(transaction, hash, program);
    if (ran === undefined) return NOTHING;
    const world = await place.openWorld();
    const parts = { program, world, natives: frameworkNative, limits: VIEW_LIMITS };
    const { observer, pace: turns } = place;
    const machine = new Machine({ ...parts, session: ran.session, turns, observer });
    observer?.begin?.('function', machine.gas);
    await runIn(machine, ran.call);
    const effects = await effectsOf(machine);
    const changes = await stateChanges(effects, [], place);
    const unpaid = unpaidMetadata(world, await timeOf(world));
    return { ...SUCCESS, events: effects.events, writes: writesOf(changes, new Map(), unpaid) };
  } catch (error) {
    if (!(error instanceof VmError)) throw error;
    await assertOfTransaction(error, modules.lookup);
    // A chain continues even if the end of a block fails.
    if (transaction.kind === 'blockEpilogue') return NOTHING;
    throw error;
  }
}

type Genesis = Extract<Transaction, { kind: 'genesis' }>;

/** @throws ViewError for a genesis that runs a script: no chain has started with one */
function genesisOf({ payload }: Genesis): TransactionOutput {
  if (payload.kind === 'script') throw new ViewError('Scripts of genesis are not executed');
  return { ...SUCCESS, writes: payload.writeSet.writes, events: payload.events };
}

/**
 * The info of a transaction with another outcome. What execution does not determine is taken from the ledger: the state
 * roots, and the keys that a block makes hot.
 * @param index in its block
 */
export function infoOf(
  { data, bytes }: EncodedOnChainData,
  { status, gasUsed, events, writes }: TransactionOutput,
  index: number | undefined,
): TransactionInfo {
  const { transaction, info } = data;
  const leaves = events.map((event) => contractEventHash(ContractEvent.encode(event)));
  return {
    ...info,
    gasUsed,
    status,
    transactionHash: storedTransactionHash(bytes.transaction, transaction),
    eventRootHash: accumulatorRoot('EventAccumulator', leaves),
    stateChangeHash: writeSetHash(writeSetBytes(writes, bytes.changes)),
    auxiliaryInfoHash: index === undefined ? undefined : auxiliaryInfoHash(index),
  };
}

/** Encodes a write set in the form of a recorded one; what follows the writes is copied. */
function writeSetBytes(writes: TransactionOutput['writes'], recorded: Buffer): Buffer {
  const bytes = WriteSet.encode({ kind: 'v0', writes });
  const [variant] = recorded;
  if (variant === 0) return bytes;
  return Buffer.concat([Buffer.of(variant!), bytes.subarray(1), recorded.subarray(bytes.length)]);
}
