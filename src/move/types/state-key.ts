/**
 * State keys: the key of a piece of state. Two encodings exist (docs/spec/ledger.md §1.2): BCS, in write sets
 * and backups, and the physical one, which is hashed, gives listings their order and is the cursor of pages.
 */
import { type BcsReader, decodeBcs } from '../bcs/bcs-reader.ts';
import { encodeBcs } from '../bcs/bcs-writer.ts';
import {
  address,
  byteString,
  type CodecValue,
  codec,
  constant,
  soleVariant,
  structCodec,
  union,
  variants,
} from '../bcs/codec.ts';
import { domainHash } from '../crypto/hash.ts';
import { tryParse } from '../errors.ts';
import type { Address } from './address.ts';
import { ModuleId } from './module-id.ts';
import { StructTag } from './type-tag.ts';

const Path = variants('Path', {
  code: { module: ModuleId },
  resource: { tag: StructTag },
  resourceGroup: { tag: StructTag },
});
export type Path = CodecValue<typeof Path>;

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
    if (this.#parsed === null) this.#parsed = tryParse(() => Path.decode(this.path));
    return this.#parsed;
  }
}

/** A position is the only trading key. */
const tradingNative = soleVariant(
  'TradingNativeKey',
  structCodec({
    kind: constant('tradingNative'),
    exchange: address,
    account: address,
    market: address,
  }),
);
const tableItem = structCodec({
  kind: constant('tableItem'),
  handle: address,
  /** BCS of the Move key value. */
  key: byteString,
});
const raw = structCodec({ kind: constant('raw'), bytes: byteString });
const accessPath = codec<AccessPathKey>(
  (reader) => new AccessPathKey(reader.address(), reader.bytes()),
  (writer, { address, path }) => writer.address(address).bytes(path),
);

export const StateKey = union('StateKey', { accessPath, tableItem, raw, tradingNative });
export type StateKey = CodecValue<typeof StateKey>;

const PHYSICAL_ACCESS_PATH = 0x00;
const PHYSICAL_TABLE_ITEM = 0x01;
const PHYSICAL_TRADING_NATIVE = 0x02;
const PHYSICAL_RAW = 0xff;

export function moduleStateKey(address: Address, name: string): AccessPathKey {
  return new AccessPathKey(address, encodePath({ kind: 'code', module: { address, name } }));
}

export function resourceStateKey(address: Address, tag: StructTag): AccessPathKey {
  return new AccessPathKey(address, encodePath({ kind: 'resource', tag }));
}

export function resourceGroupStateKey(address: Address, tag: StructTag): AccessPathKey {
  return new AccessPathKey(address, encodePath({ kind: 'resourceGroup', tag }));
}

export const encodePath = Path.encode;

/** Whether a path is that of a module, if it is one. */
export function isCodePath(path: Buffer): boolean {
  return path[0] === Path.kinds.indexOf('code');
}

/** The state key whose BCS is exactly `bytes`; unlike in a write set, its path must be one. @throws BcsError */
export function decodeStateKey(bytes: Uint8Array): StateKey {
  const key = StateKey.decode(bytes);
  if (key.kind === 'accessPath') Path.decode(key.path);
  return key;
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
        tradingNative.write(writer.u8(PHYSICAL_TRADING_NATIVE), key);
        return;
      case 'raw':
        writer.u8(PHYSICAL_RAW).fixed(key.bytes);
    }
  });
}

/** The state key of a physical encoding; its parts are views of `bytes`. @throws BcsError */
export function parsePhysicalStateKey(bytes: Uint8Array): StateKey {
  return decodeBcs(bytes, readPhysicalStateKey);
}

function readPhysicalStateKey(reader: BcsReader): StateKey {
  const tag = reader.u8();
  switch (tag) {
    case PHYSICAL_ACCESS_PATH:
      return accessPath.read(reader);
    case PHYSICAL_TABLE_ITEM: {
      const handle = reader.address();
      return { kind: 'tableItem', handle, key: reader.fixed(reader.remaining) };
    }
    case PHYSICAL_TRADING_NATIVE:
      return tradingNative.read(reader);
    case PHYSICAL_RAW:
      return { kind: 'raw', bytes: reader.fixed(reader.remaining) };
    default:
      throw reader.error('bad_variant', `unknown tag ${tag} of a physical state key`, 0);
  }
}

/** A state key for reads: its hash, and the key itself for a store that has to request the value from others. */
export interface HashedStateKey {
  readonly hash: Buffer;
  readonly physical: Uint8Array;
  /** The hash as Latin-1, for maps; absent if not computed yet. */
  readonly id?: string;
  /** Whether the value's metadata is requested too, which not every source has. */
  readonly needsMetadata?: true;
  /**
   * Whether a source that lacks the value at a version may use the one of earlier and later versions if these are
   * equal.
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
