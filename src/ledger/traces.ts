/** Traces of transactions, call by call: each is run again on the state before it (docs/traces.md). */
import { execute, infoOf } from '../execution/execute.ts';
import { openWorld, type VisibleModules } from '../execution/ledger-world.ts';
import type { RunPlace, UserTransactionOutput } from '../execution/run-user-transaction.ts';
import { readSubmitted, simulatedItem } from '../execution/simulated-transaction.ts';
import { stateUsageAt } from '../execution/state-usage.ts';
import { CallRecorder } from '../execution/trace/call-recorder.ts';
import { type TracedRun, traceJson } from '../execution/trace/trace-json.ts';
import { ViewError } from '../execution/view-error.ts';
import type { ViewRequest } from '../execution/view-request.ts';
import { vmStatusText } from '../execution/vm-status.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { decodeBcs } from '../move/bcs/bcs-reader.ts';
import {
  type EncodedOnChainData,
  readOnChainData,
  storedTransactionHash,
  Transaction,
  transactionHash,
} from '../move/transactions/transaction.ts';
import { type ExecutionStatus, TransactionInfo } from '../move/transactions/transaction-info.ts';
import type { SignedTransaction } from '../move/transactions/user-transaction.ts';
import type { ModuleView } from '../state/module-view.ts';
import type { PruningGuard } from '../state/pruning-guard.ts';
import type { LedgerSource } from '../state/source.ts';
import { LARGE_RUN_BYTES, RunSemaphore } from '../vm/machine/large-runs.ts';
import type { RunObserver } from '../vm/observer.ts';
import { Program } from '../vm/program/program.ts';
import type { YieldBudget } from '../yield-budget.ts';
import type { History } from './history.ts';
import { transactionIndexes } from './transactions/transaction-index.ts';

const OPERATION = 'Trace transaction';

/**
 * Maximum number of versions whose writes are counted for a block that begins an epoch. If there are more, none is
 * counted, and the run does not give the recorded result.
 */
const MAX_COUNTED_VERSIONS = 100_000;

/** Each trace may need a hundred MiB. */
export const MAX_TRACES_AT_ONCE = 2;
/** Running traces of this process; others wait. */
export const TRACES = new RunSemaphore(MAX_TRACES_AT_ONCE);

/** Names of transaction kinds in the API. */
const TYPES: Readonly<Record<Transaction['kind'], string>> = {
  user: 'user',
  genesis: 'genesis',
  blockMetadata: 'block_metadata',
  blockMetadataExt: 'block_metadata',
  stateCheckpoint: 'state_checkpoint',
  validator: 'validator',
  blockEpilogue: 'block_epilogue',
};

interface TraceSources {
  readonly source: LedgerSource;
  readonly guard: PruningGuard;
  modulesAt(version: bigint): ModuleView;
  /** Runs view calls and simulations. */
  readonly view: {
    readonly history: History;
    readonly state: { readonly version: bigint };
    callView(
      request: ViewRequest | Uint8Array,
      version: bigint,
      pace: YieldBudget,
      observer: RunObserver,
    ): MaybePromise<{ readonly gasUsed: number | undefined }>;
    simulate(
      transaction: SignedTransaction,
      version: bigint,
      pace: YieldBudget,
      sizeBytes: number,
      observer: RunObserver,
    ): Promise<UserTransactionOutput>;
  };
}

export class Traces {
  readonly #sources: TraceSources;

  constructor(sources: TraceSources) {
    this.#sources = sources;
  }

  /**
   * The trace of a committed transaction, in pieces of JSON. Rejects with LedgerError if the transaction or the state
   * before it is missing; with ViewError for a transaction that this node does not execute.
   * @param versionOrHash its version, or its hash of 32 bytes
   */
  transaction(versionOrHash: bigint | Uint8Array, pace: YieldBudget): Promise<readonly Buffer[]> {
    return inTurn(pace, () => this.#transaction(versionOrHash, pace));
  }

  async #transaction(
    versionOrHash: bigint | Uint8Array,
    pace: YieldBudget,
  ): Promise<readonly Buffer[]> {
    const { history } = this.#sources.view;
    const found =
      typeof versionOrHash === 'bigint'
        ? history.transaction(versionOrHash, OPERATION)
        : history.transactionByHash(versionOrHash, OPERATION);
    const item = decodeBcs(await found, readOnChainData);
    const { data, bytes } = item;
    const { version, transaction } = data;
    const place = await this.#placeBefore(version, pace);
    // Older chains do not count signatures in the size of a transaction (docs/spec/gas.md §5).
    let run = await this.#run(item, place, bytes.transaction.length - 1);
    if (!run.isRecorded && transaction.kind === 'user') {
      const other = await this.#run(item, place, undefined);
      if (other.isRecorded) run = other;
    }
    const hash = storedTransactionHash(bytes.transaction, transaction);
    const outcome = await this.#outcomeOf(run.status, version);
    const type = `${TYPES[transaction.kind]}_transaction`;
    return await this.#json({ ...run, ...outcome, version, hash, type }, version - 1n, pace);
  }

