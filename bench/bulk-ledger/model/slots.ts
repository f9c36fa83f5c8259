/**
 * State slots connect the generator's model to the ledger's state. `Slots` are many slots of one shape, addressed by an
 * index. They know each slot's state key and how to encode its value from the current model.
 */
import { type BcsWriter, encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { ADDRESS_BYTES, type Address, addressBytes } from '../../../src/move/types/address.ts';
import { encodeStructTag, writeResourceGroup } from '../../../src/move/types/resource-group.ts';
import {
  encodePath,
  moduleStateKey,
  type Path,
  StateKey,
} from '../../../src/move/types/state-key.ts';
import type { StateValueMetadata } from '../../../src/move/types/state-value.ts';
import { parseStructTag } from '../../../src/move/types/type-parser.ts';
import type { ValueWriter } from '../../../src/sample/calls.ts';

/** Maximum number of slots of one shape: shape number and index together form an id that fits a double. */
const MAX_SLOTS = 2 ** 32;

/** Octas that a new slot costs in this ledger. */
const SLOT_DEPOSIT_OCTAS = 40_000n;

/** Variant of a state key under an address (docs/spec/ledger.md §1.2). */
const ACCESS_PATH = 0;

interface SlotShape {
  readonly key: (index: number) => Buffer;
  readonly write: (writer: BcsWriter, index: number) => unknown;
  /** Octas of bytes deposit; more than 0 makes the slot's metadata a V1. */
  readonly bytesDeposit?: (index: number) => bigint;
  /** Maximum number of slots at one time, with consecutive indices; absent: as many as there are indices. */
  readonly most?: number;
}

let shapes = 0;

export class Slots {
  readonly shape: SlotShape;
  readonly #number: number;
  /** Microseconds since 1970, by position in the ring; 0 for slots created in genesis. */
  #createdAt = new Float64Array(1);

  constructor(shape: SlotShape) {
    this.shape = shape;
    this.#number = shapes;
    shapes += 1;
  }

  id(index: number): number {
    return this.#number * MAX_SLOTS + index;
  }

  /** Records when a slot was created, in microseconds since 1970. */
  setCreatedAt(index: number, createdAt: number): void {
    const place = this.#placeOf(index);
    if (place >= this.#createdAt.length) {
      const grown = new Float64Array(2 * (place + 1));
      grown.set(this.#createdAt);
      this.#createdAt = grown;
    }
    this.#createdAt[place] = createdAt;
  }

  /** Metadata of writes of the slot; `undefined` for slots created in genesis (docs/spec/ledger.md §1.1). */
  metadata(index: number): StateValueMetadata | undefined {
    const createdAt = this.#createdAt[this.#placeOf(index)] ?? 0;
    if (createdAt === 0) return undefined;
    const creationTimeUsecs = BigInt(createdAt);
    const bytesDeposit = this.shape.bytesDeposit?.(index) ?? 0n;
    if (bytesDeposit === 0n) return { kind: 'v0', deposit: SLOT_DEPOSIT_OCTAS, creationTimeUsecs };
    return { kind: 'v1', slotDeposit: SLOT_DEPOSIT_OCTAS, bytesDeposit, creationTimeUsecs };
  }

  #placeOf(index: number): number {
    return this.shape.most === undefined ? index : index % this.shape.most;
  }
}

export function singleSlot(key: Buffer, write: ValueWriter): Slots {
  return new Slots({ key: () => key, write });
}

/** Returns the BCS of a state key with a fixed path, for the 32 bytes of an address. */
type PathKeys = (address: Uint8Array) => Buffer;

function pathKeys(path: Path): PathKeys {
  const pathBytes = encodePath(path);
  const tail = encodeBcs((writer) => writer.bytes(pathBytes));
  return (address) => {
    const key = Buffer.allocUnsafe(1 + ADDRESS_BYTES + tail.length);
    key[0] = ACCESS_PATH;
    key.set(address, 1);
    tail.copy(key, 1 + ADDRESS_BYTES);
    return key;
  };
}

/** Keys of a resource that is not in a group. */
export function resourceKeys(type: string): PathKeys {
  return pathKeys({ kind: 'resource', tag: parseStructTag(type) });
}

export function resourceGroupKeys(type: string): PathKeys {
  return pathKeys({ kind: 'resourceGroup', tag: parseStructTag(type) });
}

export function resourceKey(address: Address, type: string): Buffer {
  return resourceKeys(type)(addressBytes(address));
}

export function moduleKey(address: Address, name: string): Buffer {
  return StateKey.encode(moduleStateKey(address, name));
}

/**
 * BCS of the state key of a table item.
 * @param writeKey writes the item's key
 */
export function tableItemKey(handle: Address, writeKey: ValueWriter): Buffer {
  const key = encodeBcs(writeKey);
  return StateKey.encode({ kind: 'tableItem', handle, key });
}

export type GroupMember = readonly [tag: Buffer, write: ValueWriter];

/** BCS of a struct tag, as in the keys of a resource group's map. */
export function structTagBytes(type: string): Buffer {
  return encodeStructTag(parseStructTag(type));
}

export function writeGroup(writer: BcsWriter, members: readonly GroupMember[]): void {
  const encoded = members.map(([tagBytes, write]) => ({ tagBytes, data: encodeBcs(write) }));
  writeResourceGroup(writer, encoded);
}
