/**
 * Collects the effects of one transaction while the model changes: slots touched, events emitted. At the end they
 * become a write set and events in wire format. While a history is replayed only to reach its end, nothing is collected
 * or encoded.
 */
import { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { StateValueMetadata } from '../../../src/move/types/state-value.ts';
import type { ValueWriter } from '../../../src/sample/calls.ts';
import type { EventHandles, EventType, MigratedEventType } from './events.ts';
import type { Slots } from './slots.ts';

/** Indexed by WriteOp variant (docs/spec/ledger.md §1.1); variants with metadata are three higher. */
const OPERATIONS = ['creation', 'modification', 'deletion'] as const;
const WITH_METADATA = 3;

type Operation = (typeof OPERATIONS)[number];

interface Touch {
  readonly slots: Slots;
  readonly index: number;
  readonly key: Buffer;
  readonly metadata: StateValueMetadata | undefined;
  operation: Operation;
}

export class Effects {
  /** Time of the current block in microseconds since 1970; 0 in genesis. */
  now = 0;
  /** Whether the framework emits module events where it emitted handle events before. */
  moduleEvents = false;
  readonly #touches = new Map<number, Touch>();
  readonly #writer = new BcsWriter(4096);
  readonly #dataWriter = new BcsWriter(1024);
  /** BCS of each ContractEvent. */
  #events: Buffer[] = [];

  /** Records a slot that did not exist before this transaction. Called once the model has it. */
  create(slots: Slots, index = 0): void {
    slots.setCreatedAt(index, this.now);
    this.#touch(slots, index, 'creation');
  }

  /** Records a slot whose value the transaction changes. */
  modify(slots: Slots, index = 0): void {
    this.#touch(slots, index, 'modification');
  }

  /** Records a slot that the transaction removes. Called before the model drops it. */
  delete(slots: Slots, index = 0): void {
    this.#touch(slots, index, 'deletion');
  }

  #touch(slots: Slots, index: number, operation: Operation): void {
    const id = slots.id(index);
    const touch = this.#touches.get(id);
    if (touch === undefined) {
      const key = slots.shape.key(index);
      this.#touches.set(id, { slots, index, key, metadata: slots.metadata(index), operation });
      return;
    }
    if (operation === 'modification') return;
    if (touch.operation !== 'modification' || operation === 'creation') {
      throw new Error(`${touch.operation} and ${operation} of one slot in one transaction`);
    }
    touch.operation = operation;
  }

  streamEvent(type: EventType, handles: EventHandles, index: number, write: ValueWriter): void {
    const sequenceNumber = handles.take(index);
    const writer = this.#writer;
    writer.reset();
    handles.writeKey(writer.u8(0), index);
    writer.exactU64(sequenceNumber);
    this.#finishEvent(type, write);
  }

  moduleEvent(type: EventType, write: ValueWriter): void {
    this.#writer.reset();
    this.#writer.u8(1);
    this.#finishEvent(type, write);
  }

  /**
   * Emits an event of a handle before the framework's event migration, and a module event after it.
   * @param writeOwner writes the leading fields that only the module event has
   */
  migratedEvent(
    type: MigratedEventType,
    handles: EventHandles,
    index: number,
    write: ValueWriter,
    writeOwner?: ValueWriter,
  ): void {
    if (!this.moduleEvents) {
      this.streamEvent(type.handleEvent, handles, index, write);
      return;
    }
    this.moduleEvent(type.moduleEvent, (writer) => {
      writeOwner?.(writer);
      write(writer);
    });
  }

  #finishEvent(type: EventType, write: ValueWriter): void {
    this.#dataWriter.reset();
    write(this.#dataWriter);
    this.#events.push(this.#writer.fixed(type).bytes(this.#dataWriter.view()).toBytes());
  }

  /** The events since the last call, BCS of each. */
  takeEvents(): Buffer[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** BCS of the write set of all slots written since the last call, from the current model. */
  takeWriteSet(): Buffer {
    // The wire format orders writes by their serialized keys.
    const touches = [...this.#touches.values()].sort((left, right) =>
      Buffer.compare(left.key, right.key),
    );
    this.#touches.clear();
    const writer = this.#writer;
    writer.reset();
    writer.u8(0).length32(touches.length);
    for (const { slots, index, key, metadata, operation } of touches) {
      const variant = OPERATIONS.indexOf(operation) + (metadata === undefined ? 0 : WITH_METADATA);
      writer.fixed(key).u8(variant);
      if (operation !== 'deletion') {
        this.#dataWriter.reset();
        slots.shape.write(this.#dataWriter, index);
        writer.bytes(this.#dataWriter.view());
      }
      if (metadata !== undefined) StateValueMetadata.write(writer, metadata);
    }
    return writer.toBytes();
  }
}
