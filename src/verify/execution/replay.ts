/** Runs the transactions of a stored ledger again, each on the state before it, and compares the outcomes. */
import { isDeepStrictEqual } from 'node:util';
import { signatureState } from '../../execution/authentication/valid-signatures.ts';
import { infoOf } from '../../execution/execute.ts';
import { Executor } from '../../execution/executor.ts';
import { ViewError } from '../../execution/view-error.ts';
import { indexWithHash } from '../../move/transactions/auxiliary-info.ts';
import type { EncodedOnChainData } from '../../move/transactions/transaction.ts';
import { TransactionInfo } from '../../move/transactions/transaction-info.ts';
import { RawTransaction } from '../../move/transactions/user-transaction.ts';
import { LedgerError } from '../../state/ledger-error.ts';
import type { Head } from '../../store/columns/head.ts';
import type { StoreReader } from '../../store/store.ts';
import { VmError } from '../../vm/status/status.ts';

export interface Difference {
  readonly version: bigint;
  /** Whether this node cannot execute the transaction; otherwise its outcome differs. */
  readonly isOpen: boolean;
  readonly detail: string;
}

/** Indexes of a block that are tried: transactions that were discarded have some, too. */
const MAX_TRIED_INDEXES = 10_000;

export class Replay {
  unverified = 0;
  readonly #executor: Executor;
  /** Whether signatures count in the size of transactions (docs/spec/gas.md §5). */
  #countsSignatures = true;
  #version: bigint | undefined;
  #firstIndex = 0;
  #indexAfter = 0;

  private constructor(executor: Executor) {
    this.#executor = executor;
  }

  static async open(store: StoreReader, head: Head | undefined): Promise<Replay> {
    return new Replay(await Executor.open(store, head));
  }

  /** Runs the transaction of a version. Versions that follow each other are faster. */
  async run(version: bigint): Promise<Difference | undefined> {
    const item = await this.#executor.itemOf(version);
    const found = await this.differenceOf(item);
    this.advance(item);
    return found;
  }

  /** Advances to the next version. @param isStored whether the store has the transaction already */
  advance({ data }: EncodedOnChainData, isStored = true): void {
    this.#version = data.version + 1n;
    this.#executor.advance(data.changes.writes, isStored);
    this.#firstIndex = this.#indexAfter;
  }

  markStored(head: Head): void {
    this.#executor.markStored(head);
  }

  /** Runs a transaction. The state that it reads is cached until another version is run. */
  async differenceOf(item: EncodedOnChainData): Promise<Difference | undefined> {
    const { version } = item.data;
    if (version !== this.#version) {
      // Modules may be others in between.
      this.#version = version;
      this.#executor.goTo(version - 1n);
      this.#firstIndex = 0;
    }
    const index = this.#indexOf(item);
    try {
      if (!(await this.#isSigned(item))) {
        return { version, isOpen: false, detail: 'it is not properly signed' };
      }
      const found = await this.#difference(item, index);
      if (found === undefined || !this.#countsSignatures) return found;
      if (item.data.transaction.kind !== 'user') return found;
      this.#countsSignatures = false;
      const secondDifference = await this.#difference(item, index);
      this.#countsSignatures = secondDifference !== undefined;
      return secondDifference;
    } catch (error) {
      const isRefusal =
        error instanceof ViewError || error instanceof VmError || error instanceof LedgerError;
      if (!isRefusal) throw error;
      return { version, isOpen: true, detail: error.message };
    }
  }

  /** Whether a transaction is signed by those who must. Notes schemes that are not verified here. */
  async #isSigned({ data: { transaction } }: EncodedOnChainData): Promise<boolean> {
    if (transaction.kind !== 'user') return true;
    const { raw } = transaction.transaction;
    const rawBytes = RawTransaction.encode(raw);
    const state = await signatureState(transaction.transaction, rawBytes, 'unknown');
    if (state === 'unknown') this.unverified += 1;
    return state !== 'invalid';
  }

  async #difference(item: EncodedOnChainData, index: number | undefined) {
    const { data, bytes } = item;
    const executable = { transaction: data.transaction, bytes: bytes.transaction };
    const sizeBytes = this.#countsSignatures ? bytes.transaction.length - 1 : undefined;
    const output = await this.#executor.run(executable, { index: index ?? 0, sizeBytes });
    return differenceOf(item, infoOf(item, output, index));
  }

  #indexOf({ data }: EncodedOnChainData): number | undefined {
    const { kind } = data.transaction;
    const least = kind === 'blockMetadata' || kind === 'blockMetadataExt' ? 0 : this.#firstIndex;
    const { auxiliaryInfoHash } = data.info;
    const index = auxiliaryInfoHash && indexWithHash(auxiliaryInfoHash, least, MAX_TRIED_INDEXES);
    this.#indexAfter = (index ?? least) + 1;
    return index;
  }
}

/** Parts of an info that come from running the transaction, and what they are called. */
const COMPARED = [
  ['status', 'status'],
  ['gasUsed', 'gas'],
  ['eventRootHash', 'events'],
  ['stateChangeHash', 'writes'],
  ['transactionHash', 'hash of the transaction'],
  ['auxiliaryInfoHash', 'index in its block'],
] as const;

function differenceOf({ data, bytes }: EncodedOnChainData, found: TransactionInfo) {
  if (TransactionInfo.encode(found).equals(bytes.info)) return undefined;
  const names = COMPARED.filter(([part]) => !isDeepStrictEqual(found[part], data.info[part]));
  const detail = `another ${names.map(([, name]) => name).join(', ')}`;
  return { version: data.version, isOpen: false, detail };
}
