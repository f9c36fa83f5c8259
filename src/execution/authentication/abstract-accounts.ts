/**
 * Account abstraction: accounts that are authenticated not by a key but by a function of their own, or by one that
 * their address is derived from (docs/spec/vm.md §8.9).
 */
import { byteTools } from '../../move/bcs/bytes.ts';
import type { AccountAuthenticator } from '../../move/crypto/authenticator.ts';
import type { SignedTransaction } from '../../move/transactions/user-transaction.ts';
import { ADDRESS_ONE, type Address } from '../../move/types/address.ts';
import { type GasPrices, scaleOf } from '../../vm/gas/gas-meter.ts';
import type { Machine } from '../../vm/machine/machine.ts';
import { runIn } from '../../vm/machine/run.ts';
import { VmError } from '../../vm/status/status.ts';
import { ByteVector, type Value } from '../../vm/value.ts';
import type { TransactionFacts, World } from '../../vm/world.ts';

/** Feature flags of the reference. */
const ACCOUNT_ABSTRACTION_FLAG = 85;
const DERIVABLE_FLAG = 88;
const MODULE = { address: ADDRESS_ONE, name: 'account_abstraction' };
/** Variants of `AbstractionAuthData`. */
const V1 = 0;
const DERIVABLE_V1 = 1;

type AbstractAuthenticator = Extract<AccountAuthenticator, { kind: 'abstract' }>;

/** Signers that a transaction runs for. An account's own function may return one with fewer permissions. */
export interface Signers {
  /** The sender is the first. */
  readonly senders: readonly Value[];
  readonly gasPayer: Value;
}

export function isAbstractionEnabled(world: World): boolean {
  return world.isFeatureEnabled(ACCOUNT_ABSTRACTION_FLAG) || world.isFeatureEnabled(DERIVABLE_FLAG);
}

/**
 * Internal gas that authentication may use.
 * @param balance all that the transaction may use
 */
export function authenticationGas(prices: GasPrices, balance: number, world: World): number {
  if (!isAbstractionEnabled(world)) return balance;
  return Math.min(balance, prices.of('txn.max_aa_gas') * scaleOf(prices));
}

/** Runs the functions of accounts that have one, in the session of the machine. Rejects with VmError. */
export async function signersOf(
  machine: Machine,
  { authenticator }: SignedTransaction,
  { sender, secondarySigners, gasPayer }: TransactionFacts,
): Promise<Signers> {
  const hasOthers = authenticator.kind === 'multiAgent' || authenticator.kind === 'feePayer';
  const ofSender =
    hasOthers || authenticator.kind === 'singleSender' ? authenticator.sender : authenticator;
  const proofs = [ofSender, ...(hasOthers ? authenticator.secondarySigners : [])];
  const addresses = [sender, ...secondarySigners];
  if (proofs.length !== addresses.length) {
    const text =
      `Mismatch between senders count (${addresses.length}) and authentication proofs count ` +
      `(${proofs.length})`;
    throw new VmError('INVALID_NUMBER_OF_AUTHENTICATION_PROOFS', { text });
  }
  const payer =
    authenticator.kind === 'feePayer'
      ? await signerOf(machine, gasPayer, authenticator.feePayer)
      : undefined;
  const senders: Value[] = [];
  for (const [index, proof] of proofs.entries()) {
    senders.push(await signerOf(machine, addresses[index]!, proof));
  }
  return { senders, gasPayer: payer ?? senders[0] };
}

/** Rejects with VmError. */
async function signerOf(
  machine: Machine,
  account: Address,
  proof: AccountAuthenticator,
): Promise<Value> {
  if (proof.kind !== 'abstract') return [account];
  const { program, world } = machine;
  const flag = proof.data.kind === 'v1' ? ACCOUNT_ABSTRACTION_FLAG : DERIVABLE_FLAG;
  if (!world.isFeatureEnabled(flag)) throw new VmError('FEATURE_UNDER_GATING');
  await runIn(machine, {
    function: await program.function(MODULE, 'authenticate'),
    typeArguments: [],
    args: [[account], functionInfo(proof), authenticationData(proof)],
  });
  return machine.stack.pop();
}

function functionInfo({ moduleAddress, moduleName, functionName }: AbstractAuthenticator): Value {
  const text = (of: string): Value => [new ByteVector(byteTools.utf8Bytes(of))];
  return [moduleAddress, text(moduleName), text(functionName)];
}

function authenticationData({ data }: AbstractAuthenticator): Value {
  const bytes = (of: Uint8Array): Value => new ByteVector(Uint8Array.from(of));
  const parts = [bytes(data.signingMessageDigest), bytes(data.signature)];
  if (data.kind === 'v1') return [V1, ...parts];
  return [DERIVABLE_V1, ...parts, bytes(data.publicKey)];
}
