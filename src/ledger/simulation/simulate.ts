/**
 * Runs a transaction on the state of a version, with what comes before and after its function, and gives what it would
 * change (docs/spec/vm.md §8).
 */
import type { MaybePromise } from '../../maybe-promise.ts';
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { domainHash, sha3 } from '../../move/crypto/hash.ts';
import type { ContractEvent } from '../../move/transactions/event.ts';
import type { EntryFunction, Executable, Script } from '../../move/transactions/executable.ts';
import type { ExecutionStatus } from '../../move/transactions/transaction-info.ts';
import {
  type RawTransaction,
  type SignedTransaction,
  writeRawTransaction,
} from '../../move/transactions/user-transaction.ts';
import type { WriteSetEntry } from '../../move/transactions/write-set.ts';
import { ADDRESS_ONE, type Address } from '../../move/types/address.ts';
import { frameworkTag } from '../../move/types/framework-tag.ts';
import { Machine } from '../../vm/machine/machine.ts';
import { type Call, runIn, VIEW_LIMITS } from '../../vm/machine/run.ts';
import { frameworkNative } from '../../vm/natives/index.ts';
import { Program } from '../../vm/program/program.ts';
import { effectsOf, workOf } from '../../vm/run-effects.ts';
import { STATUS, type StatusName } from '../../vm/status.ts';
import type { TransactionFacts } from '../../vm/transaction-facts.ts';
import { VmError } from '../../vm/vm-error.ts';
import type { World } from '../../vm/world.ts';
import { gasSchedule } from '../gas/gas-settings.ts';
import type { ModuleView } from '../modules/module-view.ts';
import type { Pace } from '../pace.ts';
import type { PruningGuard } from '../pruning-guard.ts';
import { ViewError, vmError } from '../views/view-error.ts';
import { loadEntryCall } from './entry-call.ts';
import { gasFailure } from './gas-checks.ts';
import { estimateGas, type GasUsed } from './gas-estimate.ts';
import { assertOfTransaction, outcomeOf } from './outcome.ts';
import { type StateChange, stateChanges } from './state-changes.ts';
import { isAboveWriteLimits, type StorageFees, storageFees, writesOf } from './storage-fees.ts';
import {
  accountCreationOf,
  type Discarded,
  epilogueFailure,
  epilogueOf,
  feeStatementOf,
  hasSignerTwice,
  isUnpaid,
  prologueFailure,
  prologueOf,
  type Validated,
} from './validation.ts';

/** Feature flags of the reference. */
const PAYLOAD_V2_FLAG = 93;
const ORDERLESS_FLAG = 94;
const TIME_TAG = frameworkTag('timestamp', 'CurrentTimeMicroseconds');

/** Where a transaction is run. */
interface SimulationPlace {
  /** Those of the version. */
  readonly modules: ModuleView;
  readonly guard: PruningGuard;
  readonly program: Program;
  readonly pace: Pace;
  /** Rejects with LedgerError where the version is pruned. */
  openWorld(): MaybePromise<World>;
}

export interface Simulated {
  readonly status: ExecutionStatus;
  /** What the machine says of a failure. */
  readonly message: string | undefined;
  /** In the order of a write set. */
  readonly writes: readonly WriteSetEntry[];
  readonly events: readonly ContractEvent[];
  /** Gas units, estimated; 0 of a transaction that would not be committed. */
  readonly gasUsed: bigint;
}

