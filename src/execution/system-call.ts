/**
 * The functions that the reference runs for transactions that no user sent: those of blocks, and those between
 * validators (docs/spec/vm.md §9).
 */
import type {
  BlockEpilogue,
  BlockMetadata,
  BlockMetadataExt,
} from '../move/transactions/block-transaction.ts';
import type { Transaction } from '../move/transactions/transaction.ts';
import type { ValidatorTransaction } from '../move/transactions/validator-transaction.ts';
import { ADDRESS_ONE, type Address, addressFromBytes, padAddress } from '../move/types/address.ts';
import type { Call } from '../vm/machine/run.ts';
import { optionOf } from '../vm/natives/vectors.ts';
import type { LoadedFunction } from '../vm/program/loaded-module.ts';
import type { Program } from '../vm/program/program.ts';
import { ByteVector, Reference, type Value } from '../vm/value.ts';
import type { Session } from '../vm/world.ts';
import { systemSession } from './sessions.ts';

/** The reference itself, as the signer of what it runs. */
const VM_ADDRESS = padAddress('0');

interface SystemCall {
  readonly call: Call;
  readonly session: Session;
}

/**
 * The call that a transaction runs; `undefined` if it runs nothing. Rejects with VmError if the
 * ledger has no such function.
 * @param hash of the transaction
 */
export async function systemCallOf(
  transaction: Exclude<Transaction, { kind: 'user' | 'genesis' }>,
  hash: Buffer,
  program: Program,
): Promise<SystemCall | undefined> {
  switch (transaction.kind) {
    case 'stateCheckpoint':
      return undefined;
    case 'blockMetadata':
      return prologueCall(transaction.metadata, program);
    case 'blockMetadataExt':
      return extendedPrologueCall(transaction.metadata, program);
    case 'blockEpilogue':
      return epilogueCall(transaction.epilogue, program);
    case 'validator':
      return validatorCall(transaction.transaction, hash, program);
  }
}

async function prologueCall(metadata: BlockMetadata, program: Program): Promise<SystemCall> {
  const call = await callOf(program, 'block', 'block_prologue', VM_ADDRESS, prologueArgs(metadata));
  return { call, session: systemSession('blockMetadata', metadata.id) };
}

async function extendedPrologueCall(
  extended: BlockMetadataExt,
  program: Program,
): Promise<SystemCall> {
  const { metadata } = extended;
  if (extended.kind === 'v0') return prologueCall(metadata, program);
  const args = [
    ...prologueArgs(metadata),
    await optionOf(program, bytesIn(extended.randomness?.bytes)),
  ];
  let name = 'block_prologue_ext';
  if (extended.kind === 'v2') {
    args.push(await optionOf(program, bytesIn(extended.decryptionKey?.bytes)));
    name = 'block_prologue_ext_v2';
  }
  const call = await callOf(program, 'block', name, VM_ADDRESS, args);
  return { call, session: systemSession('blockMetadataExt', metadata.id) };
}

function prologueArgs(metadata: BlockMetadata): Value[] {
  return [
    addressFromBytes(metadata.id),
    metadata.epoch,
    metadata.round,
    metadata.proposer,
    metadata.failedProposerIndices.map((index) => BigInt(index)),
    bytesOf(metadata.previousBlockVotesBitvec),
    metadata.timestampUsecs,
  ];
}

async function epilogueCall(
  epilogue: BlockEpilogue,
  program: Program,
): Promise<SystemCall | undefined> {
  if (epilogue.kind === 'v0') return undefined;
  const { blockId, feeDistribution } = epilogue;
  const args = [
    feeDistribution.map(({ validatorIndex }) => validatorIndex),
    feeDistribution.map(({ octas }) => octas),
  ];
  const call = await callOf(program, 'block', 'block_epilogue', VM_ADDRESS, args);
  return { call, session: systemSession('blockEpilogue', blockId) };
}

async function validatorCall(
  transaction: ValidatorTransaction,
  hash: Buffer,
  program: Program,
): Promise<SystemCall> {
  const session = systemSession('validator', hash);
  if (transaction.kind === 'observedJwkUpdate') {
    const { issuer, version, jwks } = transaction;
    const keys = jwks.map(
      ({ typeName, data }): Value => [[[bytesOf(Buffer.from(typeName))], bytesOf(data)]],
    );
    const updates: Value = [[bytesOf(issuer), version, keys]];
    const name = 'upsert_into_observed_jwks';
    return { call: await callOf(program, 'jwks', name, ADDRESS_ONE, [updates]), session };
  }
  const args: Value[] = [bytesOf(transaction.transcript)];
  let name = 'finish_with_dkg_result';
  if (transaction.kind === 'chunkyDkgResult') {
    args.push(bytesOf(transaction.encryptionKey));
    name = 'finish_with_chunky_dkg_result';
  }
  const call = await callOf(program, 'reconfiguration_with_dkg', name, ADDRESS_ONE, args);
  return { call, session };
}

/** @param signer the first argument of the call, by value or borrowed */
async function callOf(
  program: Program,
  module: string,
  name: string,
  signer: Address,
  args: readonly Value[],
): Promise<Call> {
  const target = await program.function({ address: ADDRESS_ONE, name: module }, name);
  return { function: target, typeArguments: [], args: [signerFor(target, signer), ...args] };
}

function signerFor({ parameters }: LoadedFunction, address: Address): Value {
  const signer: Value = [address];
  return parameters[0]?.kind === 'reference' ? new Reference([signer], 0) : signer;
}

function bytesOf(bytes: Uint8Array): ByteVector {
  return new ByteVector(Uint8Array.from(bytes));
}

function bytesIn(bytes: Uint8Array | undefined): ByteVector | undefined {
  return bytes && bytesOf(bytes);
}
