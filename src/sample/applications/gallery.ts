/**
 * `cafe::gallery`: objects that are painted, change hands and are destroyed (a resource group that goes away), and a
 * second kind of group with members under the visitors' own accounts.
 */

import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import {
  ADDRESS_BYTES,
  ADDRESS_ONE,
  type Address,
  addressBytes,
} from '../../move/types/address.ts';
import { namedObjectAddress } from '../../move/types/derived-address.ts';
import type { Accounts } from '../accounts.ts';
import { OBJECT_CREATION_NUMBER, OBJECT_GROUP, writeObjectCore } from '../assets.ts';
import { eventType } from '../effects.ts';
import { CAFE } from '../framework/application-modules.ts';
import {
  type AccessPathKeys,
  type GroupMember,
  resourceGroupKeys,
  SlotFamily,
  structTagBytes,
  writeResourceGroup,
} from '../slots.ts';
import {
  argument,
  type Call,
  entryFunction,
  pickReceiver,
  pickSender,
  type World,
} from '../world.ts';

/** Paintings that exist at one time; above it the oldest is destroyed. */
const MAX_PAINTINGS = 400;
const FIRST_YEAR = 1500;
const YEARS = 526;

const PAINTED = eventType('0xcafe::gallery::Painted');
const TRANSFER = eventType('0x1::object::Transfer');
const TRANSFER_EVENT = eventType('0x1::object::TransferEvent');
const CORE_TAG = structTagBytes('0x1::object::ObjectCore');
const PAINTING_TAG = structTagBytes('0xcafe::gallery::Painting');
const VISITS_TAG = structTagBytes('0xcafe::gallery::Visits');
const FAVOURITE_TAG = structTagBytes('0xcafe::gallery::Favourite');
const PAINTING = '0xcafe::gallery::Painting';

interface Painting {
  readonly address: Address;
  readonly addressBytes: Buffer;
  readonly title: string;
  readonly year: number;
  /** Microseconds since 1970. */
  readonly createdAt: number;
  owner: number;
  owners: number;
  /** Transfers that the object's handle counted. */
  transfers: number;
}

class PaintingSlots extends SlotFamily {
  readonly paintings = new Map<number, Painting>();
  readonly #accounts: Accounts;
  readonly #keys: AccessPathKeys = resourceGroupKeys(OBJECT_GROUP);
  /** Paintings destroyed in this transaction: their keys are still asked for. */
  #destroyed: { readonly number: number; readonly painting: Painting } | undefined;

  constructor(accounts: Accounts) {
    super();
    this.#accounts = accounts;
  }

  destroy(number: number): void {
    this.#destroyed = { number, painting: this.paintings.get(number)! };
    this.paintings.delete(number);
  }

  key(number: number): Buffer {
    const gone = this.#destroyed?.number === number ? this.#destroyed.painting : undefined;
    return this.#keys.at((gone ?? this.paintings.get(number)!).addressBytes);
  }

  createdAt(number: number): number {
    return this.paintings.get(number)!.createdAt;
  }

  override bytesDeposit(number: number): bigint {
    return BigInt(this.paintings.get(number)!.title.length) * 40n;
  }

  writeValue(writer: BcsWriter, number: number): void {
    const painting = this.paintings.get(number)!;
    const owner = this.#accounts.addressBytes(painting.owner);
    const { addressBytes: address } = painting;
    writeResourceGroup(writer, [
      {
        tag: CORE_TAG,
        write: (to) => writeObjectCore(to, address, owner, true, painting.transfers),
      },
      {
        tag: PAINTING_TAG,
        write: (to) => {
          to.string(painting.title).u16(painting.year).u64(BigInt(painting.owners));
          // The reference to delete it: the object's own address.
          to.u8(1).fixed(address);
        },
      },
    ]);
  }
}

/** The VisitorGroup of every account that visited. */
class VisitorSlots extends SlotFamily {
  readonly visits: Uint32Array;
  readonly favourites: (Buffer | undefined)[] = [];
  readonly firstVisitAt: Float64Array;
  readonly #accounts: Accounts;
  readonly #keys: AccessPathKeys = resourceGroupKeys('0xcafe::gallery::VisitorGroup');

  constructor(accounts: Accounts) {
    super();
    this.#accounts = accounts;
    this.visits = new Uint32Array(accounts.signerLimit);
    this.firstVisitAt = new Float64Array(accounts.signerLimit);
  }

  key(index: number): Buffer {
    return this.#keys.at(this.#accounts.addresses, index * ADDRESS_BYTES);
  }

  createdAt(index: number): number {
    return this.firstVisitAt[index]!;
  }

