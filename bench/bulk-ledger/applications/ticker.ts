/** `cafe::ticker`: one hot stream that takes a fixed share of all transactions, and a table of latest prices. */

import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { callsOf } from '../../../src/sample/calls.ts';
import { CAFE, CAFE_HEX } from '../../../src/sample/publishers.ts';
import { derivedBytes } from '../../../src/sample/random.ts';
import { CAFE_ACCOUNT } from '../model/accounts.ts';
import { EventHandles, eventType } from '../model/events.ts';
import { resourceKey, Slots, singleSlot, tableItemKey } from '../model/slots.ts';
import type { Call, World } from '../model/world.ts';

/** Trading pairs on the board. */
const PAIRS = 64;
const FIRST_PRICE = 1_000_000;
const MAX_CHANGE = 5_000;
const TICK_STREAM = 2;
const TICK = eventType(`${CAFE_HEX}::ticker::Tick`);

const tick = callsOf(`${CAFE_HEX}::ticker::tick`);

/** The latest `cafe::ticker::Tick` of a pair. */
interface Tick {
  readonly price: number;
  readonly change: number;
  /** Microseconds since 1970. */
  readonly at: number;
}

export class Ticker {
  readonly #world: World;
  readonly #latest = new Map<number, Tick>();
  readonly #events: EventHandles;
  readonly #latestSlots: Slots;
  readonly #board: Slots;

  /** Creates the board, with CAFE's first creation number. */
  constructor(world: World) {
    const { accounts, effects, seed } = world;
    this.#world = world;
    const handle = derivedBytes(seed, 'ticker table').toString('hex');
    this.#events = EventHandles.ofResource(accounts.addressBytes(CAFE_ACCOUNT), TICK_STREAM);
    this.#latestSlots = new Slots({
      key: (pair) => tableItemKey(handle, (writer) => writer.exactU64(pair)),
      write: (writer, pair) => this.#writeTick(writer, pair),
    });
    this.#board = singleSlot(resourceKey(CAFE, `${CAFE_HEX}::ticker::Board`), (writer) => {
      this.#events.write(writer);
      writer.address(handle).exactU64(this.#latest.size);
    });
    const taken = accounts.takeCreationNumbers(CAFE_ACCOUNT, 1);
    if (taken !== TICK_STREAM) throw new Error(`the ticker's stream is ${taken}`);
    effects.create(this.#board);
  }

  /** `cafe::ticker::tick` */
  readonly tick = (): Call => {
    const { effects, random } = this.#world;
    const pair = random.skewed(PAIRS);
    const change = random.between(-MAX_CHANGE, MAX_CHANGE);
    const before = this.#latest.get(pair);
    const price = Math.max(1, (before?.price ?? FIRST_PRICE) + change);
    this.#latest.set(pair, { price, change, at: effects.now });
    if (before === undefined) effects.create(this.#latestSlots, pair);
    else effects.modify(this.#latestSlots, pair);
    effects.modify(this.#board);
    effects.streamEvent(TICK, this.#events, 0, (writer) => this.#writeTick(writer, pair));
    const payload = () => tick(pair, price, (to) => to.signed(BigInt(change), 64));
    return { sender: CAFE_ACCOUNT, payload };
  };

  #writeTick(writer: BcsWriter, pair: number): void {
    const { price, change, at } = this.#latest.get(pair)!;
    writer.exactU64(pair).exactU64(price).signed(BigInt(change), 64).exactU64(at);
  }
}
