/**
 * The genesis file: the BCS of one transaction, from which a ledger begins (docs/spec/ledger.md §1). Every byte is
 * decoded when the file is read. Its parts are decoded again one at a time when they are used, so that memory stays
 * small whatever the file contains. Modules and resources that this node does not understand stay bytes.
 */
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { MoveError } from '../../move/errors.ts';
import { ContractEvent } from '../../move/transactions/event.ts';
import { TRANSACTION_KINDS } from '../../move/transactions/transaction.ts';
import { type ValidatorSet, validatorSetCodec } from '../../move/transactions/waypoint.ts';
import { WriteOp, WriteSetEntry } from '../../move/transactions/write-set.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { CHAIN_ID_TAG, VALIDATOR_SET_TAG } from '../../move/types/framework-tag.ts';
import { physicalStateKey, resourceStateKey, StateKey } from '../../move/types/state-key.ts';
import { formatStructTag, type StructTag } from '../../move/types/type-tag.ts';
import { chainIdCodec } from '../../move/values/framework-resource.ts';

/** Largest genesis file in bytes: more than ten times the largest one known. */
export const MAX_GENESIS_BYTES = 16 * 1024 * 1024;
/**
 * Maximum number of writes, events, hot keys or extensions of a genesis: more than forty times the largest number
 * known.
 */
export const MAX_GENESIS_ITEMS = 65_536;

export const GENESIS_VERSION = 0n;

/** Why a file is rejected as a genesis, or a genesis does not match its waypoint. */
export type GenesisErrorCode =
  | 'empty_file'
  | 'file_too_large'
  | 'not_a_genesis'
  | 'script_genesis'
  | 'malformed'
  | 'too_many_items'
  | 'trailing_bytes'
  | 'missing_resource'
  | 'bad_resource'
  | 'waypoint_of_other_version'
  | 'waypoint_mismatch';

/** A file that is not a genesis this node can load. The message is one line. */
export class GenesisError extends MoveError<GenesisErrorCode> {
  /** The offset in the file that the error is about, if any. */
  readonly offset: number | undefined;
  /** The part that does not decode, such as `write 12`. */
  readonly part: string | undefined;

  constructor(code: GenesisErrorCode, message: string, offset?: number, part?: string) {
    super(code, offset === undefined ? message : `${message} at byte ${offset}`);
    this.offset = offset;
    this.part = part;
  }
}

interface GenesisWrite {
  readonly key: StateKey;
  readonly physicalKey: Buffer;
  readonly op: WriteOp;
}

/** Number of items of each kind in a genesis, without deletions. */
export interface GenesisCounts {
  readonly modules: number;
  readonly resources: number;
  readonly resourceGroups: number;
  readonly tableItems: number;
  readonly events: number;
}

export interface Genesis {
  readonly bytes: Buffer;
  readonly writeSetBytes: Buffer;
  /** The events with their count: the end of the file. */
  readonly eventsBytes: Buffer;
  /** u8. */
  readonly chainId: number;
  readonly validatorSet: ValidatorSet;
  readonly counts: GenesisCounts;
  /** All writes in the file's order, decoded one at a time. */
  writes(): Iterable<GenesisWrite>;
  /** The BCS of each event, in the order of emission. */
  eventBytes(): Iterable<Buffer>;
}

/**
 * Reads a genesis file; the result references `blob`.
 * @throws GenesisError: another transaction or none, a script, bytes that do not decode or are surplus, more than
 *   MAX_GENESIS_BYTES or MAX_GENESIS_ITEMS, no chain id or no validator set
 */
export function readGenesis(blob: Uint8Array): Genesis {
  if (blob.length === 0) throw new GenesisError('empty_file', 'the genesis file is empty');
  if (blob.length > MAX_GENESIS_BYTES) {
    throw new GenesisError(
      'file_too_large',
      `the genesis file has ${blob.length} bytes, more than ${MAX_GENESIS_BYTES}`,
    );
  }
  const scan = new GenesisScan(blob);
  try {
    return scan.run();
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    const message = `the genesis does not decode: ${scan.part}: ${error.detailOfWhat}`;
    throw new GenesisError('malformed', message, error.offset, scan.part);
  }
}

const CHAIN_ID_KEY = physicalStateKey(resourceStateKey(ADDRESS_ONE, CHAIN_ID_TAG));
const VALIDATOR_SET_KEY = physicalStateKey(resourceStateKey(ADDRESS_ONE, VALIDATOR_SET_TAG));

/** One pass over the file that decodes and counts everything, and retains only two resources. */
class GenesisScan {
  part = 'transaction';
  readonly #reader: BcsReader;
  readonly #counts = { modules: 0, resources: 0, resourceGroups: 0, tableItems: 0, events: 0 };
  #chainIdBytes: Buffer | undefined;
  #validatorSetBytes: Buffer | undefined;

  constructor(blob: Uint8Array) {
    this.#reader = new BcsReader(blob);
  }

