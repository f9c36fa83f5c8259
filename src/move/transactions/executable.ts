/**
 * What a user transaction runs, an entry function or a script, and the configuration that orderless and encrypted
 * payloads add to it (docs/spec/ledger.md §3.4, docs/spec/encode.md §A5).
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import type { Address } from '../types/address.ts';
import { type ModuleId, readModuleId, writeModuleId } from '../types/module-id.ts';
import { readTypeTag, type TypeTag, writeTypeTag } from '../types/type-tag.ts';
import {
  readTransactionArgument,
  type TransactionArgument,
  writeTransactionArgument,
} from './transaction-argument.ts';

export interface EntryFunction {
  readonly kind: 'entryFunction';
  readonly module: ModuleId;
  readonly function: string;
  readonly typeArguments: readonly TypeTag[];
  /** The BCS of each argument. */
  readonly args: readonly Buffer[];
}

export interface Script {
  readonly kind: 'script';
  readonly code: Buffer;
  readonly typeArguments: readonly TypeTag[];
  readonly args: readonly TransactionArgument[];
}

/** What an orderless or encrypted payload runs; `encrypted` has no content. */
export type Executable =
  | EntryFunction
  | Script
  | { readonly kind: 'empty' }
  | { readonly kind: 'encrypted' };

export function readEntryFunction(reader: BcsReader): EntryFunction {
  const module = readModuleId(reader);
  const name = reader.string();
  const typeArguments = reader.vector(1, (inner) => readTypeTag(inner));
  const args = reader.vector(1, (inner) => inner.bytes());
  return { kind: 'entryFunction', module, function: name, typeArguments, args };
}

export function writeEntryFunction(writer: BcsWriter, call: EntryFunction): void {
  writeModuleId(writer, call.module);
  writer.string(call.function);
  writer.vector(call.typeArguments, (inner, tag) => writeTypeTag(inner, tag));
  writer.vector(call.args, (inner, argument) => inner.bytes(argument));
}

export function readScriptCall(reader: BcsReader): Script {
  const code = reader.bytes();
  const typeArguments = reader.vector(1, (inner) => readTypeTag(inner));
  const args = reader.vector(2, readTransactionArgument);
  return { kind: 'script', code, typeArguments, args };
}

export function writeScriptCall(writer: BcsWriter, script: Script): void {
  writer.bytes(script.code);
  writer.vector(script.typeArguments, (inner, tag) => writeTypeTag(inner, tag));
  writer.vector(script.args, writeTransactionArgument);
}

/** By their variants, which are not those of the payload. */
export const EXECUTABLE_KINDS = ['script', 'entryFunction', 'empty', 'encrypted'] as const;

export function readExecutable(reader: BcsReader): Executable {
  const variant = reader.variant(EXECUTABLE_KINDS.length, 'TransactionExecutable');
  const kind = EXECUTABLE_KINDS[variant]!;
  if (kind === 'script') return readScriptCall(reader);
  return kind === 'entryFunction' ? readEntryFunction(reader) : { kind };
}

export function writeExecutable(writer: BcsWriter, executable: Executable): void {
  writer.uleb32(EXECUTABLE_KINDS.indexOf(executable.kind));
  if (executable.kind === 'script') writeScriptCall(writer, executable);
  else if (executable.kind === 'entryFunction') writeEntryFunction(writer, executable);
}

/** The requested multiple of the usual limits, in percent. */
interface LimitMultipliers {
  readonly executionPercent: bigint;
  readonly ioPercent: bigint;
}

/** The reason for requesting higher limits. */
export type TransactionLimitsRequest =
  | { readonly kind: 'stakePoolOwner'; readonly multipliers: LimitMultipliers }
  | {
      readonly kind: 'delegatedVoter' | 'delegationPoolDelegator';
      readonly poolAddress: Address;
      readonly multipliers: LimitMultipliers;
    };

interface ExtraConfigV1 {
  readonly multisigAddress: Address | undefined;
  readonly replayProtectionNonce: bigint | undefined;
}

export type ExtraConfig =
  | ({ readonly kind: 'v1' } & ExtraConfigV1)
  | ({
      readonly kind: 'v2';
      readonly limitsRequest: TransactionLimitsRequest | undefined;
    } & ExtraConfigV1);

const REQUEST_KINDS = ['stakePoolOwner', 'delegatedVoter', 'delegationPoolDelegator'] as const;

export function readExtraConfig(reader: BcsReader): ExtraConfig {
  const variant = reader.variant(2, 'TransactionExtraConfig');
  const multisigAddress = reader.option((inner) => inner.address());
  const replayProtectionNonce = reader.option((inner) => inner.u64());
  if (variant === 0) return { kind: 'v1', multisigAddress, replayProtectionNonce };
  const limitsRequest = reader.option(readLimitsRequest);
  return { kind: 'v2', multisigAddress, replayProtectionNonce, limitsRequest };
}

export function writeExtraConfig(writer: BcsWriter, config: ExtraConfig): void {
  writer.uleb32(config.kind === 'v1' ? 0 : 1);
  writer.option(config.multisigAddress, (inner, address) => inner.address(address));
  writer.option(config.replayProtectionNonce, (inner, nonce) => inner.u64(nonce));
  if (config.kind === 'v2') writer.option(config.limitsRequest, writeLimitsRequest);
}

function readLimitsRequest(reader: BcsReader): TransactionLimitsRequest {
  const kind = REQUEST_KINDS[reader.variant(REQUEST_KINDS.length, 'TransactionLimitsRequest')]!;
  if (kind === 'stakePoolOwner') return { kind, multipliers: readMultipliers(reader) };
  const poolAddress = reader.address();
  return { kind, poolAddress, multipliers: readMultipliers(reader) };
}

function writeLimitsRequest(writer: BcsWriter, request: TransactionLimitsRequest): void {
  writer.uleb32(REQUEST_KINDS.indexOf(request.kind));
  if (request.kind !== 'stakePoolOwner') writer.address(request.poolAddress);
  writer.uleb32(0).u64(request.multipliers.executionPercent).u64(request.multipliers.ioPercent);
}

function readMultipliers(reader: BcsReader): LimitMultipliers {
  reader.variant(1, 'LimitMultipliers');
  const executionPercent = reader.u64();
  return { executionPercent, ioPercent: reader.u64() };
}
