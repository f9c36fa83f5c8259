/**
 * State keys: the key of a piece of state. Two encodings exist (docs/spec/ledger.md §1.2): BCS, in write sets
 * and backups, and the physical one, which is hashed, gives listings their order and is the cursor of pages.
 */
import { BcsReader, decodeBcs } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { domainHash } from '../crypto/hash.ts';
import { tryParse } from '../errors.ts';
import type { Address } from './address.ts';
import { type ModuleId, readModuleId, writeModuleId } from './module-id.ts';
import { readStructTag, type StructTag, writeStructTag } from './type-tag.ts';

export type Path =
  | { readonly kind: 'code'; readonly module: ModuleId }
  | { readonly kind: 'resource'; readonly tag: StructTag }
  | { readonly kind: 'resourceGroup'; readonly tag: StructTag };

export class AccessPathKey {
  readonly kind = 'accessPath';
  readonly address: Address;
  readonly path: Buffer;
  #parsed: Path | undefined | null = null;

  constructor(address: Address, path: Buffer) {
    this.address = address;
    this.path = path;
  }

  /**
   * The meaning of `path`; `undefined` when its bytes are not a valid path, which is not an error. Parsed on first
   * use: most replicated keys are only hashed and stored.
   */
  get parsed(): Path | undefined {
    if (this.#parsed === null) this.#parsed = tryParse(() => decodePath(this.path));
    return this.#parsed;
  }
}

interface TradingNativeKey {
  readonly kind: 'tradingNative';
  readonly exchange: Address;
  readonly account: Address;
  readonly market: Address;
}

export type StateKey =
  | AccessPathKey
  /** `key`: BCS of the Move key value. */
  | { readonly kind: 'tableItem'; readonly handle: Address; readonly key: Buffer }
  | TradingNativeKey
  | { readonly kind: 'raw'; readonly bytes: Buffer };

/** Minimum size of a state key in BCS: a raw key without bytes. */
export const MIN_STATE_KEY_BYTES = 2;

const PHYSICAL_ACCESS_PATH = 0x00;
const PHYSICAL_TABLE_ITEM = 0x01;
const PHYSICAL_TRADING_NATIVE = 0x02;
const PHYSICAL_RAW = 0xff;
/** The only trading key there is: a position. */
const TRADING_POSITION = 0;

export function moduleStateKey(address: Address, name: string): AccessPathKey {
  return new AccessPathKey(address, encodePath({ kind: 'code', module: { address, name } }));
}

export function resourceStateKey(address: Address, tag: StructTag): AccessPathKey {
  return new AccessPathKey(address, encodePath({ kind: 'resource', tag }));
}

export function resourceGroupStateKey(address: Address, tag: StructTag): AccessPathKey {
  return new AccessPathKey(address, encodePath({ kind: 'resourceGroup', tag }));
}

const PATH_KINDS: readonly Path['kind'][] = ['code', 'resource', 'resourceGroup'];

export function encodePath(path: Path): Buffer {
  return encodeBcs((writer) => {
    writer.uleb32(PATH_KINDS.indexOf(path.kind));
    if (path.kind === 'code') writeModuleId(writer, path.module);
    else writeStructTag(writer, path.tag);
  });
}

/** Whether a path is that of a module, if it is one. */
export function isCodePath(path: Buffer): boolean {
  return path[0] === PATH_KINDS.indexOf('code');
}

/** The path whose BCS is exactly `bytes`. @throws BcsError */
function decodePath(bytes: Uint8Array): Path {
  return decodeBcs(bytes, (reader): Path => {
    const kind = PATH_KINDS[reader.variant(PATH_KINDS.length, 'Path')]!;
    if (kind === 'code') return { kind, module: readModuleId(reader) };
    return { kind, tag: readStructTag(reader) };
  });
}

/** The state key whose BCS is exactly `bytes`; unlike in a write set, its path must be one. @throws BcsError */
export function decodeStateKey(bytes: Uint8Array): StateKey {
  return decodeBcs(bytes, (reader) => {
    const key = readStateKey(reader);
    if (key.kind === 'accessPath') decodePath(key.path);
    return key;
  });
}

export function readStateKey(reader: BcsReader): StateKey {
  switch (reader.variant(4, 'StateKey')) {
    case 0: {
      const address = reader.address();
      return new AccessPathKey(address, reader.bytes());
    }
    case 1: {
      const handle = reader.address();
      return { kind: 'tableItem', handle, key: reader.bytes() };
    }
    case 2:
      return { kind: 'raw', bytes: reader.bytes() };
    default:
      reader.variant(1, 'TradingNativeKey');
      return readPosition(reader);
  }
}

function readPosition(reader: BcsReader): TradingNativeKey {
  const exchange = reader.address();
  const account = reader.address();
  return { kind: 'tradingNative', exchange, account, market: reader.address() };
}

export function writeStateKey(writer: BcsWriter, key: StateKey): void {
  switch (key.kind) {
    case 'accessPath':
      writer.uleb32(0).address(key.address).bytes(key.path);
      return;
    case 'tableItem':
      writer.uleb32(1).address(key.handle).bytes(key.key);
      return;
    case 'raw':
      writer.uleb32(2).bytes(key.bytes);
      return;
    case 'tradingNative':
      writer.uleb32(3).uleb32(TRADING_POSITION);
      writer.address(key.exchange).address(key.account).address(key.market);
  }
}

export function physicalStateKey(key: StateKey): Buffer {
  return encodeBcs((writer) => {
    switch (key.kind) {
      case 'accessPath':
        writer.u8(PHYSICAL_ACCESS_PATH).address(key.address).bytes(key.path);
        return;
      case 'tableItem':
        writer.u8(PHYSICAL_TABLE_ITEM).address(key.handle).fixed(key.key);
        return;
      case 'tradingNative':
        writer.u8(PHYSICAL_TRADING_NATIVE).u8(TRADING_POSITION);
        writer.address(key.exchange).address(key.account).address(key.market);
        return;
      case 'raw':
        writer.u8(PHYSICAL_RAW).fixed(key.bytes);
    }
  });
}

/** The state key of a physical encoding; its parts are views of `bytes`. @throws BcsError */
export function parsePhysicalStateKey(bytes: Uint8Array): StateKey {
  const reader = new BcsReader(bytes);
  const key = readPhysicalStateKey(reader);
  reader.finish();
  return key;
}

function readPhysicalStateKey(reader: BcsReader): StateKey {
  const tag = reader.u8();
  switch (tag) {
    case PHYSICAL_ACCESS_PATH: {
      const address = reader.address();
      return new AccessPathKey(address, reader.bytes());
    }
    case PHYSICAL_TABLE_ITEM: {
      const handle = reader.address();
      return { kind: 'tableItem', handle, key: reader.fixed(reader.remaining) };
    }
    case PHYSICAL_TRADING_NATIVE: {
      reader.variant(1, 'TradingNativeKey');
      return readPosition(reader);
    }
    case PHYSICAL_RAW:
      return { kind: 'raw', bytes: reader.fixed(reader.remaining) };
    default:
      throw reader.error('bad_variant', `unknown tag ${tag} of a physical state key`, 0);
  }
}

/** A state key as reads name it: by its hash, and by itself for a store that has to ask others for the value. */
export interface HashedStateKey {
  readonly hash: Buffer;
  readonly physical: Uint8Array;
  /** The hash as Latin-1, for maps; absent where it was not made yet. */
  readonly id?: string;
  /** Whether the value's metadata is wanted too, which not every source has. */
  readonly needsMetadata?: true;
  /**
   * Whether a source that does not have the value of a version may take the one of versions before and after it, where
   * these are the same.
   */
  readonly canInterpolate?: true;
}

export function stateKeyId({ id, hash }: HashedStateKey): string {
  return id ?? hash.toString('latin1');
}

export function hashedStateKey(key: StateKey): HashedStateKey {
  return hashedPhysicalKey(physicalStateKey(key));
}

export function hashedPhysicalKey(physical: Uint8Array): HashedStateKey {
  return { hash: stateKeyHash(physical), physical };
}

/** The 32-byte hash of a physical encoding, by which state is looked up (docs/spec/ledger.md §5.1). */
export function stateKeyHash(physical: Uint8Array): Buffer {
  return domainHash('StateKey', physical);
}
