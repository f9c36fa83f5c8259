/**
 * Slots: what the generator's model keeps in the ledger's state. A family is many slots of one shape, told apart by
 * a number; it knows each slot's state key and how to write its value from the model as it is now.
 */

import { BcsWriter, encodeBcs } from '../move/bcs/bcs-writer.ts';
import { type Address, addressBytes } from '../move/types/address.ts';
import {
  encodePath,
  moduleStateKey,
  type Path,
  type StateKey,
  writeStateKey,
} from '../move/types/state-key.ts';
import type { StateValueMetadata } from '../move/types/state-value.ts';
import { parseStructTag } from '../move/types/type-parser.ts';
import { writeStructTag } from '../move/types/type-tag.ts';

/** Slots per family; with the family's number it makes an id that fits a double. */
const MAX_FAMILY_SLOTS = 2 ** 32;

/** Octas that a new slot costs, as far as this ledger is concerned. */
const SLOT_DEPOSIT_OCTAS = 40_000n;

let nextFamilyNumber = 0;

export abstract class SlotFamily {
  readonly #number: number;

  constructor() {
    this.#number = nextFamilyNumber;
    nextFamilyNumber += 1;
  }

  /** An id that no other slot of any family has. */
  id(index: number): number {
    return this.#number * MAX_FAMILY_SLOTS + index;
  }

  /** BCS of the slot's state key. */
  abstract key(index: number): Buffer;

  /** Writes the BCS of the slot's value as the model has it now. */
  abstract writeValue(writer: BcsWriter, index: number): void;

  /** When the slot was created, microseconds since 1970; 0: at genesis. */
  abstract createdAt(index: number): number;

  /** Octas of bytes deposit; more than 0 makes the slot's metadata a V1. */
  bytesDeposit(_index: number): bigint {
    return 0n;
  }

  /** What a write of the slot says of its creation: nothing for slots of genesis (docs/spec/ledger.md §1.1). */
  metadata(index: number): StateValueMetadata | undefined {
    const createdAt = this.createdAt(index);
    if (createdAt === 0) return undefined;
    const creationTimeUsecs = BigInt(createdAt);
    const bytesDeposit = this.bytesDeposit(index);
    if (bytesDeposit === 0n) return { kind: 'v0', deposit: SLOT_DEPOSIT_OCTAS, creationTimeUsecs };
    return { kind: 'v1', slotDeposit: SLOT_DEPOSIT_OCTAS, bytesDeposit, creationTimeUsecs };
  }
}

/** A slot that there is only one of, with its value written by a function. */
export interface SingleSlot {
  readonly key: Buffer;
  readonly write: (writer: BcsWriter) => void;
  /** Microseconds since 1970; 0: at genesis. */
  createdAt: number;
}

/** Slots of their own, each added by hand. */
export class SingleSlots extends SlotFamily {
  readonly #slots: SingleSlot[] = [];

  /** Adds a slot; the answer is its index. */
  add(key: Buffer, write: (writer: BcsWriter) => void, createdAt = 0): number {
    this.#slots.push({ key, write, createdAt });
    return this.#slots.length - 1;
  }

  /** Says when a slot that did not exist at genesis came to be. */
  setCreatedAt(index: number, createdAt: number): void {
    this.#slots[index]!.createdAt = createdAt;
  }

  key(index: number): Buffer {
    return this.#slots[index]!.key;
  }

  writeValue(writer: BcsWriter, index: number): void {
    this.#slots[index]!.write(writer);
  }

  createdAt(index: number): number {
    return this.#slots[index]!.createdAt;
  }
}

/** BCS of state keys under addresses that share one path: the address is put in between. */
export class AccessPathKeys {
  readonly #tail: Buffer;

  constructor(path: Path) {
    const bytes = encodePath(path);
    this.#tail = encodeBcs((writer) => writer.bytes(bytes));
  }

  /** The key of the path at the 32 address bytes that begin at `offset`. */
  at(addresses: Buffer, offset = 0): Buffer {
    const key = Buffer.allocUnsafe(1 + 32 + this.#tail.length);
    key[0] = 0;
    addresses.copy(key, 1, offset, offset + 32);
    this.#tail.copy(key, 33);
    return key;
  }
}

/** Keys of a resource that is in no group. */
export function resourceKeys(type: string): AccessPathKeys {
  return new AccessPathKeys({ kind: 'resource', tag: parseStructTag(type) });
}

/** Keys of a resource group. */
export function resourceGroupKeys(type: string): AccessPathKeys {
  return new AccessPathKeys({ kind: 'resourceGroup', tag: parseStructTag(type) });
}

/** BCS of the state key of a module. */
export function moduleKey(address: Address, name: string): Buffer {
  return encodeStateKey(moduleStateKey(address, name));
}

/** BCS of the state key of a table item. */
export function tableItemKey(handle: Address, key: Buffer): Buffer {
  return encodeStateKey({ kind: 'tableItem', handle, key });
}

/** BCS of the state key of a resource under one address. */
export function resourceKey(address: Address, type: string): Buffer {
  return resourceKeys(type).at(addressBytes(address));
}

function encodeStateKey(key: StateKey): Buffer {
  return encodeBcs((writer) => writeStateKey(writer, key));
}

/** One member of a resource group: its tag's bytes, and how to write it. */
export interface GroupMember {
  readonly tag: Buffer;
  readonly write: (writer: BcsWriter) => void;
}

/** BCS of a struct tag, as the keys of a group's map hold it. */
export function structTagBytes(type: string): Buffer {
  return encodeBcs((writer) => writeStructTag(writer, parseStructTag(type)));
}

const memberWriter = new BcsWriter();

/** Writes a resource group: a map from tags to values, ordered by the bytes of the tags (docs/spec/ledger.md §5.5). */
export function writeResourceGroup(writer: BcsWriter, members: readonly GroupMember[]): void {
  const sorted = [...members].sort((left, right) => Buffer.compare(left.tag, right.tag));
  writer.vector(sorted, (to, member) => {
    memberWriter.reset();
    member.write(memberWriter);
    to.fixed(member.tag).bytes(memberWriter.view());
  });
}

/** Writes an event handle (docs/spec/ledger.md §1.3): how many events it gave out, and its stream. */
export function writeEventHandle(
  writer: BcsWriter,
  count: number,
  creationNumber: number | bigint,
  address: Uint8Array,
): void {
  writer.u64(BigInt(count)).u64(BigInt(creationNumber)).fixed(address);
}
