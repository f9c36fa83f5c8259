/** Transaction infos: a transaction's outcome, in hashes (docs/spec/ledger.md §3.3). */
import { BcsReader } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { readHash, writeHash } from '../bcs/fixed-bytes.ts';
import { domainHash } from '../crypto/hash.ts';
import { type ModuleId, readModuleId, writeModuleId } from '../types/module-id.ts';

/** Where an abort or failure happened: in a module, or in the transaction's script. */
type AbortLocation =
  | { readonly kind: 'module'; readonly module: ModuleId }
  | { readonly kind: 'script' };

/** The name and text that the aborting module gives its code. */
interface AbortInfo {
  readonly reasonName: string;
  readonly description: string;
}

export type ExecutionStatus =
  | { readonly kind: 'success' | 'outOfGas' }
  | {
      readonly kind: 'moveAbort';
      readonly location: AbortLocation;
      readonly code: bigint;
      readonly info: AbortInfo | undefined;
    }
  | {
      readonly kind: 'executionFailure';
      readonly location: AbortLocation;
      /** Index of the function in its module, u16. */
      readonly function: number;
      /** Index of the instruction in the function, u16. */
      readonly codeOffset: number;
    }
  | { readonly kind: 'miscellaneousError'; readonly statusCode: bigint | undefined };

/** All hashes are 32 bytes. */
interface InfoContent {
  /** Gas units. */
  readonly gasUsed: bigint;
  readonly status: ExecutionStatus;
  readonly transactionHash: Buffer;
  readonly eventRootHash: Buffer;
  readonly stateChangeHash: Buffer;
  /** Present at the last transaction of a block. */
  readonly stateCheckpointHash: Buffer | undefined;
  readonly auxiliaryInfoHash: Buffer | undefined;
}

export type TransactionInfo =
  | ({ readonly kind: 'v0' } & InfoContent)
  | ({
      readonly kind: 'v1';
      readonly hotStateCheckpointHash: Buffer | undefined;
      readonly reserved: readonly (Buffer | undefined)[];
    } & InfoContent);

export const TRANSACTION_INFO_VARIANTS = 2;
/** Hashes that a V1 info reserves. */
const RESERVED_INFO_HASHES = 8;

export function readTransactionInfo(reader: BcsReader): TransactionInfo {
  const variant = reader.variant(TRANSACTION_INFO_VARIANTS, 'TransactionInfo');
  const content = {
    gasUsed: reader.u64(),
    status: readExecutionStatus(reader),
    transactionHash: readHash(reader),
    eventRootHash: readHash(reader),
    stateChangeHash: readHash(reader),
    stateCheckpointHash: reader.option(readHash),
  };
  if (variant === 0) return { kind: 'v0', ...content, auxiliaryInfoHash: reader.option(readHash) };
  const hotStateCheckpointHash = reader.option(readHash);
  const auxiliaryInfoHash = reader.option(readHash);
  const reserved: (Buffer | undefined)[] = [];
  for (let index = 0; index < RESERVED_INFO_HASHES; index += 1) {
    reserved.push(reader.option(readHash));
  }
  return { kind: 'v1', ...content, hotStateCheckpointHash, auxiliaryInfoHash, reserved };
}

/** The transaction's hash, from an info's bytes. @throws BcsError */
export function transactionHashIn(infoBytes: Uint8Array): Buffer {
  const reader = new BcsReader(infoBytes);
  reader.variant(2, 'TransactionInfo');
  reader.u64();
  readExecutionStatus(reader);
  return readHash(reader);
}

export function writeTransactionInfo(writer: BcsWriter, info: TransactionInfo): void {
  writer.uleb32(info.kind === 'v0' ? 0 : 1).u64(info.gasUsed);
  writeExecutionStatus(writer, info.status);
  writeHash(writer, info.transactionHash);
  writeHash(writer, info.eventRootHash);
  writeHash(writer, info.stateChangeHash);
  writer.option(info.stateCheckpointHash, writeHash);
  if (info.kind === 'v1') writer.option(info.hotStateCheckpointHash, writeHash);
  writer.option(info.auxiliaryInfoHash, writeHash);
  if (info.kind === 'v0') return;
  if (info.reserved.length !== RESERVED_INFO_HASHES) {
    throw new RangeError(`${info.reserved.length} reserved hashes, not ${RESERVED_INFO_HASHES}`);
  }
  for (const hash of info.reserved) writer.option(hash, writeHash);
}

export function encodeTransactionInfo(info: TransactionInfo): Buffer {
  return encodeBcs((writer) => writeTransactionInfo(writer, info));
}

/** The leaf of a transaction in the ledger's accumulator: of the info's own bytes. */
export function transactionInfoHash(infoBytes: Uint8Array): Buffer {
  return domainHash('TransactionInfo', infoBytes);
}

const STATUS_KINDS = [
  'success',
  'outOfGas',
  'moveAbort',
  'executionFailure',
  'miscellaneousError',
] as const;

export function readExecutionStatus(reader: BcsReader): ExecutionStatus {
  const kind = STATUS_KINDS[reader.variant(STATUS_KINDS.length, 'ExecutionStatus')]!;
  switch (kind) {
    case 'moveAbort': {
      const location = readLocation(reader);
      const code = reader.u64();
      return { kind, location, code, info: reader.option(readAbortInfo) };
    }
    case 'executionFailure': {
      const location = readLocation(reader);
      const index = reader.u16();
      return { kind, location, function: index, codeOffset: reader.u16() };
    }
    case 'miscellaneousError':
      return { kind, statusCode: reader.option((inner) => inner.u64()) };
    default:
      return { kind };
  }
}

function writeExecutionStatus(writer: BcsWriter, status: ExecutionStatus): void {
  writer.uleb32(STATUS_KINDS.indexOf(status.kind));
  if (status.kind === 'moveAbort') {
    writeLocation(writer, status.location);
    writer.u64(status.code);
    writer.option(status.info, (inner, info) =>
      inner.string(info.reasonName).string(info.description),
    );
  } else if (status.kind === 'executionFailure') {
    writeLocation(writer, status.location);
    writer.u16(status.function).u16(status.codeOffset);
  } else if (status.kind === 'miscellaneousError') {
    writer.option(status.statusCode, (inner, code) => inner.u64(code));
  }
}

function readAbortInfo(reader: BcsReader): AbortInfo {
  const reasonName = reader.string();
  return { reasonName, description: reader.string() };
}

function readLocation(reader: BcsReader): AbortLocation {
  if (reader.variant(2, 'AbortLocation') === 1) return { kind: 'script' };
  return { kind: 'module', module: readModuleId(reader) };
}

function writeLocation(writer: BcsWriter, location: AbortLocation): void {
  writer.uleb32(location.kind === 'module' ? 0 : 1);
  if (location.kind === 'module') writeModuleId(writer, location.module);
}
