/**
 * `cafe::market`: orders are items of a table that are added and removed, with module events without a stream.
 */

import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { callsOf } from '../../../src/sample/calls.ts';
import { CAFE, CAFE_HEX } from '../../../src/sample/publishers.ts';
import { derivedBytes } from '../../../src/sample/random.ts';
import { eventType } from '../model/events.ts';
import { resourceKey, Slots, singleSlot, tableItemKey } from '../model/slots.ts';
import { type Call, MOON_COIN, NATIVE_COIN, pickSender, type World } from '../model/world.ts';

/** Maximum number of open orders in a book; beyond it the oldest is closed. */
const MAX_OPEN_ORDERS = 500;

const PLACED = eventType(`${CAFE_HEX}::market::OrderPlaced<${NATIVE_COIN}, ${MOON_COIN}>`);
const CLOSED = eventType(`${CAFE_HEX}::market::OrderClosed<${NATIVE_COIN}, ${MOON_COIN}>`);
const BOOK_KEY = resourceKey(CAFE, `${CAFE_HEX}::market::Book<${NATIVE_COIN}, ${MOON_COIN}>`);
const NOTES = ['good till cancelled', 'fill or kill', 'all or none'];

const place = callsOf(`${CAFE_HEX}::market::place`, [NATIVE_COIN, MOON_COIN]);
const close = callsOf(`${CAFE_HEX}::market::close`, [NATIVE_COIN, MOON_COIN]);

interface Order {
  readonly trader: number;
  readonly side: 0 | 1;
  readonly units: number;
  readonly scale: number;
  readonly size: number;
}

export class Market {
  readonly #world: World;
  readonly #book: Slots;
  readonly #orderSlots: Slots;
  /** Open orders, oldest first. */
  readonly #orders = new Map<number, Order>();
  #nextId = 0;

  constructor(world: World) {
    this.#world = world;
    const handle = derivedBytes(world.seed, 'order table').toString('hex');
    this.#orderSlots = new Slots({
      key: (id) => tableItemKey(handle, (writer) => writer.exactU64(id)),
      write: (writer, id) => this.#writeOrder(writer, this.#orders.get(id)!),
      most: MAX_OPEN_ORDERS,
    });
    this.#book = singleSlot(BOOK_KEY, (to) => to.address(handle).exactU64(this.#nextId));
    world.effects.create(this.#book);
  }

  /** `cafe::market::place` or `close`. */
  readonly trade = (): Call => {
    const mustClose = this.#orders.size >= MAX_OPEN_ORDERS;
    const mayClose = this.#orders.size > 0 && this.#world.random.perMille(450);
    return mustClose || mayClose ? this.#close() : this.#place();
  };

  #place(): Call {
    const { effects, random } = this.#world;
    const trader = pickSender(this.#world);
    const id = this.#nextId;
    this.#nextId += 1;
    const order: Order = {
      trader,
      side: random.perMille(500) ? 1 : 0,
      units: random.between(1, 1_000_000_000),
      scale: random.below(9),
      size: random.between(1, 10_000),
    };
    const note = random.perMille(300) ? random.pick(NOTES) : undefined;
    this.#orders.set(id, order);
    effects.modify(this.#book);
    effects.create(this.#orderSlots, id);
    effects.moduleEvent(PLACED, (writer) => {
      writer.exactU64(id);
      this.#writeOrder(writer, order);
      writer.option(note, (to, text) => to.string(text));
    });
    return {
      sender: trader,
      payload: () =>
        place(
          (to) => to.uleb32(order.side),
          (to) => to.exactU64(order.units).u8(order.scale),
          order.size,
          (to) => to.option(note, (inner, text) => inner.string(text)),
        ),
    };
  }

  #close(): Call {
    const { effects, random } = this.#world;
    const [id, order] = this.#orders.entries().next().value!;
    const filled = random.perMille(600);
    effects.delete(this.#orderSlots, id);
    this.#orders.delete(id);
    effects.moduleEvent(CLOSED, (writer) => writer.exactU64(id).bool(filled));
    return { sender: order.trader, payload: () => close(id) };
  }

  #writeOrder(writer: BcsWriter, { trader, side, units, scale, size }: Order): void {
    writer.fixed(this.#world.accounts.addressBytes(trader)).uleb32(side);
    writer.exactU64(units).u8(scale).exactU64(size);
  }
}
