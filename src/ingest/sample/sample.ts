/**
 * The sample ledger as chunks for the store: the whole of it from genesis, or more of one that is there.
 *
 * A ledger is made of whole blocks, so it may end a few transactions after the number asked for. The history does
 * not depend on how much of it is asked for: a longer ledger begins with the shorter one. To go on after a store's
 * head, the model is brought there by replaying the history from its seed without encoding, hashing or signing
 * (about 20 times as fast as making it); the settings stand in the ledger itself (SAMPLE_RESOURCE).
 */
import { decodeBcs } from '../../move/bcs-reader.ts';
import { MoveError } from '../../move/errors.ts';
import type { Chunk, ChunkTransaction } from '../../store/chunk.ts';
import type { Head } from '../../store/head.ts';
import { chunkOfGenesis } from '../genesis-chunk.ts';
import { readGenesis } from '../genesis.ts';
import { proveGenesis } from '../genesis-waypoint.ts';
import { GENERATOR_VERSION, type SampleSettings } from './genesis-resources.ts';
import { type SampleBlock, SampleLedger } from './sample-ledger.ts';

export { SAMPLE_RESOURCE, type SampleSettings } from './genesis-resources.ts';

/** Transactions from which a chunk is handed out: at the end of the block that reaches them. */
export const DEFAULT_CHUNK_TRANSACTIONS = 1_000;
/** Ordinary accounts of a sample ledger. */
export const MIN_SAMPLE_ACCOUNTS = 1;
export const MAX_SAMPLE_ACCOUNTS = 5_000_000;
export const MAX_SAMPLE_TRANSACTIONS = 1_000_000_000;
export const MAX_SAMPLE_SEED = 0xffff_ffff_ffff_ffffn;

export type SampleErrorCode = 'bad_sample_settings' | 'not_this_sample';

/** Settings that no sample ledger can have, or a ledger that is not the sample it is said to be. */
export class SampleError extends MoveError<SampleErrorCode> {}

export interface SampleOptions {
  /** u64. */
  readonly seed: bigint | number;
  /** Fewest transactions, genesis included; the last block is completed. */
  readonly transactions: number;
  /** Ordinary accounts that the ledger grows to. */
  readonly accounts: number;
  /** Whether whole transactions are kept for the feed; true when absent. */
  readonly keepsTransactions?: boolean;
  /** Fewest transactions in a chunk, DEFAULT_CHUNK_TRANSACTIONS when absent. */
  readonly chunkTransactions?: number;
}

/**
 * A sample ledger from genesis on: genesis as a chunk of its own, then chunks of whole blocks.
 * @throws SampleError `bad_sample_settings`
 */
export function* sampleChunks(options: SampleOptions): Generator<Chunk, void, undefined> {
  const { transactions, keepsTransactions = true } = options;
  checkCount('transactions', transactions, 1, MAX_SAMPLE_TRANSACTIONS);
  const ledger = new SampleLedger(sampleSettings(options));
  const genesis = readGenesis(ledger.genesis());
  const proof = proveGenesis(genesis);
  yield chunkOfGenesis(genesis, proof, keepsTransactions);
  ledger.record([proof.infoHash]);
  yield* blockChunks(ledger, BigInt(transactions), keepsTransactions, chunkSize(options));
}

/** What a continuation needs to know of the ledger that is there. */
export type SampleHead = Pick<
  Head,
  'version' | 'blockHeight' | 'epoch' | 'timestampUsecs' | 'frozenRoots'
>;

export interface ContinueOptions {
  /** Transactions to add at least; the last block is completed. */
  readonly transactions: number;
  readonly keepsTransactions?: boolean;
  readonly chunkTransactions?: number;
}

/**
 * More of a sample ledger, after its head. Replays its history first: some 5 seconds for a million transactions.
 * @throws SampleError `not_this_sample` when the head is not one that these settings lead to.
 */
