/**
 * `cafe::market`: orders are items of a table that come and go, announced by module events that belong to no stream.
 */
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { eventType } from '../effects.ts';
import { CAFE } from '../framework/application-modules.ts';
import { derivedBytes } from '../random.ts';
import { resourceKey, SingleSlots, SlotFamily, tableItemKey } from '../slots.ts';
import {
  argument,
  type Call,
  entryFunction,
  pickSender,
  u64Argument,
  type World,
} from '../world.ts';

/** Orders that a book holds; above it the oldest is closed. */
const MAX_OPEN_ORDERS = 500;

const BASE = '0x1::aptos_coin::AptosCoin';
const QUOTE = '0xcafe::moon_coin::MoonCoin';
const PLACED = eventType(`0xcafe::market::OrderPlaced<${BASE}, ${QUOTE}>`);
const CLOSED = eventType(`0xcafe::market::OrderClosed<${BASE}, ${QUOTE}>`);
const NOTES = ['good till cancelled', 'fill or kill', 'all or none'];

interface Order {
  readonly trader: number;
  readonly isSale: boolean;
  readonly units: number;
  readonly scale: number;
  readonly size: number;
  /** Microseconds since 1970. */
  readonly createdAt: number;
}

class OrderSlots extends SlotFamily {
  readonly #handle: string;
  readonly #write: (writer: BcsWriter, id: number) => void;
  readonly #createdAt: (id: number) => number;

  constructor(
    handle: string,
    write: (writer: BcsWriter, id: number) => void,
    createdAt: (id: number) => number,
  ) {
    super();
    this.#handle = handle;
    this.#write = write;
    this.#createdAt = createdAt;
  }

  key(id: number): Buffer {
    return tableItemKey(this.#handle, u64Argument(id));
  }

  createdAt(id: number): number {
    return this.#createdAt(id);
  }

  writeValue(writer: BcsWriter, id: number): void {
    this.#write(writer, id);
  }
}

export class Market {
  readonly #world: World;
  readonly #slots = new SingleSlots();
  readonly #book: number;
  readonly #orderSlots: SlotFamily;
  /** Open orders, oldest first. */
  readonly #orders = new Map<number, Order>();
  #nextId = 0;

  constructor(world: World) {
    this.#world = world;
    const handle = derivedBytes(world.seed, 'order table').toString('hex');
    const type = `0xcafe::market::Book<${BASE}, ${QUOTE}>`;
    this.#book = this.#slots.add(resourceKey(CAFE, type), (writer) =>
      writer.address(handle).u64(BigInt(this.#nextId)),
    );
    this.#orderSlots = new OrderSlots(
      handle,
      (writer, id) => this.#writeOrder(writer, this.#orders.get(id)!),
      (id) => this.#orders.get(id)!.createdAt,
    );
  }

  genesis(): void {
    this.#world.effects.create(this.#slots, this.#book);
  }

  /** `cafe::market::place` or `close`. */
  readonly trade = (): Call => {
    const mustClose = this.#orders.size >= MAX_OPEN_ORDERS;
    const mayClose = this.#orders.size > 0 && this.#world.random.perMille(450);
    return mustClose || mayClose ? this.#close() : this.#place();
  };

  #place(): Call {
    const { chain, effects, random } = this.#world;
    const trader = pickSender(this.#world);
    const id = this.#nextId;
    this.#nextId += 1;
    const order: Order = {
      trader,
      isSale: random.perMille(500),
      units: random.between(1, 1_000_000_000),
      scale: random.below(9),
      size: random.between(1, 10_000),
      createdAt: chain.now,
    };
    const note = random.perMille(300) ? random.pick(NOTES) : undefined;
    this.#orders.set(id, order);
    effects.modify(this.#slots, this.#book);
    effects.create(this.#orderSlots, id);
    effects.moduleEvent(PLACED, (writer) => {
      writer.u64(BigInt(id));
      this.#writeOrder(writer, order);
      writer.option(note, (to, text) => to.string(text));
    });
    return {
      sender: trader,
      payload: () =>
        entryFunction(
          CAFE,
          'market',
          'place',
          [BASE, QUOTE],
          [
            argument((writer) => writer.uleb32(order.isSale ? 1 : 0)),
            argument((writer) => writer.u64(BigInt(order.units)).u8(order.scale)),
            u64Argument(order.size),
            argument((writer) => writer.option(note, (to, text) => to.string(text))),
          ],
        ),
    };
  }

  #close(): Call {
    const { effects, random } = this.#world;
    const [id, order] = this.#orders.entries().next().value!;
    const filled = random.perMille(600);
    effects.delete(this.#orderSlots, id);
    this.#orders.delete(id);
    effects.moduleEvent(CLOSED, (writer) => writer.u64(BigInt(id)).bool(filled));
    return {
      sender: order.trader,
      payload: () => entryFunction(CAFE, 'market', 'close', [BASE, QUOTE], [u64Argument(id)]),
    };
  }

  #writeOrder(writer: BcsWriter, order: Order): void {
    writer.fixed(this.#world.accounts.addressBytes(order.trader)).uleb32(order.isSale ? 1 : 0);
    writer.u64(BigInt(order.units)).u8(order.scale).u64(BigInt(order.size));
  }
}