  run(): Genesis {
    const reader = this.#reader;
    this.#readHead();
    const writeSetStart = reader.offset;
    this.part = 'write set';
    const isV1 = reader.variant(2, 'WriteSet') === 1;
    this.#readWrites('write', (key, op) => this.#countWrite(key, op));
    if (isV1) this.#readWriteSetTail();
    const writeSetEnd = reader.offset;
    const eventBounds = this.#readEvents();
    if (reader.remaining !== 0) {
      const message = `the file goes on after the genesis (surplus bytes: ${reader.remaining})`;
      throw new GenesisError('trailing_bytes', message, reader.offset);
    }
    const validatorSetBytes = this.#validatorSetBytes;
    const bytes = reader.buffer;
    const writeSetBytes = bytes.subarray(writeSetStart, writeSetEnd);
    return {
      bytes,
      writeSetBytes,
      eventsBytes: bytes.subarray(writeSetEnd),
      writes: () => writesOf(writeSetBytes),
      eventBytes: () => slicesOf(bytes, eventBounds),
      chainId: decodeResource(CHAIN_ID_TAG, chainIdCodec.decode, this.#chainIdBytes),
      validatorSet: decodeResource(VALIDATOR_SET_TAG, validatorSetCodec.decode, validatorSetBytes),
      counts: this.#counts,
    };
  }

  #readHead(): void {
    const reader = this.#reader;
    const variant = reader.uleb32();
    const kind = TRANSACTION_KINDS[variant];
    if (kind !== 'genesis') {
      const found = kind === undefined ? `transaction variant ${variant}` : `a ${kind} transaction`;
      throw new GenesisError('not_a_genesis', `the file is not a genesis: ${found}`, 0);
    }
    const start = reader.offset;
    if (reader.variant(2, 'WriteSetPayload') === 1) {
      const message =
        'without a virtual machine no genesis can be loaded that is a script: found one';
      throw new GenesisError('script_genesis', message, start);
    }
  }

  /** Reads entries of a write set; `reader.map` asserts their order. */
  #readWrites(what: string, visit: (key: StateKey, op: WriteOp) => void): void {
    const reader = this.#reader;
    this.#checkCount(WriteSetEntry.minBytes, what);
    let index = 0;
    let key: StateKey;
    reader.map(
      WriteSetEntry.minBytes,
      () => {
        this.part = `${what} ${index}`;
        index += 1;
        key = StateKey.read(reader);
      },
      () => visit(key, WriteOp.read(reader)),
    );
  }

  #countWrite(key: StateKey, op: WriteOp): void {
    const counts = this.#counts;
    if (op.kind === 'deletion') return;
    if (key.kind === 'tableItem') counts.tableItems += 1;
    if (key.kind !== 'accessPath') return;
    const path = key.parsed?.kind;
    if (path === 'code') {
      counts.modules += 1;
    } else if (path === 'resourceGroup') {
      counts.resourceGroups += 1;
    } else if (path === 'resource') {
      counts.resources += 1;
      const physical = physicalStateKey(key);
      if (physical.equals(CHAIN_ID_KEY)) this.#chainIdBytes = op.bytes;
      if (physical.equals(VALIDATOR_SET_KEY)) this.#validatorSetBytes = op.bytes;
    }
  }

  #readWriteSetTail(): void {
    const reader = this.#reader;
    this.part = 'hotness';
    const hotKeys = this.#checkCount(StateKey.minBytes, 'hot key');
    reader.length(StateKey.minBytes);
    for (let index = 0; index < hotKeys; index += 1) StateKey.read(reader);
    this.part = 'extensions';
    const extensions = this.#checkCount(2, 'extension');
    reader.length(2);
    for (let index = 0; index < extensions; index += 1) {
      reader.variant(1, 'WriteSetExtension');
      this.#readWrites(`write of extension ${index}:`, () => undefined);
    }
  }

  #readEvents(): Uint32Array {
    const reader = this.#reader;
    this.part = 'events';
    const count = this.#checkCount(ContractEvent.minBytes, 'event');
    reader.length(ContractEvent.minBytes);
    const bounds = new Uint32Array(count + 1);
    bounds[0] = reader.offset;
    for (let index = 0; index < count; index += 1) {
      this.part = `event ${index}`;
      ContractEvent.read(reader);
      bounds[index + 1] = reader.offset;
    }
    this.#counts.events = count;
    return bounds;
  }

  #checkCount(minItemBytes: number, what: string): number {
    const start = this.#reader.offset;
    const ahead = new BcsReader(this.#reader.buffer, start);
    const count = ahead.length(minItemBytes);
    if (count > MAX_GENESIS_ITEMS) {
      const message = `${count} items (${what}), more than ${MAX_GENESIS_ITEMS}`;
      throw new GenesisError('too_many_items', message, start);
    }
    return count;
  }
}

function* writesOf(writeSet: Buffer): Generator<GenesisWrite> {
  const reader = new BcsReader(writeSet);
  reader.uleb32();
  const count = reader.length(WriteSetEntry.minBytes);
  for (let index = 0; index < count; index += 1) {
    const key = StateKey.read(reader);
    yield { key, physicalKey: physicalStateKey(key), op: WriteOp.read(reader) };
  }
}

/** @param bounds where each slice starts, and then where the last one ends */
function* slicesOf(bytes: Buffer, bounds: Uint32Array): Generator<Buffer> {
  for (let index = 1; index < bounds.length; index += 1) {
    yield bytes.subarray(bounds[index - 1], bounds[index]);
  }
}

/** Decodes a resource at 0x1 from which chain id or waypoint is computed. */
function decodeResource<T>(
  tag: StructTag,
  decode: (bytes: Uint8Array) => T,
  bytes: Buffer | undefined,
): T {
  const type = formatStructTag(tag);
  if (bytes === undefined) {
    throw new GenesisError('missing_resource', `the genesis does not write ${type} at 0x1`);
  }
  try {
    return decode(bytes);
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    const message = `${type} at 0x1 does not decode: ${error.message} of its value`;
    throw new GenesisError('bad_resource', message);
  }
}
