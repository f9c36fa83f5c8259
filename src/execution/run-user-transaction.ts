/**
 * Runs a user transaction on the state of a version, including its prologue and epilogue, and returns the changes
 * (docs/spec/vm.md §8).
 */
import type { MaybePromise } from '../maybe-promise.ts';
import { BcsReader } from '../move/bcs/bcs-reader.ts';
import { sha3 } from '../move/crypto/hash.ts';
import type { ContractEvent } from '../move/transactions/event.ts';
import type { EntryFunction, Script } from '../move/transactions/executable.ts';
import type { ExecutionStatus } from '../move/transactions/transaction-info.ts';
import { RawTransaction, type SignedTransaction } from '../move/transactions/user-transaction.ts';
import type { WriteSetEntry } from '../move/transactions/write-set.ts';
import { ADDRESS_ONE } from '../move/types/address.ts';
import { frameworkTag } from '../move/types/framework-tag.ts';
import type { PruningGuard } from '../state/pruning-guard.ts';
import { GasMeter, scaleOf } from '../vm/gas/gas-meter.ts';
import type { InstructionPrices } from '../vm/gas/instruction-prices.ts';
import { Machine } from '../vm/machine/machine.ts';
import { type Call, runIn, VIEW_LIMITS } from '../vm/machine/run.ts';
import { frameworkNative } from '../vm/natives/index.ts';
import type { RunObserver } from '../vm/observer.ts';
import { Program } from '../vm/program/program.ts';
import { effectsOf } from '../vm/run-effects.ts';
import { STATUS, type StatusName, VmError } from '../vm/status/status.ts';
import type { Value } from '../vm/value.ts';
import type { World } from '../vm/world.ts';
import type { YieldBudget } from '../yield-budget.ts';
import { authenticationGas, type Signers, signersOf } from './authentication/abstract-accounts.ts';
import { checkSchemes, pricedSchemes } from './authentication/schemes.ts';
import { signaturePairs } from './authentication/valid-signatures.ts';
import {
  type ChangeSet,
  type ChargeTerms,
  chargeChanges,
  type GasUsed,
  gasUsed,
} from './charges.ts';
import { loadEntryCall } from './entry-call.ts';
import { gasFailure, intrinsicGas } from './gas-checks.ts';
import { gasPrices } from './gas-settings.ts';
import type { ResourcePlaces, VisibleModules } from './ledger-world.ts';
import {
  cleanupOf,
  type MultisigCall,
  nextPayload,
  readNextPayload,
  validationOf,
} from './multisig.ts';
import { assertOfTransaction, type DiscardReason, outcomeOf } from './outcome.ts';
import { type Publication, publishRequested } from './publish.ts';
import { type UserPart, userSession } from './sessions.ts';
import { stateChanges } from './state-changes.ts';
import { type StorageFees, unpaidMetadata, writesOf } from './storage-fees.ts';
import { callOf, factsOf, isUnsigned, nonceOf, type UserCall } from './user-call.ts';
import {
  accountCreationOf,
  authenticationFailure,
  epilogueFailure,
  epilogueOf,
  feeStatementOf,
  hasSignerTwice,
  isUnpaid,
  prologueFailure,
  prologueOf,
  type ValidationContext,
} from './validation.ts';
import { ViewError } from './view-error.ts';

const PAYLOAD_V2_FLAG = 93;
export const ORDERLESS_FLAG = 94;
const TIME_TAG = frameworkTag('timestamp', 'CurrentTimeMicroseconds');

export interface RunPlace {
  readonly modules: VisibleModules;
  readonly guard: PruningGuard;
  readonly program: Program;
  readonly places: ResourcePlaces;
  readonly pace: YieldBudget;
  /** The size that counts for the transaction; if absent, that of the raw transaction. */
  readonly sizeBytes?: number | undefined;
  /** The transaction's index in its block; absent in a simulation. */
  readonly index?: number | undefined;
  readonly observer?: RunObserver | undefined;
  /** The state, with resources located through some modules. Rejects with LedgerError if the version is pruned. */
  openWorld(modules?: VisibleModules): MaybePromise<World>;
}

