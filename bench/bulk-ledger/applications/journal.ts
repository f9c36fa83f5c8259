/**
 * `cafe::journal`: every account that writes has its own stream of handle events, which never migrates to module
 * events.
 */

import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { callsOf } from '../../../src/sample/calls.ts';
import { CAFE_HEX } from '../../../src/sample/publishers.ts';
import { EventHandles, eventType } from '../model/events.ts';
import { resourceKeys, Slots } from '../model/slots.ts';
import { type Call, pickSender, type World } from '../model/world.ts';

const ENTRY = eventType(`${CAFE_HEX}::journal::Entry`);
const JOURNAL_KEYS = resourceKeys(`${CAFE_HEX}::journal::Journal`);
const write = callsOf(`${CAFE_HEX}::journal::write`);

const WORDS = (
  'ledger morning harbour quiet bread river copper letter garden north ' +
  'über café 東京 señal window late paper signal winter orange'
).split(' ');
const MAX_WORDS = 12;
const MAX_TASKS = 100;

/** A mood of `cafe::journal::Mood`: its variant index and a number for its fields. */
interface Mood {
  readonly variant: number;
  readonly tasks: number;
}

/** Calm; Busy { tasks }; Away(until, reachable). */
function writeMood(writer: BcsWriter, { variant, tasks }: Mood): void {
  writer.uleb32(variant);
  if (variant > 0) writer.exactU64(tasks);
  if (variant === 2) writer.bool(tasks % 2 === 0);
}

export class Journals {
  readonly #world: World;
  readonly #moods = new Map<number, Mood>();
  readonly #creationNumbers = new Map<number, number>();
  readonly #entries: EventHandles;
  readonly #slots: Slots;

  constructor(world: World) {
    const { accounts } = world;
    this.#world = world;
    this.#entries = new EventHandles(
      accounts.signerLimit,
      (author) => accounts.addressBytes(author),
      (author) => this.#creationNumbers.get(author)!,
    );
    this.#slots = new Slots({
      key: (author) => JOURNAL_KEYS(accounts.addressBytes(author)),
      write: (writer, author) => {
        this.#entries.write(writer, author);
        writeMood(writer, this.#moods.get(author)!);
      },
    });
  }

  /** `cafe::journal::write` */
  readonly write = (): Call => {
    const { accounts, effects, random } = this.#world;
    const author = pickSender(this.#world);
    const words = Array.from({ length: random.between(1, MAX_WORDS) }, () => random.pick(WORDS));
    const text = words.join(' ');
    const mood: Mood = { variant: random.below(3), tasks: random.below(MAX_TASKS) };
    const isFirst = !this.#moods.has(author);
    this.#moods.set(author, mood);
    if (isFirst) {
      this.#creationNumbers.set(author, accounts.takeCreationNumbers(author, 1));
      effects.create(this.#slots, author);
    } else {
      effects.modify(this.#slots, author);
    }
    const number = this.#entries.count(author);
    effects.streamEvent(ENTRY, this.#entries, author, (writer) => {
      writer.exactU64(number);
      writeMood(writer, mood);
      writer.string(text).exactU64(effects.now);
    });
    return { sender: author, payload: () => write(text) };
  };
}
