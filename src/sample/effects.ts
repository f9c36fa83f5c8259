/**
 * What one transaction does, collected while the model changes: slots touched, events given out. At the end it
 * becomes a write set and events in the wire's own bytes. While a history is only replayed to get at its end,
 * nothing is collected and nothing is encoded.
 */
import { BcsWriter } from '../move/bcs/bcs-writer.ts';
import { type StateValueMetadata, writeStateValueMetadata } from '../move/types/state-value.ts';
import { parseTypeTag } from '../move/types/type-parser.ts';
import { encodeTypeTag } from '../move/types/type-tag.ts';
import type { SlotFamily } from './slots.ts';

/** A type of events with the BCS of its tag. */
export interface EventType {
  readonly tagBytes: Buffer;
}

/** The type of events with this name. */
export function eventType(type: string): EventType {
  return { tagBytes: encodeTypeTag(parseTypeTag(type)) };
}

/** The stream that an event goes to, and its place in it. */
export interface StreamPosition {
  /** 32 bytes. */
  readonly address: Uint8Array;
  readonly creationNumber: number | bigint;
  readonly sequenceNumber: number;
}

type Operation = 'creation' | 'modification' | 'deletion';

interface Touch {
  readonly family: SlotFamily;
  readonly index: number;
  operation: Operation;
  /** Kept for deletions: afterwards the model may know nothing of the slot. */
  metadata: StateValueMetadata | undefined;
}

/** Variant indices of WriteOp (docs/spec/ledger.md §1.1); with metadata three more. */
const OPERATION_VARIANTS: Readonly<Record<Operation, number>> = {
  creation: 0,
  modification: 1,
  deletion: 2,
};
const WITH_METADATA = 3;

export class Effects {
  #isRecording = true;
  readonly #touches = new Map<number, Touch>();
  readonly #writer = new BcsWriter(4096);
  readonly #dataWriter = new BcsWriter(1024);
  /** BCS of each ContractEvent. */
  #events: Buffer[] = [];

  /** False while a history is replayed. */
  get isRecording(): boolean {
    return this.#isRecording;
  }

  /** Stops or starts collecting; what was collected before is forgotten. */
  setRecording(isRecording: boolean): void {
    this.#isRecording = isRecording;
    this.#touches.clear();
    this.#events = [];
  }

  /** A slot that was not there before this transaction. */
  create(family: SlotFamily, index: number): void {
    this.#touch(family, index, 'creation');
  }

  /** A slot whose value the transaction changes. */
  modify(family: SlotFamily, index: number): void {
    this.#touch(family, index, 'modification');
  }

  /** A slot that the transaction takes away. Called before the model forgets it. */
  delete(family: SlotFamily, index: number): void {
    this.#touch(family, index, 'deletion');
  }

  #touch(family: SlotFamily, index: number, operation: Operation): void {
    if (!this.#isRecording) return;
    const id = family.id(index);
    const touch = this.#touches.get(id);
    if (touch === undefined) {
      const metadata = operation === 'deletion' ? family.metadata(index) : undefined;
      this.#touches.set(id, { family, index, operation, metadata });
      return;
    }
    if (operation === 'modification') return;
    if (touch.operation !== 'modification' || operation === 'creation') {
      throw new Error(`${touch.operation} and ${operation} of one slot in one transaction`);
    }
    touch.operation = operation;
    touch.metadata = family.metadata(index);
  }

  /** A handle event; the caller has counted it. */
  streamEvent(type: EventType, position: StreamPosition, data: (writer: BcsWriter) => void): void {
    if (!this.#isRecording) return;
    const writer = this.#writer;
    writer.reset();
    writer.u8(0).u64(BigInt(position.creationNumber)).fixed(position.address);
    writer.u64(BigInt(position.sequenceNumber));
    this.#finishEvent(type, data);
  }

  /** A module event: in no stream. */
  moduleEvent(type: EventType, data: (writer: BcsWriter) => void): void {
    if (!this.#isRecording) return;
    this.#writer.reset();
    this.#writer.u8(1);
    this.#finishEvent(type, data);
  }

  #finishEvent(type: EventType, write: (writer: BcsWriter) => void): void {
    this.#dataWriter.reset();
    write(this.#dataWriter);
    this.#events.push(this.#writer.fixed(type.tagBytes).bytes(this.#dataWriter.view()).toBytes());
  }

  /** The events since the last call, BCS of each. */
  takeEvents(): Buffer[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** BCS of the write set of what was touched since the last call, written from the model as it is now. */
  takeWriteSet(): Buffer {
    const touches = [...this.#touches.values()].map((touch) => ({
      touch,
      key: touch.family.key(touch.index),
    }));
    this.#touches.clear();
    // The wire wants the order of the serialized keys.
    touches.sort((left, right) => Buffer.compare(left.key, right.key));
    const writer = this.#writer;
    writer.reset();
    writer.u8(0).length32(touches.length);
    for (const { touch, key } of touches) {
      const isDeletion = touch.operation === 'deletion';
      const metadata = isDeletion ? touch.metadata : touch.family.metadata(touch.index);
      writer.fixed(key);
      writer.u8(OPERATION_VARIANTS[touch.operation] + (metadata === undefined ? 0 : WITH_METADATA));
      if (!isDeletion) this.#writeSized(touch);
      if (metadata !== undefined) writeStateValueMetadata(writer, metadata);
    }
    return writer.toBytes();
  }

  #writeSized(touch: Touch): void {
    this.#dataWriter.reset();
    touch.family.writeValue(this.#dataWriter, touch.index);
    this.#writer.bytes(this.#dataWriter.view());
  }
}