export function* continueSample(
  settings: SampleSettings,
  head: SampleHead,
  options: ContinueOptions,
): Generator<Chunk, void, undefined> {
  const { transactions, keepsTransactions = true } = options;
  checkCount('transactions', transactions, 1, MAX_SAMPLE_TRANSACTIONS);
  const ledger = new SampleLedger(sampleSettings(settings));
  const nextVersion = head.version + 1n;
  const isReached = ledger.replayTo(nextVersion);
  if (!isReached || !isSameMoment(ledger, head)) {
    throw new SampleError(
      'not_this_sample',
      `no sample ledger of seed ${settings.seed} and ${settings.accounts} accounts is at ` +
        `version ${head.version}, block ${head.blockHeight}: it was made by another generator`,
    );
  }
  ledger.record(head.frozenRoots);
  const end = nextVersion + BigInt(transactions);
  yield* blockChunks(ledger, end, keepsTransactions, chunkSize(options));
}

function isSameMoment(ledger: SampleLedger, head: SampleHead): boolean {
  const { chain } = ledger.world;
  return BigInt(chain.height) === head.blockHeight && BigInt(chain.now) === head.timestampUsecs;
}

/**
 * The settings of a sample ledger from its own resource.
 * @param bytes the value of SAMPLE_RESOURCE at 0xcafe
 * @throws BcsError for other bytes; SampleError `not_this_sample` when another generator made it.
 */
export function readSampleSettings(bytes: Uint8Array): SampleSettings {
  const { generator, settings } = decodeBcs(bytes, (reader) => {
    const version = reader.u64();
    const seed = reader.u64();
    return { generator: version, settings: { seed, accounts: Number(reader.u64()) } };
  });
  if (generator !== BigInt(GENERATOR_VERSION)) {
    throw new SampleError(
      'not_this_sample',
      `the sample ledger was made by generator ${generator}, this one is ${GENERATOR_VERSION}`,
    );
  }
  return sampleSettings(settings);
}

function sampleSettings(options: Pick<SampleOptions, 'seed' | 'accounts'>): SampleSettings {
  const { seed, accounts } = options;
  if (typeof seed === 'number' && !Number.isSafeInteger(seed)) throw badSeed(seed);
  const value = BigInt(seed);
  if (value < 0n || value > MAX_SAMPLE_SEED) throw badSeed(seed);
  checkCount('accounts', accounts, MIN_SAMPLE_ACCOUNTS, MAX_SAMPLE_ACCOUNTS);
  return { seed: value, accounts };
}

function badSeed(seed: bigint | number): SampleError {
  return new SampleError('bad_sample_settings', `the seed is a u64, not ${seed}`);
}

function chunkSize({ chunkTransactions = DEFAULT_CHUNK_TRANSACTIONS }: ContinueOptions): number {
  checkCount('chunkTransactions', chunkTransactions, 1, MAX_CHUNK_SIZE);
  return chunkTransactions;
}

/** Leaves room for the block that completes a chunk below the store's own limit. */
const MAX_CHUNK_SIZE = 50_000;

function checkCount(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new SampleError('bad_sample_settings', `${name} is ${least} to ${most}, not ${value}`);
}

/** Chunks of whole blocks until `end` transactions are there. */
function* blockChunks(
  ledger: SampleLedger,
  end: bigint,
  keepsTransactions: boolean,
  chunkTransactions: number,
): Generator<Chunk, void, undefined> {
  while (ledger.nextVersion < end) {
    const firstVersion = ledger.nextVersion;
    const blocks: SampleBlock[] = [];
    const transactions: ChunkTransaction[] = [];
    while (ledger.nextVersion < end && transactions.length < chunkTransactions) {
      const block = ledger.nextBlock();
      blocks.push(block);
      transactions.push(...block.transactions);
    }
    yield {
      firstVersion,
      transactions: keepsTransactions ? transactions : transactions.map(withoutTransaction),
      blocks: blocks.map(({ block }) => block),
      epochEnds: blocks.flatMap(({ epochEnd }) => (epochEnd === undefined ? [] : [epochEnd])),
      frozenRoots: ledger.frozenRoots,
    };
  }
}

function withoutTransaction(transaction: ChunkTransaction): ChunkTransaction {
  return { ...transaction, transaction: undefined };
}
