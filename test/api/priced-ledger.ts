/** Ledgers of blocks whose transactions have given prices, gas and calls, in stores of their own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApi } from '../../src/api/http/server.ts';
import { type BcsWriter, encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { auxiliaryInfoHash } from '../../src/move/transactions/auxiliary-info.ts';
import type { TransactionPayload } from '../../src/move/transactions/payload.ts';
import { TransactionInfo } from '../../src/move/transactions/transaction-info.ts';
import { RawTransaction } from '../../src/move/transactions/user-transaction.ts';
import { ADDRESS_ONE, padAddress } from '../../src/move/types/address.ts';
import { frameworkTag } from '../../src/move/types/framework-tag.ts';
import { physicalStateKey, resourceStateKey } from '../../src/move/types/state-key.ts';
import type { Block } from '../../src/store/columns/block-column.ts';
import type { Store } from '../../src/store/store.ts';
import type { StateWrite } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { rawTransaction } from '../ledger/signing-bytes.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

/** A user transaction. Defaults are price 100, gas 1, and an entry function of 0x1. */
export interface Sent {
  readonly price?: bigint;
  readonly gas?: bigint;
  readonly payload?: TransactionPayload;
}

/** A block: its metadata, its user transactions, its epilogue. */
export interface PricedBlock {
  readonly epoch?: bigint;
  readonly sent?: readonly Sent[];
  /** Indexes in the block whose hashes the infos have, by position. */
  readonly indexes?: readonly (number | undefined)[];
}

/** Calls a function of an address. */
export function callOf(address: string): TransactionPayload {
  const module = { address: padAddress(address), name: 'm' };
  return { kind: 'entryFunction', module, function: 'f', typeArguments: [], args: [] };
}

const CALL = callOf('1');
const SCHEDULE_MINIMUM = 'txn.min_price_per_gas_unit';

function writeResource(module: string, name: string, value: Buffer): StateWrite {
  const key = resourceStateKey(ADDRESS_ONE, frameworkTag(module, name));
  return { key: physicalStateKey(key), value };
}

function writeEntries(writer: BcsWriter, price: bigint): void {
  const entries = [['instr.nop', 36n] as const, [SCHEDULE_MINIMUM, price] as const];
  writer.vector(entries, (to, [name, value]) => to.string(name).u64(value));
}

/** A gas schedule with a minimum price; `V1` is the older variant. */
export function schedule(price: bigint, form: 'V1' | 'V2' = 'V2'): StateWrite {
  if (form === 'V1') {
    const value = encodeBcs((writer) => writeEntries(writer, price));
    return writeResource('gas_schedule', 'GasSchedule', value);
  }
  const value = encodeBcs((writer) => writeEntries(writer.u64(46n), price));
  return writeResource('gas_schedule', 'GasScheduleV2', value);
}

/** The execution configuration whose BCS, inside of its byte vector, is `bytes`. */
export function executionConfig(bytes: Uint8Array): StateWrite {
  const value = encodeBcs((writer) => writer.bytes(bytes));
  return writeResource('execution_config', 'ExecutionConfig', value);
}

const HASH = Buffer.alloc(32);

function infoBytes(gasUsed: bigint, index: number | undefined): Buffer {
  return TransactionInfo.encode({
    kind: 'v0',
    gasUsed,
    status: { kind: 'success' },
    transactionHash: HASH,
    eventRootHash: HASH,
    stateChangeHash: HASH,
    stateCheckpointHash: undefined,
    auxiliaryInfoHash: index === undefined ? undefined : auxiliaryInfoHash(index),
  });
}

/** BCS of a TransactionOnChainData without events and writes. */
function onChainData(version: bigint, transaction: Buffer, info: Buffer): Buffer {
  return encodeBcs((writer) =>
    writer.u64(version).fixed(transaction).fixed(info).length32(0).fixed(HASH).fixed(NO_WRITES),
  );
}

