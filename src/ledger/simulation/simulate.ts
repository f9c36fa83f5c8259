/**
 * Runs a transaction's function on the state of a version, and gives what it would change (docs/spec/vm.md §8). Neither
 * signatures nor what comes before and after the function are executed.
 */
import type { MaybePromise } from '../../maybe-promise.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { domainHash, sha3 } from '../../move/crypto/hash.ts';
import type { ContractEvent } from '../../move/transactions/event.ts';
import type { EntryFunction, Executable, Script } from '../../move/transactions/executable.ts';
import type { ExecutionStatus } from '../../move/transactions/transaction-info.ts';
import type {
  RawTransaction,
  SignedTransaction,
} from '../../move/transactions/user-transaction.ts';
import type { WriteSetEntry } from '../../move/transactions/write-set.ts';
import type { Address } from '../../move/types/address.ts';
import { Machine } from '../../vm/machine/machine.ts';
import { runIn, VIEW_LIMITS } from '../../vm/machine/run.ts';
import { frameworkNative } from '../../vm/natives/index.ts';
import type { Program } from '../../vm/program/program.ts';
import { effectsOf } from '../../vm/run-effects.ts';
import type { TransactionFacts } from '../../vm/transaction-facts.ts';
import { VmError } from '../../vm/vm-error.ts';
import type { World } from '../../vm/world.ts';
import type { ModuleView } from '../modules/module-view.ts';
import type { PruningGuard } from '../pruning-guard.ts';
import { ViewError } from '../views/view-error.ts';
import { loadEntryCall } from './entry-call.ts';
import { outcomeOf } from './outcome.ts';
import { writesOf } from './state-changes.ts';

/** Where a transaction is run. */
interface SimulationPlace {
  /** Those of the version. */
  readonly modules: ModuleView;
  readonly guard: PruningGuard;
  readonly program: Program;
  /** Rejects with LedgerError where the version is pruned. */
  openWorld(): MaybePromise<World>;
}

export interface Simulated {
  readonly status: ExecutionStatus;
  /** What the machine says of a failure. */
  readonly message: string | undefined;
  /** In the order of a write set; none of a failure. */
  readonly writes: readonly WriteSetEntry[];
  readonly events: readonly ContractEvent[];
}

/** Rejects with ViewError for what cannot be simulated, with LedgerError. */
export async function simulate(
  transaction: SignedTransaction,
  place: SimulationPlace,
): Promise<Simulated> {
  const { program, guard, modules } = place;
  const call = callOf(transaction.raw);
  const world = await place.openWorld();
  const facts = factsOf(transaction, call);
  const machine = new Machine({
    program,
    world,
    natives: frameworkNative,
    limits: VIEW_LIMITS,
    transaction: facts,
  });
  try {
    const signers = [facts.sender, ...facts.secondarySigners];
    await runIn(
      machine,
      await loadEntryCall(call, signers, { program, world, meter: machine.meter }),
    );
    const effects = await effectsOf(machine);
    const writes = await writesOf(effects, guard, modules);
    return { status: { kind: 'success' }, message: undefined, writes, events: effects.events };
  } catch (error) {
    if (!(error instanceof VmError || error instanceof ViewError)) throw error;
    return { ...(await outcomeOf(error, modules.lookup)), writes: [], events: [] };
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

function factsOf(
  { raw, authenticator }: SignedTransaction,
  call: EntryFunction | Script,
): TransactionFacts {
  const scriptHash = call.kind === 'script' ? sha3(call.code) : Buffer.alloc(0);
  const nonce =
    raw.payload.kind === 'payload' ? raw.payload.extraConfig.replayProtectionNonce : undefined;
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