export interface UserTransactionOutput {
  readonly status: ExecutionStatus;
  /** The machine's text for a failure. */
  readonly message: string | undefined;
  readonly writes: readonly WriteSetEntry[];
  readonly events: readonly ContractEvent[];
  /** Gas units, estimated; 0 for a transaction that would not be committed. */
  readonly gasUsed: bigint;
}

/** Rejects with LedgerError, and with ViewError for what cannot be simulated. */
export async function runUserTransaction(
  transaction: SignedTransaction,
  place: RunPlace,
): Promise<UserTransactionOutput> {
  const begun = await begin(transaction, place);
  return 'status' in begun ? discarded(begun) : begun.run();
}

/**
 * Why a transaction would not be committed, from the checks before its function runs; `undefined` if they all
 * pass. Rejects as `runUserTransaction` does.
 */
export async function validate(
  transaction: SignedTransaction,
  place: RunPlace,
): Promise<DiscardReason | undefined> {
  const begun = await begin(transaction, place);
  return 'status' in begun ? begun : begun.refusal();
}

async function begin(
  transaction: SignedTransaction,
  place: RunPlace,
): Promise<Execution | DiscardReason> {
  const { guard, modules } = place;
  const { raw } = transaction;
  const call = callOf(raw);
  // A script is untrusted and its size is not counted, so it gets a program of its own, dropped afterwards.
  const program = call.kind === 'script' ? new Program(modules.lookup) : place.program;
  const nonce = nonceOf(raw);
  const facts = factsOf(transaction, call, nonce, place.index);
  const script = call.kind === 'script' ? sha3(call.code) : Buffer.alloc(0);
  const sessionOf = (part: UserPart) => userSession(part, raw, nonce, script, facts);
  const world = await place.openWorld();
  const prices = await gasPrices(guard, modules.version);
  // Keys of accounts that a local network impersonates are not checked, either.
  const isSimulation = place.index === undefined || isUnsigned(transaction);
  const validated = { transaction, facts, nonce, isSimulation, sessionOf, program, world };
  const sizeBytes = place.sizeBytes ?? RawTransaction.encode(raw).length;
  const discardedFor = (status: StatusName) => ({ status, message: undefined });
  if (hasSignerTwice(facts.sender, facts.secondarySigners)) {
    return discardedFor('SIGNERS_CONTAIN_DUPLICATES');
  }
  const pairs = signaturePairs(transaction);
  if (pairs === undefined) return discardedFor('INVALID_SIGNATURE');
  try {
    if (place.index !== undefined) await checkSchemes(pairs, world);
  } catch (error) {
    if (!(error instanceof VmError)) throw error;
    return authenticationFailure(error);
  }
  const { gasUnitPrice } = raw;
  const allGas = Number(raw.maxGasAmount) * scaleOf(prices.prices);
  const firstGas = authenticationGas(prices.prices, allGas, world);
  const gas = new GasMeter(prices.prices, firstGas);
  const terms = { sizeBytes, gasUnitPrice, timeUsecs: await timeOf(world) };
  const intrinsic = intrinsicGas(prices.prices, sizeBytes, pricedSchemes(pairs));
  const metering = { gas, gasAfterAuthentication: allGas - firstGas, intrinsic, prices, terms };
  return new Execution(validated, call, place, metering);
}

interface Metering {
  readonly gas: GasMeter;
  /** Internal gas that is added once the signers are authenticated. */
  readonly gasAfterAuthentication: number;
  /** The least internal gas that the transaction uses. */
  readonly intrinsic: number;
  readonly prices: InstructionPrices;
  readonly terms: ChargeTerms;
}

/** One transaction from its prologue to its epilogue. */
class Execution {
  readonly #validated: ValidationContext;
  readonly #call: UserCall;
  readonly #place: RunPlace;
  readonly #metering: Metering;

