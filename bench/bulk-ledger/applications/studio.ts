/**
 * The artists: accounts with the resources of both token standards, whose event streams begin with handle events and
 * continue, after the framework's event migration, as module events that translate to them (docs/spec/http.md §7.6).
 */

import { U64_MAX } from '../../../src/move/bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { addressBytes } from '../../../src/move/types/address.ts';
import { namedObjectAddress } from '../../../src/move/types/derived-address.ts';
import { callsOf, type ValueWriter } from '../../../src/sample/calls.ts';
import { CAFE_HEX } from '../../../src/sample/publishers.ts';
import { derivedBytes } from '../../../src/sample/random.ts';
import { CREATOR_ACCOUNTS, FIRST_CREATOR_ACCOUNT } from '../model/accounts.ts';
import { OBJECT_CREATION_NUMBER, OBJECT_KEYS, objectCore } from '../model/assets.ts';
import { EventHandles } from '../model/events.ts';
import {
  type GroupMember,
  resourceKey,
  type Slots,
  singleSlot,
  structTagBytes,
  tableItemKey,
  writeGroup,
} from '../model/slots.ts';
import { type Call, pickReceiver, type World } from '../model/world.ts';
import {
  type HandleOwner,
  STUDIO_EVENT_KINDS,
  STUDIO_EVENTS,
  type StudioEvent,
  type StudioFacts,
  writeTokenId,
} from './studio-events.ts';

const COLLECTION = 'Sample prints';
const TOKEN = 'First print';
const MAX_SUPPLY = 1_000_000n;
/** Initial amount of an artist's own token. */
const FIRST_AMOUNT = 1_000;

const TOKEN_TAG = structTagBytes('0x4::token::Token');
const COLLECTION_TAG = structTagBytes('0x4::collection::Collection');
const FIXED_SUPPLY_TAG = structTagBytes('0x4::collection::FixedSupply');
const UNLIMITED_SUPPLY_TAG = structTagBytes('0x4::collection::UnlimitedSupply');
const CONCURRENT_SUPPLY_TAG = structTagBytes('0x4::collection::ConcurrentSupply');

/** Kinds of supply by artist. A concurrent one has no handles: it only ever emits module events. */
const SUPPLIES = ['fixed', 'fixed', 'unlimited', 'concurrent'] as const;

const act = callsOf(`${CAFE_HEX}::studio::act`);

interface Resource {
  readonly slot: Slots;
  readonly handles: EventHandles;
}

class Artist {
  readonly account: number;
  readonly #world: World;
  readonly #supply: (typeof SUPPLIES)[number];
  readonly #facts: StudioFacts;
  readonly #resources = new Map<HandleOwner, Resource>();
  readonly #tokenSlot: Slots;
  #amount = FIRST_AMOUNT;
  #minted = 1;
  #burned = 0;

  constructor(world: World, index: number) {
    const { accounts, seed } = world;
    this.#world = world;
    this.account = FIRST_CREATOR_ACCOUNT + index;
    this.#supply = SUPPLIES[index]!;
    const address = accounts.address(this.account);
    const artist = accounts.addressBytes(this.account);
    this.#facts = {
      artist,
      other: artist,
      collectionObject: addressBytes(namedObjectAddress(address, COLLECTION)),
      tokenObject: addressBytes(namedObjectAddress(address, `${COLLECTION}::${TOKEN}`)),
      collection: COLLECTION,
      token: TOKEN,
      number: 0,
    };
    const tables = [0, 1, 2, 3].map((table) => derivedBytes(seed, 'artist table', index, table));
    this.#createResources(tables);
    this.#createObjects();
    const writeId: ValueWriter = (to) => writeTokenId(to, this.#facts);
    this.#tokenSlot = singleSlot(tableItemKey(tables[0]!.toString('hex'), writeId), (to) =>
      to.fixed(encodeBcs(writeId)).exactU64(this.#amount).length32(0),
    );
    world.effects.create(this.#tokenSlot);
  }

  /** The resources of the first token standard, under the artist's own address. */
  #createResources(tables: readonly Buffer[]): void {
    const { accounts } = this.#world;
    const create = (
      owner: HandleOwner,
      type: string,
      write: (to: BcsWriter, handles: EventHandles) => void,
    ): void => {
      const first = accounts.takeCreationNumbers(this.account, STUDIO_EVENTS[owner].length);
      const handles = this.#handles(owner, this.#facts.artist, BigInt(first));
      const key = resourceKey(accounts.address(this.account), type);
      this.#create(owner, handles, key, (to) => write(to, handles));
    };
    create('tokenStore', '0x3::token::TokenStore', (to, handles) =>
      handles.writeAll(to.fixed(tables[0]!).bool(true)),
    );
    create('collections', '0x3::token::Collections', (to, handles) =>
      handles.writeAll(to.fixed(tables[1]!).fixed(tables[2]!)),
    );
    create('pendingClaims', '0x3::token_transfers::PendingClaims', (to, handles) =>
      handles.writeAll(to.fixed(tables[3]!)),
    );
    create('eventStore', '0x3::token_event_store::TokenEventStoreV1', (to, handles) => {
      handles.writeAll(to);
      to.u8(0);
    });
  }

