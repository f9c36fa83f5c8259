/** `cafe::journal`: every account that writes has a stream of its own, of handle events for ever. */

import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import type { Accounts } from '../accounts.ts';
import { eventType } from '../effects.ts';
import { CAFE } from '../framework/application-modules.ts';
import { type AccessPathKeys, resourceKeys, SlotFamily, writeEventHandle } from '../slots.ts';
import { argument, type Call, entryFunction, pickSender, type World } from '../world.ts';

const ENTRY = eventType('0xcafe::journal::Entry');

const WORDS = [
  'ledger',
  'morning',
  'harbour',
  'quiet',
  'bread',
  'river',
  'copper',
  'letter',
  'garden',
  'north',
  'über',
  'café',
  '東京',
  'señal',
  'window',
  'late',
  'paper',
  'signal',
  'winter',
  'orange',
];
const MAX_WORDS = 12;

/** A mood of `cafe::journal::Mood`: its variant index and a number for its fields. */
interface Mood {
  readonly variant: number;
  readonly tasks: number;
}

class JournalSlots extends SlotFamily {
  readonly #journals: Journals;
  readonly #accounts: Accounts;
  readonly #keys: AccessPathKeys = resourceKeys('0xcafe::journal::Journal');

  constructor(journals: Journals, accounts: Accounts) {
    super();
    this.#journals = journals;
    this.#accounts = accounts;
  }

  key(index: number): Buffer {
    return this.#keys.at(this.#accounts.addresses, index * ADDRESS_BYTES);
  }

  createdAt(index: number): number {
    return this.#journals.createdAt[index]!;
  }

  writeValue(writer: BcsWriter, index: number): void {
    const { counts, handleNumbers } = this.#journals;
    const address = this.#accounts.addressBytes(index);
    writeEventHandle(writer, counts[index]!, handleNumbers[index]!, address);
    writeMood(writer, this.#journals.moodOf(index));
  }
}

export class Journals {
  /** Creation number of the stream; 0: no journal yet. */
  readonly handleNumbers: Uint32Array;
  readonly counts: Uint32Array;
  /** Microseconds since 1970. */
  readonly createdAt: Float64Array;
  readonly #variants: Uint8Array;
  readonly #tasks: Uint32Array;
  readonly #world: World;
  readonly #slots: SlotFamily;

  constructor(world: World) {
    const { accounts } = world;
    this.#world = world;
    this.handleNumbers = new Uint32Array(accounts.signerLimit);
    this.counts = new Uint32Array(accounts.signerLimit);
    this.createdAt = new Float64Array(accounts.signerLimit);
    this.#variants = new Uint8Array(accounts.signerLimit);
    this.#tasks = new Uint32Array(accounts.signerLimit);
    this.#slots = new JournalSlots(this, accounts);
  }

  moodOf(account: number): Mood {
    return { variant: this.#variants[account]!, tasks: this.#tasks[account]! };
  }

  /** `cafe::journal::write` */
  readonly write = (): Call => {
    const { accounts, chain, effects, random } = this.#world;
    const author = pickSender(this.#world);
    const words = Array.from({ length: random.between(1, MAX_WORDS) }, () => random.pick(WORDS));
    this.#variants[author] = random.below(3);
    this.#tasks[author] = random.below(100);
    if (this.handleNumbers[author] === 0) {
      this.handleNumbers[author] = accounts.takeCreationNumbers(effects, author, 1);
      this.createdAt[author] = chain.now;
      effects.create(this.#slots, author);
    } else {
      effects.modify(this.#slots, author);
    }
    const sequenceNumber = this.counts[author]!;
    this.counts[author] = sequenceNumber + 1;
    const position = {
      address: accounts.addressBytes(author),
      creationNumber: this.handleNumbers[author]!,
      sequenceNumber,
    };
    effects.streamEvent(ENTRY, position, (writer) => {
      writer.u64(BigInt(sequenceNumber));
      writeMood(writer, this.moodOf(author));
      writer.string(words.join(' ')).u64(BigInt(chain.now));
    });
    return {
      sender: author,
      payload: () => {
        const args = [argument((writer) => writer.string(words.join(' ')))];
        return entryFunction(CAFE, 'journal', 'write', [], args);
      },
    };
  };
}

/** Calm; Busy { tasks }; Away(until, reachable). */
function writeMood(writer: BcsWriter, { variant, tasks }: Mood): void {
  writer.uleb32(variant);
  if (variant > 0) writer.u64(BigInt(tasks));
  if (variant === 2) writer.bool(tasks % 2 === 0);
}
