/** `cafe::ticker`: one hot stream that takes a fixed share of all transactions, and a table of latest prices. */
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { CAFE_ACCOUNT } from '../accounts.ts';
import { eventType } from '../effects.ts';
import { CAFE } from '../framework/application-modules.ts';
import { derivedBytes } from '../random.ts';
import { resourceKey, SingleSlots, SlotFamily, tableItemKey, writeEventHandle } from '../slots.ts';
import { argument, type Call, entryFunction, u64Argument, type World } from '../world.ts';

/** Trading pairs on the board. */
const PAIRS = 64;
/** Creation number of the ticker's stream at 0xcafe. */
export const TICK_STREAM = 2;
const TICK = eventType('0xcafe::ticker::Tick');

class LatestSlots extends SlotFamily {
  readonly #ticker: Ticker;

  constructor(ticker: Ticker) {
    super();
    this.#ticker = ticker;
  }

  key(index: number): Buffer {
    return tableItemKey(this.#ticker.tableHandle, u64Argument(index));
  }

  createdAt(index: number): number {
    return this.#ticker.firstTickAt[index]!;
  }

  writeValue(writer: BcsWriter, index: number): void {
    this.#ticker.writeTick(writer, index);
  }
}

export class Ticker {
  readonly tableHandle: string;
  /** Microseconds since 1970; 0: no tick of this pair yet. */
  readonly firstTickAt = new Float64Array(PAIRS);
  readonly #prices = new Float64Array(PAIRS).fill(1_000_000);
  readonly #changes = new Float64Array(PAIRS);
  readonly #times = new Float64Array(PAIRS);
  #count = 0;
  #pairsSeen = 0;
  readonly #world: World;
  readonly #slots = new SingleSlots();
  readonly #latest: SlotFamily;
  readonly #board: number;

  constructor(world: World) {
    this.#world = world;
    this.tableHandle = derivedBytes(world.seed, 'ticker table').toString('hex');
    this.#latest = new LatestSlots(this);
    this.#board = this.#slots.add(resourceKey(CAFE, '0xcafe::ticker::Board'), (writer) => {
      const address = world.accounts.addressBytes(CAFE_ACCOUNT);
      writeEventHandle(writer, this.#count, TICK_STREAM, address);
      writer.address(this.tableHandle).u64(BigInt(this.#pairsSeen));
    });
  }

  /** Creates the board, with the first creation number that 0xcafe gives away. */
  genesis(): void {
    const { accounts, effects } = this.#world;
    const taken = accounts.takeCreationNumbers(effects, CAFE_ACCOUNT, 1);
    if (taken !== TICK_STREAM) throw new Error(`the ticker's stream is ${taken}`);
    effects.create(this.#slots, this.#board);
  }

  /** `cafe::ticker::tick` */
  readonly tick = (): Call => {
    const { accounts, chain, effects, random } = this.#world;
    const pair = random.skewed(PAIRS);
    const change = random.between(-5_000, 5_000);
    this.#prices[pair] = Math.max(1, this.#prices[pair]! + change);
    this.#changes[pair] = change;
    this.#times[pair] = chain.now;
    if (this.firstTickAt[pair] === 0) {
      this.firstTickAt[pair] = chain.now;
      this.#pairsSeen += 1;
      effects.create(this.#latest, pair);
    } else {
      effects.modify(this.#latest, pair);
    }
    effects.modify(this.#slots, this.#board);
    const sequenceNumber = this.#count;
    this.#count += 1;
    const address = accounts.addressBytes(CAFE_ACCOUNT);
    effects.streamEvent(TICK, { address, creationNumber: TICK_STREAM, sequenceNumber }, (writer) =>
      this.writeTick(writer, pair),
    );
    const price = this.#prices[pair]!;
    return {
      sender: CAFE_ACCOUNT,
      payload: () => {
        const signed = argument((writer) => writer.signed(BigInt(change), 64));
        const args = [u64Argument(pair), u64Argument(price), signed];
        return entryFunction(CAFE, 'ticker', 'tick', [], args);
      },
    };
  };

  /** BCS of the latest `cafe::ticker::Tick` of a pair. */
  writeTick(writer: BcsWriter, pair: number): void {
    writer.u64(BigInt(pair)).u64(BigInt(this.#prices[pair]!));
    writer.signed(BigInt(this.#changes[pair]!), 64).u64(BigInt(this.#times[pair]!));
  }
}