  /** The objects of the second token standard; the first handle of each is the object's own. */
  #createObjects(): void {
    const { collectionObject, tokenObject } = this.#facts;
    const first = OBJECT_CREATION_NUMBER + 1n;
    const ofToken = this.#handles('tokenObject', tokenObject, first);
    this.#create('tokenObject', ofToken, OBJECT_KEYS(tokenObject), (to) =>
      this.#writeTokenObject(to, ofToken),
    );
    const ofCollection = this.#handles('collectionObject', collectionObject, first);
    const ofSupply = this.#handles('collectionSupply', collectionObject, first + 1n);
    const key = OBJECT_KEYS(collectionObject);
    const slot = this.#create('collectionObject', ofCollection, key, (to) =>
      this.#writeCollectionObject(to, ofCollection, ofSupply),
    );
    // The supply is a member of the collection's own resource group.
    this.#resources.set('collectionSupply', { slot, handles: ofSupply });
  }

  #handles(owner: HandleOwner, address: Uint8Array, first: bigint): EventHandles {
    return EventHandles.ofResource(address, first, STUDIO_EVENTS[owner].length);
  }

  #create(owner: HandleOwner, handles: EventHandles, key: Buffer, write: ValueWriter): Slots {
    const slot = singleSlot(key, write);
    this.#resources.set(owner, { slot, handles });
    this.#world.effects.create(slot);
    return slot;
  }

  act(event: StudioEvent, other: number, number: number): void {
    const { accounts, effects } = this.#world;
    const facts = { ...this.#facts, other: accounts.addressBytes(other), number };
    const { slot, handles } = this.#resources.get(event.owner)!;
    const isOfSupply = event.owner === 'collectionSupply';
    if (isOfSupply) this.#changeSupply(event, slot);
    const amount = this.#amount + (event.amountChange ?? 0);
    if (amount !== this.#amount && amount > 0) {
      this.#amount = amount;
      effects.modify(this.#tokenSlot);
    }
    if (effects.moduleEvents || (isOfSupply && this.#supply === 'concurrent')) {
      effects.moduleEvent(event.types.moduleEvent, (writer) => {
        event.before?.(writer, facts);
        event.common(writer, facts);
        event.after?.(writer, facts);
      });
      return;
    }
    effects.modify(slot);
    effects.streamEvent(event.types.handleEvent, handles, event.handle, (writer) =>
      event.common(writer, facts),
    );
  }

  #changeSupply(event: StudioEvent, slot: Slots): void {
    if (event.handle === 0) this.#burned += 1;
    else this.#minted += 1;
    this.#world.effects.modify(slot);
  }

  #writeTokenObject(writer: BcsWriter, handles: EventHandles): void {
    const { artist, collectionObject, tokenObject } = this.#facts;
    writeGroup(writer, [
      objectCore({ object: tokenObject, owner: artist, ungated: true, handles: 2 }),
      [
        TOKEN_TAG,
        (to) => {
          to.fixed(collectionObject).exactU64(1).string('A print').string(TOKEN);
          handles.writeAll(to.string('https://example.com/print'));
        },
      ],
    ]);
  }

  #writeCollectionObject(
    writer: BcsWriter,
    ofCollection: EventHandles,
    ofSupply: EventHandles,
  ): void {
    const { artist: owner, collectionObject: object } = this.#facts;
    const handles = this.#supply === 'concurrent' ? 2 : 4;
    writeGroup(writer, [
      objectCore({ object, owner, ungated: false, handles }),
      [
        COLLECTION_TAG,
        (to) => {
          to.fixed(owner).string('Prints of the sample ledger').string(COLLECTION);
          ofCollection.writeAll(to.string('https://example.com/collection'));
        },
      ],
      this.#supplyMember(ofSupply),
    ]);
  }

  #supplyMember(handles: EventHandles): GroupMember {
    const current = BigInt(Math.max(0, this.#minted - this.#burned));
    const minted = BigInt(this.#minted);
    switch (this.#supply) {
      case 'fixed':
        return [
          FIXED_SUPPLY_TAG,
          (to) => handles.writeAll(to.u64(current).u64(MAX_SUPPLY).u64(minted)),
        ];
      case 'unlimited':
        return [UNLIMITED_SUPPLY_TAG, (to) => handles.writeAll(to.u64(current).u64(minted))];
      case 'concurrent':
        return [
          CONCURRENT_SUPPLY_TAG,
          (to) => to.u64(current).u64(U64_MAX).u64(minted).u64(U64_MAX),
        ];
    }
  }
}

export class Studio {
  readonly #world: World;
  readonly #artists: readonly Artist[];
  #number = 0;

  constructor(world: World) {
    this.#world = world;
    this.#artists = Array.from(
      { length: CREATOR_ACCOUNTS },
      (_, index) => new Artist(world, index),
    );
  }

  /** `cafe::studio::act` */
  readonly act = (): Call => {
    const { accounts, random } = this.#world;
    const artist = random.pick(this.#artists);
    const kind = random.below(STUDIO_EVENT_KINDS.length);
    const other = pickReceiver(this.#world, accounts.signerLimit);
    const number = this.#number;
    this.#number += 1;
    artist.act(STUDIO_EVENT_KINDS[kind]!, other, number);
    return { sender: artist.account, payload: () => act((to) => to.u8(kind), number) };
  };
}