  constructor(validated: ValidationContext, call: UserCall, place: RunPlace, metering: Metering) {
    this.#validated = validated;
    this.#call = call;
    this.#place = place;
    this.#metering = metering;
  }

  /** Runs only the checks before the function. */
  async refusal(): Promise<DiscardReason | undefined> {
    return this.#validate(this.#firstRun());
  }

  async run(): Promise<UserTransactionOutput> {
    const run = this.#firstRun();
    const refusal = await this.#validate(run);
    if (refusal !== undefined) return discarded(refusal);
    const { gas, gasAfterAuthentication } = this.#metering;
    gas.add(gasAfterAuthentication);
    try {
      await this.#beginFunction(run);
      if (this.#call.kind === 'multisig') return await this.#runMultisig(run, this.#call);
      await this.#runFunction(run, this.#call, run.signers.senders);
      return await this.#finish(run, await this.#charge(run), SUCCESS);
    } catch (error) {
      if (!(error instanceof VmError || error instanceof ViewError)) throw error;
      const outcome = await outcomeOf(error, this.#place.modules.lookup);
      return await this.#fail(outcome);
    }
  }

  /** Authenticates the signers and runs the prologue. @returns why the transaction is refused */
  async #validate(run: TransactionRun): Promise<DiscardReason | undefined> {
    const refusal = await run.authenticate();
    if (refusal !== undefined) return refusal;
    const { gas, intrinsic, terms } = this.#metering;
    const { raw } = this.#validated.transaction;
    const status =
      gatingOf(this.#validated) ?? gasFailure(raw, terms.sizeBytes, intrinsic, gas.prices);
    if (status !== undefined) return { status, message: undefined };
    return run.before(this.#call);
  }

  /** Begins the session of the function, which also creates the sender's account if it has none. */
  async #beginFunction(run: TransactionRun): Promise<void> {
    const { gas, intrinsic, prices } = this.#metering;
    run.begin('transaction', gas, prices);
    const creation = await accountCreationOf(this.#validated);
    if (creation !== undefined) await run.call(creation);
    const { observer } = this.#place;
    observer?.begin?.('intrinsic', gas);
    gas.charge(intrinsic);
    observer?.begin?.('function', gas);
  }

  /** Rejects with VmError, ViewError. */
  async #runFunction(
    run: TransactionRun,
    call: EntryFunction | Script,
    signers: readonly Value[],
  ): Promise<void> {
    await run.call(await loadEntryCall(call, signers, run.machine));
    run.published = await publishRequested(run.machine, this.#place);
    run.begin('epilogue');
  }

  /** Runs the account's proposal. If it fails, the account records that, and the transaction succeeds. */
  async #runMultisig(run: TransactionRun, call: MultisigCall): Promise<UserTransactionOutput> {
    const { sender } = this.#validated.facts;
    const payload = await nextPayload(run.machine, call);
    const proposed = readNextPayload(payload);
    try {
      await this.#runFunction(run, proposed, [[call.address]]);
    } catch (error) {
      if (!(error instanceof VmError || error instanceof ViewError)) throw error;
      // A failure that says nothing about the transaction ends it.
      await outcomeOf(error, this.#place.modules.lookup);
      const rerun = await this.#beginRerun();
      if ('status' in rerun) return discarded(rerun);
      rerun.begin('epilogue');
      await rerun.call(await cleanupOf(rerun.machine, call, sender, payload, error));
      return await this.#finish(rerun, NO_FEES, SUCCESS);
    }
    const fees = await this.#charge(run);
    await run.call(await cleanupOf(run.machine, call, sender, payload));
    return await this.#finish(run, fees, SUCCESS);
  }

  /** Charges for what a run has changed. Rejects with VmError, ViewError. */
  async #charge(run: TransactionRun): Promise<StorageFees> {
    const { gas, terms } = this.#metering;
    const { observer } = this.#place;
    const changes = await changesOf(run, this.#place);
    observer?.begin?.('changes', gas);
    const fees = chargeChanges(gas, changes, terms);
    observer?.begin?.('epilogue', run.machine.gas);
    return fees;
  }

  /** Keeps only the fee and the created account of a transaction that has failed. */
  async #fail(
    outcome: Pick<UserTransactionOutput, 'status' | 'message'>,
  ): Promise<UserTransactionOutput> {
    const creation = await accountCreationOf(this.#validated);
    const rerun = await this.#beginRerun();
    if ('status' in rerun) return discarded(rerun);
    if (creation === undefined) return await this.#finish(rerun, NO_FEES, outcome, true);
    const created = await this.#create(rerun, creation);
    if ('status' in created) return discarded(created);
    let fees = NO_FEES;
    try {
      fees = await this.#charge(created);
    } catch (error) {
      // Running out of gas here is counted but ends nothing.
      if (!(error instanceof VmError)) throw error;
    }
    return await this.#finish(created, fees, outcome, true);
  }

  /** The run that is charged for the authentication of signers. */
  #firstRun(): TransactionRun {
    const { gas, prices } = this.#metering;
    const run = new TransactionRun(this.#validated, this.#place);
    run.begin('prologue', gas, prices);
    return run;
  }

  /** Another run after its prologue. */
  async #beginRerun(): Promise<TransactionRun | DiscardReason> {
    const run = new TransactionRun(this.#validated, this.#place);
    // Observers only see the first run.
    this.#place.observer?.begin?.(undefined, run.machine.gas);
    return (await this.#validate(run)) ?? run;
  }

  /** A run that creates the sender's account, charged for if there is enough gas. */
  async #create(run: TransactionRun, creation: Call): Promise<TransactionRun | DiscardReason> {
    const { gas, prices } = this.#metering;
    try {
      run.begin('failed', gas, prices);
      await run.call(creation);
      run.begin('epilogue');
      return run;
    } catch (error) {
      if (!(error instanceof VmError)) throw error;
      const rerun = await this.#beginRerun();
      if ('status' in rerun) return rerun;
      rerun.begin('failed');
      await rerun.call(creation);
      return rerun;
    }
  }

  /** Takes the fee. */
  async #finish(
    run: TransactionRun,
    fees: StorageFees,
    outcome: Pick<UserTransactionOutput, 'status' | 'message'>,
    hasFailed = false,
  ): Promise<UserTransactionOutput> {
    const { maxGasAmount } = this.#validated.transaction.raw;
    const used = gasUsed(this.#metering.gas, maxGasAmount, hasFailed ? 0n : fees.refund);
    const unpaid = await run.after(used, hasFailed);
    if (unpaid !== undefined) return discarded(unpaid);
    const { events, changes } = await changesOf(run, this.#place);
    const unpaidValue = unpaidMetadata(this.#validated.world, this.#metering.terms.timeUsecs);
    const writes = writesOf(changes, fees.metadata, unpaidValue);
    return { ...outcome, writes, events, gasUsed: used.total };
  }
}

const SUCCESS = { status: { kind: 'success' }, message: undefined } as const;
const NO_FEES: StorageFees = { fee: 0n, refund: 0n, metadata: new Map() };

async function changesOf(
  { machine, published }: TransactionRun,
  place: RunPlace,
): Promise<ChangeSet> {
  const effects = await effectsOf(machine);
  const newPlace = published && { modules: published.modules, places: new WeakMap() };
  const changes = await stateChanges(effects, published?.added ?? [], { ...place, ...newPlace });
  return { events: effects.events, changes };
}

/** The time of a state, in microseconds since 1970. */
export async function timeOf(world: World): Promise<bigint> {
  const bytes = await world.resource(ADDRESS_ONE, TIME_TAG);
  return bytes === undefined ? 0n : new BcsReader(bytes).u64();
}

/** A transaction that would not be committed. */
function discarded({ status, message }: DiscardReason): UserTransactionOutput {
  const statusCode = BigInt(STATUS[status]);
  const refused = { kind: 'miscellaneousError', statusCode } as const;
  return { status: refused, message, writes: [], events: [], gasUsed: 0n };
}

function gatingOf({ transaction, nonce, world }: ValidationContext): StatusName | undefined {
  const isGated =
    (transaction.raw.payload.kind === 'payload' && !world.isFeatureEnabled(PAYLOAD_V2_FLAG)) ||
    (nonce !== undefined && !world.isFeatureEnabled(ORDERLESS_FLAG));
  return isGated ? 'FEATURE_UNDER_GATING' : undefined;
}

/** Names of the parts of a transaction for observers. */
const PART_NAMES: Readonly<Record<UserPart, string>> = {
  prologue: 'prologue',
  transaction: 'function',
  failed: 'failed',
  epilogue: 'epilogue',
};

/** One machine that runs the prologue of a transaction, the transaction, and its epilogue. */
class TransactionRun {
  readonly machine: Machine;
  published: Publication | undefined;
  #signers: Signers | undefined;
  readonly #validated: ValidationContext;

  constructor(validated: ValidationContext, { pace: turns, observer }: RunPlace) {
    const { program, world } = validated;
    const parts = { program, world, natives: frameworkNative, limits: VIEW_LIMITS };
    const session = validated.sessionOf('prologue');
    this.machine = new Machine({ ...parts, session, turns, observer });
    this.#validated = validated;
  }

  /** The authenticated signers. */
  get signers(): Signers {
    if (this.#signers === undefined) throw new RangeError('nobody was authenticated');
    return this.#signers;
  }

  /** Begins the session of a part. Without gas nothing is charged. */
  begin(part: UserPart, gas?: GasMeter, prices?: InstructionPrices): void {
    this.machine.beginSession(this.#validated.sessionOf(part), gas, prices);
    this.machine.observer?.begin?.(PART_NAMES[part], this.machine.gas);
  }

  /** @throws VmError, or rejects with it */
  call(call: Call): MaybePromise<unknown> {
    return runIn(this.machine, call);
  }

  /** @returns why the transaction is refused */
  async authenticate(): Promise<DiscardReason | undefined> {
    const { transaction, facts } = this.#validated;
    try {
      this.#signers = await signersOf(this.machine, transaction, facts);
      this.machine.stopCharging();
      return undefined;
    } catch (error) {
      if (!(error instanceof VmError)) throw error;
      await assertOfTransaction(error, this.machine.program.modules);
      return authenticationFailure(error);
    }
  }

  /** Checks the transaction. @returns why it is refused */
  async before(call: UserCall): Promise<DiscardReason | undefined> {
    try {
      await this.call(await prologueOf(this.#validated, this.signers));
      const { facts } = this.#validated;
      if (call.kind === 'multisig') {
        await this.call(await validationOf(this.machine, call, facts.sender));
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof VmError)) throw error;
      await assertOfTransaction(error, this.machine.program.modules);
      return prologueFailure(error);
    }
  }

  /**
   * Takes the fee. Rejects with VmError if the sender cannot pay it, which is a failure of the transaction itself.
   * @param hasFailed whether the transaction has failed already
   * @returns why the transaction is refused
   */
  async after(gas: GasUsed, hasFailed = false): Promise<DiscardReason | undefined> {
    this.begin('epilogue');
    try {
      // Published modules may have changed the program.
      const validated = { ...this.#validated, program: this.machine.program };
      await this.call(await epilogueOf(validated, this.signers, gas));
      const statement = await feeStatementOf(validated, gas);
      if (statement !== undefined) await this.call(statement);
      return undefined;
    } catch (error) {
      if (!(error instanceof VmError) || (isUnpaid(error) && !hasFailed)) throw error;
      await assertOfTransaction(error, this.machine.program.modules);
      return epilogueFailure(error);
    }
  }
}
