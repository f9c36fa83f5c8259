/**
 * The artists: accounts with the resources of both token standards, whose event streams begin with handle events and
 * go on, after the framework's event migration, as module events that translate to them (docs/spec/http.md §7.6).
 */

import { type BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import type { Address } from '../../move/types/address.ts';
import { addressBytes } from '../../move/types/address.ts';
import { namedObjectAddress } from '../../move/types/derived-address.ts';
import { CREATOR_ACCOUNTS, FIRST_CREATOR_ACCOUNT } from '../accounts.ts';
import { OBJECT_CREATION_NUMBER, OBJECT_GROUP, writeObjectCore } from '../assets.ts';
import { CAFE } from '../framework/application-modules.ts';
import { derivedBytes } from '../random.ts';
import {
  type GroupMember,
  resourceGroupKeys,
  resourceKey,
  SingleSlots,
  structTagBytes,
  tableItemKey,
  writeEventHandle,
  writeResourceGroup,
} from '../slots.ts';
import { type Call, entryFunction, pickReceiver, u64Argument, type World } from '../world.ts';
import {
  type HandleOwner,
  STUDIO_EVENTS,
  type StudioEvent,
  type StudioFacts,
  writeTokenId,
} from './studio-events.ts';

const COLLECTION = 'Sample prints';
const TOKEN = 'First print';
const MAX_SUPPLY = 1_000_000n;
/** Amount of its own token that an artist begins with. */
const FIRST_AMOUNT = 1_000;

const CORE_TAG = structTagBytes('0x1::object::ObjectCore');
const TOKEN_TAG = structTagBytes('0x4::token::Token');
const COLLECTION_TAG = structTagBytes('0x4::collection::Collection');
const FIXED_SUPPLY_TAG = structTagBytes('0x4::collection::FixedSupply');
const UNLIMITED_SUPPLY_TAG = structTagBytes('0x4::collection::UnlimitedSupply');
const CONCURRENT_SUPPLY_TAG = structTagBytes('0x4::collection::ConcurrentSupply');

/** How many handles each resource has. */
const HANDLES: Readonly<Record<HandleOwner, number>> = {
  tokenStore: 4,
  collections: 3,
  pendingClaims: 3,
  eventStore: 9,
  tokenObject: 1,
  collectionObject: 1,
  collectionSupply: 2,
};

/** Handles of one resource: they have creation numbers one after the other. */
interface HandleSet {
  readonly slot: number;
  /** 32 bytes. */
  readonly address: Buffer;
  firstNumber: bigint;
  readonly counts: Uint32Array;
}

type SupplyKind = 'fixed' | 'unlimited' | 'concurrent';
const SUPPLIES: readonly SupplyKind[] = ['fixed', 'fixed', 'unlimited', 'concurrent'];

/** One artist with everything it has. */
class Artist {
  readonly account: number;
  readonly #world: World;
  readonly #slots: SingleSlots;
  readonly #supply: SupplyKind;
  readonly #handles = new Map<HandleOwner, HandleSet>();
  readonly #tokenSlot: number;
  readonly #address: Buffer;
  readonly #collectionObject: Buffer;
  readonly #tokenObject: Buffer;
  #amount = FIRST_AMOUNT;
  #minted = 1;
  #burned = 0;

  constructor(world: World, slots: SingleSlots, index: number, address: Address) {
    this.#world = world;
    this.#slots = slots;
    this.account = FIRST_CREATOR_ACCOUNT + index;
    this.#supply = SUPPLIES[index]!;
    this.#address = addressBytes(address);
    this.#collectionObject = addressBytes(namedObjectAddress(address, COLLECTION));
    this.#tokenObject = addressBytes(namedObjectAddress(address, `${COLLECTION}::${TOKEN}`));
    const tables = [0, 1, 2, 3].map((table) =>
      derivedBytes(world.seed, 'artist table', index, table),
    );
    this.#addResources(address, tables);
    this.#addObjects();
    const key = encodeBcs((to) => writeTokenId(to, this.#facts(0, 0)));
    this.#tokenSlot = slots.add(tableItemKey(tables[0]!.toString('hex'), key), (to) => {
      writeTokenId(to, this.#facts(0, 0));
      to.u64(BigInt(this.#amount)).length32(0);
    });
  }

  #add(kind: HandleOwner, key: Buffer, address: Buffer, write: (to: BcsWriter) => void): HandleSet {
    const counts = new Uint32Array(HANDLES[kind]);
    const set = { slot: this.#slots.add(key, write), address, firstNumber: 0n, counts };
    this.#handles.set(kind, set);
    return set;
  }

  /** The resources of the first token standard, under the artist's own address. */
  #addResources(address: Address, tables: readonly Buffer[]): void {
    const add = (kind: HandleOwner, type: string, write: (to: BcsWriter) => void): void => {
      this.#add(kind, resourceKey(address, type), this.#address, write);
    };
    add('tokenStore', '0x3::token::TokenStore', (to) => {
      to.fixed(tables[0]!).bool(true);
      this.#writeHandles(to, 'tokenStore');
    });
    add('collections', '0x3::token::Collections', (to) => {
      to.fixed(tables[1]!).fixed(tables[2]!);
      this.#writeHandles(to, 'collections');
    });
    add('pendingClaims', '0x3::token_transfers::PendingClaims', (to) => {
      to.fixed(tables[3]!);
      this.#writeHandles(to, 'pendingClaims');
    });
    add('eventStore', '0x3::token_event_store::TokenEventStoreV1', (to) => {
      this.#writeHandles(to, 'eventStore');
      to.u8(0);
    });
  }

  /** The objects of the second token standard. */
  #addObjects(): void {
    const keys = resourceGroupKeys(OBJECT_GROUP);
    const token = this.#tokenObject;
    this.#add('tokenObject', keys.at(token), token, (to) => this.#writeTokenObject(to));
    const object = this.#collectionObject;
    const collection = this.#add('collectionObject', keys.at(object), object, (to) =>
      this.#writeCollectionObject(to),
    );
    // The supply's handles stand in the collection's own resource group.
    const counts = new Uint32Array(HANDLES.collectionSupply);
    this.#handles.set('collectionSupply', { ...collection, counts });
  }

  genesis(): void {
    const { accounts, effects } = this.#world;
    for (const kind of ['tokenStore', 'collections', 'pendingClaims', 'eventStore'] as const) {
      const set = this.#handles.get(kind)!;
      set.firstNumber = BigInt(accounts.takeCreationNumbers(effects, this.account, HANDLES[kind]));
      effects.create(this.#slots, set.slot);
    }
    for (const kind of ['tokenObject', 'collectionObject'] as const) {
      const set = this.#handles.get(kind)!;
      set.firstNumber = OBJECT_CREATION_NUMBER + 1n;
      effects.create(this.#slots, set.slot);
    }
    this.#handles.get('collectionSupply')!.firstNumber = OBJECT_CREATION_NUMBER + 2n;
    effects.create(this.#slots, this.#tokenSlot);
  }

  #facts(other: number, number: number): StudioFacts {
    const { accounts } = this.#world;
    return {
      artist: this.#address,
      other: accounts.addressBytes(other),
      collectionObject: this.#collectionObject,
      tokenObject: this.#tokenObject,
      collection: COLLECTION,
      token: TOKEN,
      number,
    };
  }

  /** Gives out one event, as a handle event or as a module event. */
  act(event: StudioEvent, other: number, number: number): void {
    const { chain, effects } = this.#world;
    const facts = this.#facts(other, number);
    const set = this.#handles.get(event.owner)!;
    const isMint = event.owner === 'collectionSupply' && event.handle === 1;
    if (isMint) this.#minted += 1;
    else if (event.owner === 'collectionSupply') this.#burned += 1;
    if (event.owner === 'collectionSupply') effects.modify(this.#slots, set.slot);
    if (event.amountChange !== 0 && this.#amount + event.amountChange > 0) {
      this.#amount += event.amountChange;
      effects.modify(this.#slots, this.#tokenSlot);
    }
    // A concurrent supply has no handles: it only ever gave out module events.
    const hasHandle = event.owner !== 'collectionSupply' || this.#supply !== 'concurrent';
    if (chain.moduleEvents || !hasHandle) {
      effects.moduleEvent(event.moduleEvent, (writer) => {
        event.before?.(writer, facts);
        event.common(writer, facts);
        event.after?.(writer, facts);
      });
      return;
    }
    const sequenceNumber = set.counts[event.handle]!;
    set.counts[event.handle] = sequenceNumber + 1;
    effects.modify(this.#slots, set.slot);
    const creationNumber = set.firstNumber + BigInt(event.handle);
    effects.streamEvent(
      event.handleEvent,
      { address: set.address, creationNumber, sequenceNumber },
      (writer) => event.common(writer, facts),
    );
  }

  #writeHandles(writer: BcsWriter, owner: HandleOwner): void {
    const { counts, firstNumber, address } = this.#handles.get(owner)!;
    for (const [index, count] of counts.entries()) {
      writeEventHandle(writer, count, firstNumber + BigInt(index), address);
    }
  }

  #writeTokenObject(writer: BcsWriter): void {
    const owner = this.#address;
    writeResourceGroup(writer, [
      {
        tag: CORE_TAG,
        write: (to) => writeObjectCore(to, this.#tokenObject, owner, true, 0, 2),
      },
      {
        tag: TOKEN_TAG,
        write: (to) => {
          to.fixed(this.#collectionObject).u64(1n).string('A print').string(TOKEN);
          to.string('https://example.com/print');
          this.#writeHandles(to, 'tokenObject');
        },
      },
    ]);
  }

  #writeCollectionObject(writer: BcsWriter): void {
    const owner = this.#address;
    const supply = this.#supply;
    const handles = supply === 'concurrent' ? 2 : 4;
    writeResourceGroup(writer, [
      {
        tag: CORE_TAG,
        write: (to) => writeObjectCore(to, this.#collectionObject, owner, false, 0, handles),
      },
      {
        tag: COLLECTION_TAG,
        write: (to) => {
          to.fixed(owner).string('Prints of the sample ledger').string(COLLECTION);
          to.string('https://example.com/collection');
          this.#writeHandles(to, 'collectionObject');
        },
      },
      this.#supplyMember(),
    ]);
  }

  #supplyMember(): GroupMember {
    const current = BigInt(Math.max(0, this.#minted - this.#burned));
    const minted = BigInt(this.#minted);
    const max = 0xffff_ffff_ffff_ffffn;
    switch (this.#supply) {
      case 'fixed':
        return {
          tag: FIXED_SUPPLY_TAG,
          write: (to) => {
            to.u64(current).u64(MAX_SUPPLY).u64(minted);
            this.#writeHandles(to, 'collectionSupply');
          },
        };
      case 'unlimited':
        return {
          tag: UNLIMITED_SUPPLY_TAG,
          write: (to) => {
            to.u64(current).u64(minted);
            this.#writeHandles(to, 'collectionSupply');
          },
        };
      case 'concurrent':
        return {
          tag: CONCURRENT_SUPPLY_TAG,
          write: (to) => to.u64(current).u64(max).u64(minted).u64(max),
        };
    }
  }
}

export class Studio {
  readonly #world: World;
  readonly #artists: readonly Artist[];
  #number = 0;

  constructor(world: World) {
    this.#world = world;
    const slots = new SingleSlots();
    this.#artists = Array.from(
      { length: CREATOR_ACCOUNTS },
      (_, index) =>
        new Artist(world, slots, index, world.accounts.address(FIRST_CREATOR_ACCOUNT + index)),
    );
  }

  genesis(): void {
    for (const artist of this.#artists) artist.genesis();
  }

  /** `cafe::studio::act` */
  readonly act = (): Call => {
    const { accounts, random } = this.#world;
    const artist = random.pick(this.#artists);
    const kind = random.below(STUDIO_EVENTS.length);
    const other = pickReceiver(this.#world, accounts.signerLimit);
    const number = this.#number;
    this.#number += 1;
    artist.act(STUDIO_EVENTS[kind]!, other, number);
    return {
      sender: artist.account,
      payload: () => {
        const args = [Buffer.of(kind), u64Argument(number)];
        return entryFunction(CAFE, 'studio', 'act', [], args);
      },
    };
  };
}
