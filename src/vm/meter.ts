/** Limits of one run (docs/spec/vm.md §4): its work and the memory that it allocates. */
import { VmError } from './status/status.ts';

export interface RunLimits {
  /** Work, in units: an instruction is one. */
  readonly maxUnits: number;
  /** Work of one operation, in units, without that of natives that yield. */
  readonly maxOperationUnits: number;
  /** Memory of all structs, vectors and resources ever allocated, whether still in use or not. In bytes. */
  readonly maxAllocatedBytes: number;
  readonly maxFrames: number;
  /** Resources and table items that are read. */
  readonly maxReads: number;
}

/** Memory of an array without its elements, and of an element. In bytes. */
const ARRAY_BYTES = 48;
const ELEMENT_BYTES = 8;
/** Memory of a vector of bytes without its bytes. */
const BYTE_VECTOR_BYTES = 160;
/** Bytes of a vector that one unit copies or compares. */
const BYTES_PER_UNIT = 64;
const HASHED_BYTES_PER_UNIT = 4;

export class Meter {
  readonly #maxAllocatedBytes: number;
  readonly #maxOperationUnits: number;
  #operationUnitsLeft: number;
  #unitsLeft: number;
  #bytesLeft: number;

  constructor({ maxUnits, maxOperationUnits, maxAllocatedBytes }: RunLimits) {
    this.#maxOperationUnits = maxOperationUnits;
    this.#operationUnitsLeft = maxOperationUnits;
    this.#unitsLeft = maxUnits;
    this.#maxAllocatedBytes = maxAllocatedBytes;
    this.#bytesLeft = maxAllocatedBytes;
  }

  get unitsLeft(): number {
    return this.#unitsLeft;
  }

  /** Memory allocated so far, in bytes. */
  get allocatedBytes(): number {
    return this.#maxAllocatedBytes - this.#bytesLeft;
  }

  /** Counts later charges for a new operation. */
  beginOperation(): void {
    this.#operationUnitsLeft = this.#maxOperationUnits;
  }

  /** Pays for work: one unit takes about as long as an instruction. @throws VmError OUT_OF_GAS */
  charge(units: number): void {
    this.#operationUnitsLeft -= units;
    if (this.#operationUnitsLeft < 0) throw new VmError('OUT_OF_GAS', { isNodeLimit: true });
    this.chargeInTurns(units);
  }

  /** Pays for work that yields to others every few milliseconds. @throws VmError OUT_OF_GAS */
  chargeInTurns(units: number): void {
    this.#unitsLeft -= units;
    if (this.#unitsLeft < 0) throw new VmError('OUT_OF_GAS', { isNodeLimit: true });
  }

  /** Refunds an instruction that has not run yet. */
  refund(): void {
    this.#unitsLeft += 1;
  }

  /** Pays for bytes that are read. @throws VmError OUT_OF_GAS */
  chargeBytes(bytes: number): void {
    this.charge(Math.ceil(bytes / BYTES_PER_UNIT));
  }

  /** Pays for bytes that are hashed at once. @throws VmError OUT_OF_GAS */
  chargeHashed(bytes: number): void {
    this.charge(Math.ceil(bytes / HASHED_BYTES_PER_UNIT));
  }

  /** Pays for a new array of some elements. @throws VmError OUT_OF_GAS, MEMORY_LIMIT_EXCEEDED */
  allocate(elements: number): void {
    this.charge(elements);
    this.#take(ARRAY_BYTES + elements * ELEMENT_BYTES);
  }

  /** Pays for a new vector of bytes. @throws VmError OUT_OF_GAS, MEMORY_LIMIT_EXCEEDED */
  allocateBytes(bytes: number): void {
    this.chargeBytes(bytes);
    this.#take(BYTE_VECTOR_BYTES + bytes);
  }

  /** Pays for the growth of a vector. @throws VmError MEMORY_LIMIT_EXCEEDED */
  grow(bytes: number): void {
    this.#take(bytes);
  }

  #take(bytes: number): void {
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) throw new VmError('MEMORY_LIMIT_EXCEEDED', { isNodeLimit: true });
  }
}
