/** What a multisig account executes: the payload of its next proposal (docs/spec/vm.md §8.8). */
import type { MaybePromise } from '../maybe-promise.ts';
import { BcsError, decodeBcs } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { byteTools } from '../move/bcs/bytes.ts';
import { EntryFunction } from '../move/transactions/executable.ts';
import { ADDRESS_ONE, type Address } from '../move/types/address.ts';
import { moduleKey } from '../move/types/module-id.ts';
import type { Machine } from '../vm/machine/machine.ts';
import { type Call, runIn } from '../vm/machine/run.ts';
import { STATUS, VmError } from '../vm/status/status.ts';
import { ByteVector, Reference, type Value } from '../vm/value.ts';
import type { World } from '../vm/world.ts';
import { isScript } from './script-module.ts';
import type { ViewError } from './view-error.ts';

export const MULTISIG_MODULE = { address: ADDRESS_ONE, name: 'multisig_account' };
/** A feature flag of the reference. */
const ABORT_IF_PAYLOAD_MISMATCHES = 70;

export interface MultisigCall {
  readonly kind: 'multisig';
  readonly address: Address;
  /** If absent, the payload of the proposal is executed. */
  readonly payload: EntryFunction | undefined;
}

/** The only payload of a proposal, by its variant. */
const ENTRY_FUNCTION = 0;

/** The payload sent with a transaction, in the form that the account's functions compare. */
function givenBytes({ payload }: MultisigCall, world: World): ByteVector {
  if (payload !== undefined) {
    const bytes = encodeBcs((writer) =>
      EntryFunction.write(writer.uleb32(ENTRY_FUNCTION), payload),
    );
    return new ByteVector(Uint8Array.from(bytes));
  }
  const isNone = world.isFeatureEnabled(ABORT_IF_PAYLOAD_MISMATCHES);
  return new ByteVector(isNone ? new Uint8Array() : Uint8Array.of(0));
}

async function callOf(machine: Machine, name: string, args: readonly Value[]): Promise<Call> {
  const target = await machine.program.function(MULTISIG_MODULE, name);
  return { function: target, typeArguments: [], args };
}

/** The call that checks that an owner may execute the next proposal. */
export function validationOf(machine: Machine, call: MultisigCall, owner: Address): Promise<Call> {
  const signer = new Reference([[owner]], 0);
  const args: Value[] = [signer, call.address, givenBytes(call, machine.world)];
  return callOf(machine, 'validate_multisig_transaction', args);
}

/** The BCS of what is executed. Rejects with VmError. */
export async function nextPayload(machine: Machine, call: MultisigCall): Promise<Uint8Array> {
  const args: Value[] = [call.address, givenBytes(call, machine.world)];
  await runIn(machine, await callOf(machine, 'get_next_transaction_payload', args));
  return (machine.stack.pop() as ByteVector).bytes;
}

/** @throws VmError FAILED_TO_DESERIALIZE_ARGUMENT */
export function readNextPayload(bytes: Uint8Array): EntryFunction {
  try {
    return decodeBcs(Buffer.from(bytes), (reader) => {
      reader.variant(1, 'MultisigTransactionPayload');
      return EntryFunction.read(reader);
    });
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    throw new VmError('FAILED_TO_DESERIALIZE_ARGUMENT');
  }
}

/** The call that records that a proposal was executed. @param failure why it failed, absent if it did not */
export function cleanupOf(
  machine: Machine,
  { address }: MultisigCall,
  executor: Address,
  payload: Uint8Array,
  failure?: VmError | ViewError,
): MaybePromise<Call> {
  const args: Value[] = [executor, address, new ByteVector(payload)];
  if (failure === undefined) {
    return callOf(machine, 'successful_transaction_execution_cleanup', args);
  }
  const error = executionError(failure);
  return callOf(machine, 'failed_transaction_execution_cleanup', [...args, error]);
}

const FIRST_EXECUTION_STATUS = 4_000;

/** `ExecutionError`: location, kind and number. */
function executionError(failure: VmError | ViewError): Value {
  const text = (of: string): Value => [new ByteVector(byteTools.utf8Bytes(of))];
  const error = (kind: string, where: string, code: number | bigint): Value => [
    text(where),
    text(kind),
    BigInt(code),
  ];
  if (!(failure instanceof VmError)) return error('VMError', '', failure.vmStatus!);
  const { status, subStatus, location } = failure;
  const code = STATUS[status];
  if (location === undefined || code < FIRST_EXECUTION_STATUS) return error('VMError', '', code);
  const where = isScript(location.module) ? 'Script' : moduleKey(location.module);
  if (status === 'ABORTED' && subStatus !== undefined) return error('MoveAbort', where, subStatus);
  return error('MoveExecutionFailure', where, code);
}