const NO_WRITES = Buffer.of(0, 0);
/** A checkpoint, as an example of a transaction that is not a user's. */
const CHECKPOINT = Buffer.concat([Buffer.of(3), HASH]);
/** A single signer without a signature. */
const NO_SIGNER = Buffer.of(4, 4);

function userTransaction({ price = 100n, payload = CALL }: Sent): Buffer {
  return encodeBcs((writer) => {
    writer.uleb32(0);
    RawTransaction.write(writer, rawTransaction(payload, { gasUnitPrice: price }));
    writer.fixed(NO_SIGNER);
  });
}

/** A ledger that grows by blocks, and an API over it. */
export class PricedLedger {
  readonly app: TestApi;
  readonly store: Store;
  readonly #writer: LedgerWriter;
  readonly #directory: string;
  readonly #keepsTransactions: boolean;
  #version = 0n;
  #height = 0n;

  private constructor(
    store: Store,
    writer: LedgerWriter,
    directory: string,
    keepsTransactions: boolean,
  ) {
    this.store = store;
    this.#writer = writer;
    this.#directory = directory;
    this.#keepsTransactions = keepsTransactions;
    const settings = apiSettings({ ...NO_LOAD_BOUNDS });
    this.app = new TestApi(buildApi(openTestedLedger(store), settings, new LogLines()));
  }

  /** Creates a ledger with a genesis that has these writes, alone in its block. */
  static async open(
    writes: readonly StateWrite[],
    keepsTransactions = true,
  ): Promise<PricedLedger> {
    const directory = mkdtempSync(join(tmpdir(), 'daybook-priced-'));
    const store = await openTestedStore({ directory });
    const writer = await LedgerWriter.open(store);
    const ledger = new PricedLedger(store, writer, directory, keepsTransactions);
    await ledger.#append([{ epoch: 0n }], writes);
    return ledger;
  }

  /** Commits blocks; their epoch is 1 by default. */
  add(...blocks: readonly PricedBlock[]): Promise<void> {
    return this.#append(blocks, []);
  }

  async #append(blocks: readonly PricedBlock[], writes: readonly StateWrite[]): Promise<void> {
    const firstVersion = this.#version;
    const isFirst = firstVersion === 0n;
    const rows: Block[] = [];
    const transactions: Parameters<LedgerWriter['append']>[0]['transactions'][number][] = [];
    for (const block of blocks) {
      rows.push(this.#blockRow(block.epoch ?? 1n));
      for (const [place, sent] of inBlock(block, isFirst)) {
        const info = infoBytes(sent?.gas ?? (sent ? 1n : 0n), block.indexes?.[place]);
        const bytes = onChainData(this.#version, sent ? userTransaction(sent) : CHECKPOINT, info);
        const transaction = this.#keepsTransactions ? bytes : undefined;
        transactions.push({ writes: isFirst ? writes : [], events: [], info, transaction });
        this.#version += 1n;
      }
    }
    const identity = {
      chainId: 7,
      genesisWaypointHash: HASH,
      keepsTransactions: this.#keepsTransactions,
    };
    await this.#writer.append({
      firstVersion,
      transactions,
      blocks: rows,
      epochEnds: [],
      frozenRoots: frozenRoots(this.#version),
      ...(isFirst && { identity }),
    });
  }

  #blockRow(epoch: bigint): Block {
    const height = this.#height;
    this.#height += 1n;
    const { timestampUsecs, round } = { timestampUsecs: 1_000n * height, round: height };
    return { height, firstVersion: this.#version, epoch, round, timestampUsecs, id: HASH };
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.store.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** The transactions of a block by their positions; `undefined` if it is not a user's. */
function inBlock({ sent = [] }: PricedBlock, isFirst: boolean): [number, Sent | undefined][] {
  const all = isFirst ? [undefined] : [undefined, ...sent, undefined];
  return all.map((one, place) => [place, one]);
}

function frozenRoots(leaves: bigint): Buffer[] {
  const count = [...leaves.toString(2)].filter((digit) => digit === '1').length;
  return Array.from({ length: count }, () => HASH);
}
