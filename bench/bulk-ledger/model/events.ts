/** Types of events, and the handles of their streams. */
import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { parseTypeTag } from '../../../src/move/types/type-parser.ts';
import { TypeTag } from '../../../src/move/types/type-tag.ts';

/** BCS of the event's type tag. */
export type EventType = Buffer;

/** An event that the framework's migration turned from a handle event into a module event. */
export interface MigratedEventType {
  readonly handleEvent: EventType;
  readonly moduleEvent: EventType;
}

export function eventType(name: string): EventType {
  return TypeTag.encode(parseTypeTag(name));
}

export function migratedEventType(
  module: string,
  handleEvent: string,
  moduleEvent: string,
): MigratedEventType {
  return {
    handleEvent: eventType(`${module}::${handleEvent}`),
    moduleEvent: eventType(`${module}::${moduleEvent}`),
  };
}

/** Event handles addressed by an index: one for each account, or several of one resource. */
export class EventHandles {
  readonly #counts: Uint32Array;
  readonly #address: (index: number) => Uint8Array;
  readonly #creationNumber: (index: number) => number | bigint;

  constructor(
    size: number,
    address: (index: number) => Uint8Array,
    creationNumber: (index: number) => number | bigint,
  ) {
    this.#counts = new Uint32Array(size);
    this.#address = address;
    this.#creationNumber = creationNumber;
  }

  /** The handles of one resource, with consecutive creation numbers. */
  static ofResource(address: Uint8Array, first: number | bigint, size = 1): EventHandles {
    return new EventHandles(
      size,
      () => address,
      (index) => BigInt(first) + BigInt(index),
    );
  }

  /** Number of events that a handle has emitted; 0 for an index that never emits. */
  count(index = 0): number {
    return this.#counts[index] ?? 0;
  }

  /** Returns the sequence number of a handle's next event and increments the count. */
  take(index: number): number {
    const sequenceNumber = this.count(index);
    this.#counts[index] = sequenceNumber + 1;
    return sequenceNumber;
  }

  writeKey(writer: BcsWriter, index: number): void {
    writer.u64(BigInt(this.#creationNumber(index))).fixed(this.#address(index));
  }

  /** Writes one handle (docs/spec/ledger.md §1.3): its number of emitted events, and the key of its stream. */
  write(writer: BcsWriter, index = 0): void {
    this.writeKey(writer.exactU64(this.count(index)), index);
  }

  /** Writes all handles of a resource, one after the other. */
  writeAll(writer: BcsWriter): void {
    for (let index = 0; index < this.#counts.length; index += 1) this.write(writer, index);
  }
}

export function writeEventHandle(
  writer: BcsWriter,
  count: number,
  creationNumber: number | bigint,
  address: Uint8Array,
): void {
  writer.exactU64(count).u64(BigInt(creationNumber)).fixed(address);
}