  /**
   * The trace of a transaction that is simulated on the newest state.
   * @param signed BCS of the SignedTransaction
   */
  simulation(signed: Buffer, pace: YieldBudget): Promise<readonly Buffer[]> {
    return inTurn(pace, () => this.#simulation(signed, pace));
  }

  async #simulation(signed: Buffer, pace: YieldBudget): Promise<readonly Buffer[]> {
    const { view } = this.#sources;
    const { version } = view.state;
    const submitted = readSubmitted(signed);
    const recorder = new CallRecorder();
    const runs: UserTransactionOutput[] = [];
    await simulatedItem(submitted, version, async (transaction) => {
      const run = await view.simulate(transaction, version, pace, signed.length, recorder);
      runs.push(run);
      return run;
    });
    const [run] = runs as [UserTransactionOutput];
    const user = { kind: 'user', transaction: submitted.transaction } as const;
    const hash = transactionHash(Transaction.encode(user));
    const outcome = await this.#outcomeOf(run.status, version, run.message);
    const facts = { recorder, version, hash, type: 'user_transaction' };
    return await this.#json({ ...run, ...outcome, ...facts }, version, pace);
  }

  /** The trace of a view call. Rejects with ViewError for a call that does not start to run. */
  view(
    request: ViewRequest | Uint8Array,
    version: bigint,
    pace: YieldBudget,
  ): Promise<readonly Buffer[]> {
    return inTurn(pace, () => this.#view(request, version, pace));
  }

  async #view(
    request: ViewRequest | Uint8Array,
    version: bigint,
    pace: YieldBudget,
  ): Promise<readonly Buffer[]> {
    const recorder = new CallRecorder();
    const facts = { recorder, version, type: 'view', writes: [], events: [] };
    let outcome = { isSuccess: true, statusText: 'Executed successfully' };
    let gasUsed: bigint | undefined;
    try {
      const answer = await this.#sources.view.callView(request, version, pace, recorder);
      if (answer.gasUsed !== undefined) gasUsed = BigInt(answer.gasUsed);
    } catch (error) {
      if (!(error instanceof ViewError) || recorder.parts.length === 0) throw error;
      outcome = { isSuccess: false, statusText: error.message };
    }
    return await this.#json({ ...facts, ...outcome, gasUsed }, version, pace);
  }

  async #outcomeOf(status: ExecutionStatus, version: bigint, message?: string) {
    const modules = this.#sources.modulesAt(version);
    const text = await vmStatusText(status, { newestOf: (decode) => decode(modules) });
    const statusText = message === undefined ? text : `${text}: ${message}`;
    return { isSuccess: status.kind === 'success', statusText };
  }

  /** @param stateVersion version of the state that it ran on; negative for none */
  async #json(run: TracedRun, stateVersion: bigint, pace: YieldBudget): Promise<readonly Buffer[]> {
    const { guard, modulesAt } = this.#sources;
    run.recorder.end();
    return await traceJson(run, {
      pace,
      modules: { modules: modulesAt(run.version).lookup },
      before: async (key) =>
        stateVersion < 0n ? undefined : await guard.state(undefined, key, stateVersion),
    });
  }

  async #run(item: EncodedOnChainData, place: RunPlace, sizeBytes: number | undefined) {
    const { data, bytes } = item;
    const recorder = new CallRecorder();
    const executable = { transaction: data.transaction, bytes: bytes.transaction };
    const { index } = place;
    const run = { ...place, index: index ?? 0, sizeBytes, observer: recorder };
    const executed = await execute(executable, run);
    const info = TransactionInfo.encode(infoOf(item, executed, index));
    return { ...executed, recorder, isRecorded: info.equals(bytes.info) };
  }

  /** The place for running the transaction of this version, on the state before it. */
  async #placeBefore(version: bigint, pace: YieldBudget): Promise<RunPlace> {
    const { guard, source, modulesAt, view } = this.#sources;
    const modules = modulesAt(version - 1n);
    const program = new Program(modules.lookup);
    const [index] = await transactionIndexes(source, guard, version, 1, pace);
    const writesOf = async (at: bigint) => {
      const item = await view.history.transaction(at, OPERATION);
      return decodeBcs(item, readOnChainData).data.changes.writes;
    };
    // A fork counts no writes: it would request every transaction of the epoch from its node.
    const first = source.isFrozen ? version : 0n;
    const stateUsage = () =>
      stateUsageAt(guard, version - 1n, {
        ...{ writesOf, firstVersion: first, maxVersions: MAX_COUNTED_VERSIONS },
        yieldTurn: () => pace.nextTurn(),
      });
    return {
      ...{ modules, guard, program, places: new WeakMap(), pace, index },
      openWorld: (seen: VisibleModules = modules) =>
        openWorld(guard, seen, { stateUsage, isForOneRun: true }),
    };
  }
}

/**
 * Does work when one more trace may run. Waiting traces count as held bytes, too, which limits their number. They end
 * when the client leaves or the node stops.
 */
async function inTurn<T>(pace: YieldBudget, work: () => Promise<T>): Promise<T> {
  pace.hold(LARGE_RUN_BYTES);
  await TRACES.enter(pace.signal);
  try {
    return await work();
  } finally {
    TRACES.leave();
  }
}
