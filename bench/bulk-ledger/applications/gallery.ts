/**
 * `cafe::gallery`: objects that are painted, change hands and are destroyed (a resource group that is deleted), and a
 * second kind of group with members under the visitors' own accounts.
 */

import { copiedBytes } from '../../../src/cache.ts';
import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { addressBytes } from '../../../src/move/types/address.ts';
import { namedObjectAddress } from '../../../src/move/types/derived-address.ts';
import { callsOf } from '../../../src/sample/calls.ts';
import { CAFE_HEX } from '../../../src/sample/publishers.ts';
import { OBJECT_CREATION_NUMBER, OBJECT_KEYS, objectCore } from '../model/assets.ts';
import { EventHandles, eventType, migratedEventType } from '../model/events.ts';
import {
  type GroupMember,
  resourceGroupKeys,
  Slots,
  structTagBytes,
  writeGroup,
} from '../model/slots.ts';
import { type Call, pickReceiver, pickSender, type World } from '../model/world.ts';

/** Maximum number of paintings at one time; beyond it the oldest is destroyed. */
const MAX_PAINTINGS = 400;
const FIRST_YEAR = 1500;
const YEARS = 526;
const COLOURS = ['blue', 'ochre', 'green', 'grey'];
/** Octas of bytes deposit for each character of a title. */
const TITLE_DEPOSIT = 40;

const PAINTED = eventType(`${CAFE_HEX}::gallery::Painted`);
const TRANSFER = migratedEventType('0x1::object', 'TransferEvent', 'Transfer');
const PAINTING_TAG = structTagBytes(`${CAFE_HEX}::gallery::Painting`);
const VISITS_TAG = structTagBytes(`${CAFE_HEX}::gallery::Visits`);
const FAVOURITE_TAG = structTagBytes(`${CAFE_HEX}::gallery::Favourite`);
const VISITOR_KEYS = resourceGroupKeys(`${CAFE_HEX}::gallery::VisitorGroup`);

const paint = callsOf(`${CAFE_HEX}::gallery::paint`);
const visit = callsOf(`${CAFE_HEX}::gallery::visit`);
const destroy = callsOf(`${CAFE_HEX}::gallery::destroy`);
const transfer = callsOf('0x1::object::transfer', [`${CAFE_HEX}::gallery::Painting`]);

interface Painting {
  /** 32 bytes. */
  readonly object: Buffer;
  readonly title: string;
  readonly year: number;
  owner: number;
  owners: number;
  readonly transfers: EventHandles;
}

interface Visitor {
  visits: number;
  /** Address of the painting of the latest visit; `undefined` until the second visit. */
  favourite: Buffer | undefined;
}

export class Gallery {
  readonly #world: World;
  /** By number, oldest first. Only the oldest are destroyed, so numbers are contiguous. */
  readonly #paintings = new Map<number, Painting>();
  readonly #paintingSlots: Slots;
  readonly #visitors = new Map<number, Visitor>();
  readonly #visitorSlots: Slots;
  #next = 0;

  constructor(world: World) {
    const { accounts } = world;
    this.#world = world;
    this.#paintingSlots = new Slots({
      key: (number) => OBJECT_KEYS(this.#paintings.get(number)!.object),
      write: (writer, number) => this.#writePainting(writer, this.#paintings.get(number)!),
      bytesDeposit: (number) => BigInt(this.#paintings.get(number)!.title.length * TITLE_DEPOSIT),
      most: MAX_PAINTINGS,
    });
    this.#visitorSlots = new Slots({
      key: (account) => VISITOR_KEYS(accounts.addressBytes(account)),
      write: (writer, account) => writeVisitor(writer, this.#visitors.get(account)!),
    });
  }

  readonly act = (): Call => {
    const { random } = this.#world;
    const count = this.#paintings.size;
    if (count >= MAX_PAINTINGS) return this.#destroy();
    if (count === 0 || random.perMille(300)) return this.#paint();
    if (random.perMille(100)) return this.#destroy();
    return random.perMille(600) ? this.#give() : this.#visit();
  };

  #paint(): Call {
    const { accounts, effects, random } = this.#world;
    const painter = pickSender(this.#world);
    const number = this.#next;
    this.#next += 1;
    const title = `Study in ${random.pick(COLOURS)} no. ${number}`;
    const object = copiedBytes(addressBytes(namedObjectAddress(accounts.address(painter), title)));
    const year = FIRST_YEAR + random.below(YEARS);
    const transfers = EventHandles.ofResource(object, OBJECT_CREATION_NUMBER);
    const painting: Painting = { object, title, year, owner: painter, owners: 1, transfers };
    this.#paintings.set(number, painting);
    effects.create(this.#paintingSlots, number);
    effects.moduleEvent(PAINTED, (writer) =>
      writer.fixed(object).string(title).fixed(accounts.addressBytes(painter)),
    );
    return { sender: painter, payload: () => paint(title, (to) => to.u16(year)) };
  }

  /** `0x1::object::transfer`: emits an event of the object's own stream, and a module event after the migration. */
  #give(): Call {
    const { accounts, effects } = this.#world;
    const [number, painting] = this.#drawPainting();
    const { object, owner: from } = painting;
    const receiver = pickReceiver(this.#world, accounts.signerLimit);
    painting.owner = receiver;
    painting.owners += 1;
    effects.modify(this.#paintingSlots, number);
    effects.migratedEvent(TRANSFER, painting.transfers, 0, (to) => {
      to.fixed(object).fixed(accounts.addressBytes(from)).fixed(accounts.addressBytes(receiver));
    });
    return { sender: from, payload: () => transfer(object, accounts.addressBytes(receiver)) };
  }

  #visit(): Call {
    const { effects } = this.#world;
    const account = pickSender(this.#world);
    const [, { object }] = this.#drawPainting();
    const visitor = this.#visitors.get(account);
    if (visitor === undefined) {
      this.#visitors.set(account, { visits: 1, favourite: undefined });
      effects.create(this.#visitorSlots, account);
    } else {
      visitor.visits += 1;
      visitor.favourite = object;
      effects.modify(this.#visitorSlots, account);
    }
    return { sender: account, payload: () => visit(object) };
  }

  /** Deletes the oldest painting with its whole resource group. */
  #destroy(): Call {
    const [number, { object, owner }] = this.#paintings.entries().next().value!;
    this.#world.effects.delete(this.#paintingSlots, number);
    this.#paintings.delete(number);
    return { sender: owner, payload: () => destroy(object) };
  }

  #drawPainting(): [number: number, painting: Painting] {
    const number = this.#next - 1 - this.#world.random.below(this.#paintings.size);
    return [number, this.#paintings.get(number)!];
  }

  #writePainting(writer: BcsWriter, painting: Painting): void {
    const { object, title, year, owners, transfers } = painting;
    const owner = this.#world.accounts.addressBytes(painting.owner);
    writeGroup(writer, [
      objectCore({ object, owner, ungated: true, transfers: transfers.count() }),
      // The last field is the object's own address, the reference that deletes it.
      [PAINTING_TAG, (to) => to.string(title).u16(year).exactU64(owners).u8(1).fixed(object)],
    ]);
  }
}

function writeVisitor(writer: BcsWriter, { visits, favourite }: Visitor): void {
  const members: GroupMember[] = [[VISITS_TAG, (to) => to.exactU64(visits)]];
  if (favourite !== undefined) members.push([FAVOURITE_TAG, (to) => to.fixed(favourite)]);
  writeGroup(writer, members);
}