/** Rejects with ViewError for what cannot be simulated, with LedgerError. */
export async function simulate(
  transaction: SignedTransaction,
  place: SimulationPlace,
): Promise<Simulated> {
  const { guard, modules } = place;
  const { raw } = transaction;
  const call = callOf(raw);
  // What a program remembers of code stays, and a script is sent by a client: its size would not be counted.
  const program = call.kind === 'script' ? new Program(modules.lookup) : place.program;
  const nonce = nonceOf(raw);
  const facts = factsOf(transaction, call, nonce);
  const world = await place.openWorld();
  const schedule = await gasSchedule(guard, modules.version);
  const sizeBytes = encodeBcs((writer) => writeRawTransaction(writer, raw)).length;
  const validated = { transaction, facts, nonce, program, world };
  const refusal = refusalOf(validated) ?? gasFailure(raw, sizeBytes, schedule);
  if (refusal !== undefined) return discarded({ status: refusal, message: undefined });
  const timeUsecs = await timeOf(world);
  const run = new TransactionRun(validated, place.pace);
  const failure = await run.before();
  if (failure !== undefined) return discarded(failure);
  const before = workOf(run.machine);
  const priced = async (changed: TransactionRun): Promise<readonly [StorageFees, GasUsed]> => {
    const { events, changes } = await changesOf(changed, place);
    if (isAboveWriteLimits(changes, events, schedule)) throw vmError('STORAGE_WRITE_LIMIT_REACHED');
    const fees = storageFees(changes, schedule, timeUsecs);
    const work = { before, after: workOf(run.machine), changes, fees };
    return [fees, estimateGas(schedule, raw, sizeBytes, work)];
  };
  try {
    const signers = [facts.sender, ...facts.secondarySigners];
    await run.call(
      await loadEntryCall(call, signers, { program, world, meter: run.machine.meter }),
    );
    const [fees, gas] = await priced(run);
    const unpaid = await run.after(gas);
    if (unpaid !== undefined) return discarded(unpaid);
    const changed = await effectsOfRun(run, place, fees);
    return { ...changed, status: { kind: 'success' }, message: undefined, gasUsed: gas.total };
  } catch (error) {
    if (!(error instanceof VmError || error instanceof ViewError)) throw error;
    const outcome = await outcomeOf(error, modules.lookup);
    const undone = new TransactionRun(validated, place.pace);
    const refused = await undone.before();
    if (refused !== undefined) return discarded(refused);
    const [fees, gas] = await priced(undone);
    const unpaid = await undone.after(gas, true);
    if (unpaid !== undefined) return discarded(unpaid);
    return { ...outcome, ...(await effectsOfRun(undone, place, fees)), gasUsed: gas.total };
  }
}

async function changesOf(
  { machine }: TransactionRun,
  place: SimulationPlace,
): Promise<{ readonly events: readonly ContractEvent[]; readonly changes: StateChange[] }> {
  const effects = await effectsOf(machine);
  return { events: effects.events, changes: await stateChanges(effects, place) };
}

async function effectsOfRun(
  run: TransactionRun,
  place: SimulationPlace,
  fees: StorageFees,
): Promise<Pick<Simulated, 'writes' | 'events'>> {
  const { events, changes } = await changesOf(run, place);
  return { writes: writesOf(changes, fees), events };
}

/** The time of a state, in microseconds since 1970. */
async function timeOf(world: World): Promise<bigint> {
  const bytes = await world.resource(ADDRESS_ONE, TIME_TAG);
  return bytes === undefined ? 0n : new BcsReader(bytes).u64();
}

/** A transaction that would not be committed. */
function discarded({ status, message }: Discarded): Simulated {
  const statusCode = BigInt(STATUS[status]);
  const refused = { kind: 'miscellaneousError', statusCode } as const;
  return { status: refused, message, writes: [], events: [], gasUsed: 0n };
}

/** What is refused before anything runs. */
function refusalOf({ facts, transaction, nonce, world }: Validated): StatusName | undefined {
  if (hasSignerTwice(facts.sender, facts.secondarySigners)) return 'SIGNERS_CONTAIN_DUPLICATES';
  const isGated =
    (transaction.raw.payload.kind === 'payload' && !world.isFeatureEnabled(PAYLOAD_V2_FLAG)) ||
    (nonce !== undefined && !world.isFeatureEnabled(ORDERLESS_FLAG));
  return isGated ? 'FEATURE_UNDER_GATING' : undefined;
}

/** One machine with what comes before a transaction, the transaction, and what comes after. */
class TransactionRun {
  readonly machine: Machine;
  readonly #validated: Validated;

  constructor(validated: Validated, turns: Pace) {
    const { program, world, facts: transaction } = validated;
    const parts = { program, world, natives: frameworkNative, limits: VIEW_LIMITS };
    this.machine = new Machine({ ...parts, transaction, turns });
    this.#validated = validated;
  }

