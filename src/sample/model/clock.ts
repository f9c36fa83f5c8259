/**
 * The times of blocks: those of the sample's own clock, or of the wall clock of the machine that produces them. A
 * replay must find the same times again, so the ledger records every change of its clock in a table of CAFE, in the
 * first transaction of the first block that it applies to. Between two changes, times depend on versions only.
 */
import { decodeBcs } from '../../move/bcs/bcs-reader.ts';
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import type { Address } from '../../move/types/address.ts';
import type { Effects } from './effects.ts';
import { CAFE, CAFE_HEX } from './publishers.ts';
import { derivedBytes } from './random.ts';
import { resourceKey, Slots, singleSlot, tableItemKey } from './slots.ts';

export const CLOCK_RESOURCE = `${CAFE_HEX}::sample::Clock`;

/** A ledger that is further behind the wall clock jumps ahead, microseconds. */
const MAX_LAG_USECS = 5_000_000;

export interface ClockChange {
  /** The first block with this clock. */
  readonly height: number;
  readonly version: number;
  /** Microseconds since 1970 at that version. */
  readonly timestamp: number;
  /** Versions per second, by which time goes on; 0 for the sample's own clock. */
  readonly rate: number;
}

interface BlockStart {
  readonly height: number;
  readonly version: number;
}

export class BlockClock {
  readonly #effects: Effects;
  readonly #changes: ClockChange[];
  readonly #resource: Slots;
  readonly #items: Slots;
  /** Changes that apply to the block being made. */
  #applied = 0;
  #isChosen = false;

  /** Creates the resource. @param changes of the part of the history that is replayed */
  constructor(seed: bigint, effects: Effects, changes: readonly ClockChange[]) {
    this.#effects = effects;
    this.#changes = [...changes];
    const handle = derivedBytes(seed, 'clock table').toString('hex');
    this.#items = new Slots({
      key: (index) => tableItemKey(handle, (writer) => writer.exactU64(index)),
      write: (writer, index) => writeChange(writer, this.#changes[index]!),
    });
    this.#resource = singleSlot(resourceKey(CAFE, CLOCK_RESOURCE), (writer) =>
      writer.address(handle).exactU64(this.#applied),
    );
    effects.create(this.#resource);
  }

  /** Versions per second of the block being made; 0 for the sample's own clock. */
  get rate(): number {
    return this.#changes[this.#applied - 1]?.rate ?? 0;
  }

  /**
   * Chooses the clock of the next block, after a replay.
   * @param rate versions per second; 0 for the sample's own clock
   * @param wallUsecs microseconds since 1970
   */
  choose({ height, version }: BlockStart, rate: number, wallUsecs: number): void {
    const isSame = this.#isChosen || (rate === 0 && this.rate === 0);
    this.#isChosen = true;
    if (isSame && (rate === 0 || this.#timeOf(version) >= wallUsecs - MAX_LAG_USECS)) return;
    // Never back: the time of a block is above that of the one before.
    const timestamp = Math.max(wallUsecs, this.#effects.now + 1);
    this.#changes.push({ height, version, timestamp, rate });
  }

  /** The time of the next block. @param ownTime that of the sample's own clock */
  nextTime({ height, version }: BlockStart, ownTime: number): number {
    if (this.#changes[this.#applied]?.height === height) this.#applied += 1;
    return this.rate === 0 ? ownTime : this.#timeOf(version);
  }

  #timeOf(version: number): number {
    const { timestamp, version: first, rate } = this.#changes[this.#applied - 1]!;
    return timestamp + Math.floor(((version - first) * 1_000_000) / rate);
  }

  startBlock(height: number): void {
    const last = this.#applied - 1;
    if (this.#changes[last]?.height !== height) return;
    this.#effects.create(this.#items, last);
    this.#effects.modify(this.#resource);
  }
}

function writeChange(writer: BcsWriter, { height, version, timestamp, rate }: ClockChange): void {
  writer.exactU64(height).exactU64(version).exactU64(timestamp).exactU64(rate);
}

/** The value of CLOCK_RESOURCE. @throws BcsError */
export function readClock(bytes: Uint8Array): { handle: Address; changes: number } {
  return decodeBcs(bytes, (reader) => ({
    handle: reader.address(),
    changes: Number(reader.u64()),
  }));
}

/** An item of its table. @throws BcsError */
export function readClockChange(bytes: Uint8Array): ClockChange {
  return decodeBcs(bytes, (reader) => ({
    height: Number(reader.u64()),
    version: Number(reader.u64()),
    timestamp: Number(reader.u64()),
    rate: Number(reader.u64()),
  }));
}