  writeValue(writer: BcsWriter, index: number): void {
    const favourite = this.favourites[index];
    const members: GroupMember[] = [
      { tag: VISITS_TAG, write: (to) => to.u64(BigInt(this.visits[index]!)) },
    ];
    if (favourite !== undefined) {
      members.push({ tag: FAVOURITE_TAG, write: (to) => to.fixed(favourite) });
    }
    writeResourceGroup(writer, members);
  }
}

export class Gallery {
  readonly #world: World;
  readonly #paintings: PaintingSlots;
  readonly #visitors: VisitorSlots;
  #next = 0;

  constructor(world: World) {
    this.#world = world;
    this.#paintings = new PaintingSlots(world.accounts);
    this.#visitors = new VisitorSlots(world.accounts);
  }

  /** One of the things one does with paintings. */
  readonly act = (): Call => {
    const { random } = this.#world;
    const count = this.#paintings.paintings.size;
    if (count >= MAX_PAINTINGS) return this.#destroy();
    if (count === 0 || random.perMille(300)) return this.#paint();
    if (random.perMille(100)) return this.#destroy();
    return random.perMille(600) ? this.#give() : this.#visit();
  };

  #paint(): Call {
    const { accounts, chain, effects, random } = this.#world;
    const painter = pickSender(this.#world);
    const number = this.#next;
    this.#next += 1;
    const title = `Study in ${random.pick(['blue', 'ochre', 'green', 'grey'])} no. ${number}`;
    const address = namedObjectAddress(accounts.address(painter), title);
    const painting: Painting = {
      address,
      addressBytes: addressBytes(address),
      title,
      year: FIRST_YEAR + random.below(YEARS),
      createdAt: chain.now,
      owner: painter,
      owners: 1,
      transfers: 0,
    };
    this.#paintings.paintings.set(number, painting);
    effects.create(this.#paintings, number);
    effects.moduleEvent(PAINTED, (writer) => {
      writer.fixed(painting.addressBytes).string(title);
      writer.fixed(accounts.addressBytes(painter));
    });
    return {
      sender: painter,
      payload: () =>
        entryFunction(
          CAFE,
          'gallery',
          'paint',
          [],
          [
            argument((writer) => writer.string(title)),
            argument((writer) => writer.u16(painting.year)),
          ],
        ),
    };
  }

  /** `0x1::object::transfer`: an event of the object's own stream, or a module event later on. */
  #give(): Call {
    const { accounts, chain, effects } = this.#world;
    const [number, painting] = this.#drawPainting();
    const from = painting.owner;
    const to = pickReceiver(this.#world, accounts.signerLimit);
    painting.owner = to;
    painting.owners += 1;
    effects.modify(this.#paintings, number);
    const writeTransfer = (writer: BcsWriter): void => {
      writer.fixed(painting.addressBytes).fixed(accounts.addressBytes(from));
      writer.fixed(accounts.addressBytes(to));
    };
    if (chain.moduleEvents) {
      effects.moduleEvent(TRANSFER, writeTransfer);
    } else {
      const sequenceNumber = painting.transfers;
      painting.transfers += 1;
      effects.streamEvent(
        TRANSFER_EVENT,
        { address: painting.addressBytes, creationNumber: OBJECT_CREATION_NUMBER, sequenceNumber },
        writeTransfer,
      );
    }
    return {
      sender: from,
      payload: () => {
        const args = [painting.addressBytes, Buffer.from(accounts.addressBytes(to))];
        return entryFunction(ADDRESS_ONE, 'object', 'transfer', [PAINTING], args);
      },
    };
  }

  #visit(): Call {
    const { chain, effects } = this.#world;
    const visitor = pickSender(this.#world);
    const [, painting] = this.#drawPainting();
    const visitors = this.#visitors;
    const isFirst = visitors.visits[visitor] === 0;
    if (isFirst) visitors.firstVisitAt[visitor] = chain.now;
    else visitors.favourites[visitor] = painting.addressBytes;
    visitors.visits[visitor]! += 1;
    if (isFirst) effects.create(visitors, visitor);
    else effects.modify(visitors, visitor);
    return {
      sender: visitor,
      payload: () => entryFunction(CAFE, 'gallery', 'visit', [], [painting.addressBytes]),
    };
  }

  /** Takes away the oldest painting with its whole resource group. */
  #destroy(): Call {
    const { effects } = this.#world;
    const [number, painting] = this.#paintings.paintings.entries().next().value!;
    effects.delete(this.#paintings, number);
    this.#paintings.destroy(number);
    return {
      sender: painting.owner,
      payload: () => entryFunction(CAFE, 'gallery', 'destroy', [], [painting.addressBytes]),
    };
  }

  /** One of the paintings; numbers are dense but for the destroyed oldest ones. */
  #drawPainting(): [number: number, painting: Painting] {
    const { paintings } = this.#paintings;
    const number = this.#next - 1 - this.#world.random.below(paintings.size);
    return [number, paintings.get(number)!];
  }
}