  /** Rejects with VmError. */
  async call(call: Call): Promise<void> {
    await runIn(this.machine, call);
  }

  /** Checks the transaction. @returns why it is refused */
  async before(): Promise<Discarded | undefined> {
    try {
      await this.call(await prologueOf(this.#validated));
      const creation = await accountCreationOf(this.#validated);
      if (creation !== undefined) await this.call(creation);
      return undefined;
    } catch (error) {
      if (!(error instanceof VmError)) throw error;
      await assertOfTransaction(error, this.machine.program.modules);
      return prologueFailure(error);
    }
  }

  /**
   * Takes the fee. Rejects with VmError where the sender cannot pay it, which is a failure of the transaction itself.
   * @param hasFailed whether the transaction has failed already
   * @returns why the transaction is refused
   */
  async after(gas: GasUsed, hasFailed = false): Promise<Discarded | undefined> {
    try {
      await this.call(await epilogueOf(this.#validated, gas));
      const statement = await feeStatementOf(this.#validated, gas);
      if (statement !== undefined) await this.call(statement);
      return undefined;
    } catch (error) {
      if (!(error instanceof VmError) || (isUnpaid(error) && !hasFailed)) throw error;
      await assertOfTransaction(error, this.machine.program.modules);
      return epilogueFailure(error);
    }
  }
}

/** The function that a transaction runs. @throws ViewError for payloads that are not simulated */
function callOf({ payload }: RawTransaction): EntryFunction | Script {
  const executable: Executable | { readonly kind: string } =
    payload.kind === 'payload' && payload.extraConfig.multisigAddress === undefined
      ? payload.executable
      : payload;
  if (executable.kind === 'entryFunction' || executable.kind === 'script') {
    return executable as EntryFunction | Script;
  }
  throw new ViewError('Only entry functions and scripts are simulated by this node');
}

/** Of an orderless transaction. */
function nonceOf({ payload }: RawTransaction): bigint | undefined {
  return payload.kind === 'payload' ? payload.extraConfig.replayProtectionNonce : undefined;
}

function factsOf(
  { raw, authenticator }: SignedTransaction,
  call: EntryFunction | Script,
  nonce: bigint | undefined,
): TransactionFacts {
  const scriptHash = call.kind === 'script' ? sha3(call.code) : Buffer.alloc(0);
  const hasOthers = authenticator.kind === 'multiAgent' || authenticator.kind === 'feePayer';
  return {
    sessionHash: sessionHash(raw, nonce, scriptHash),
    scriptHash: nonce === undefined ? scriptHash : Buffer.alloc(0),
    sender: raw.sender,
    secondarySigners: hasOthers ? authenticator.secondarySignerAddresses : [],
    gasPayer: gasPayerOf(raw.sender, authenticator),
    maxGasAmount: raw.maxGasAmount,
    gasUnitPrice: raw.gasUnitPrice,
    chainId: raw.chainId,
    isOrderless: nonce !== undefined,
    entryFunction: call.kind === 'entryFunction' ? call : undefined,
  };
}

function gasPayerOf(sender: Address, authenticator: SignedTransaction['authenticator']): Address {
  return authenticator.kind === 'feePayer' ? authenticator.feePayerAddress : sender;
}

/** Variants of the reference's sessions. */
const TRANSACTION_SESSION = 0;
const ORDERLESS_SESSION = 9;

function sessionHash(
  { sender, sequenceNumber, expirationTimestampSecs }: RawTransaction,
  nonce: bigint | undefined,
  scriptHash: Uint8Array,
): Buffer {
  const session = encodeBcs((writer) => {
    if (nonce === undefined) {
      writer.uleb32(TRANSACTION_SESSION).address(sender).u64(sequenceNumber).bytes(scriptHash);
    } else {
      writer.uleb32(ORDERLESS_SESSION).address(sender).u64(nonce).u64(expirationTimestampSecs);
    }
  });
  return domainHash('SessionId', session);
}
