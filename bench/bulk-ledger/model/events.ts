/** Types of events, and the handles whose streams they go to. */
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

/** Event handles told apart by an index: one for each account, or several of one resource. */
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

  /** The handles of one resource, whose creation numbers follow each other. */
  static ofResource(address: Uint8Array, first: number | bigint, size = 1): EventHandles {
    return new EventHandles(
      size,
      () => address,
      (index) => BigInt(first) + BigInt(index),
    );
  }

  /** Events that a handle has emitted; none for an index that never emits. */
  count(index = 0): number {
    return this.#counts[index] ?? 0;
  }

  /** The sequence number of a handle's next event, which is counted now. */
  take(index: number): number {
    const sequenceNumber = this.count(index);
    this.#counts[index] = sequenceNumber + 1;
    return sequenceNumber;
  }

  writeKey(writer: BcsWriter, index: number): void {
    writer.u64(BigInt(this.#creationNumber(index))).fixed(this.#address(index));
  }

  /** Writes one handle (docs/spec/ledger.md §1.3): how many events it emitted, and the key of its stream. */
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
