/**
 * All kinds of token events that the reference translates from module events to old streams (docs/spec/http.md §7.6).
 * Events of coins, accounts and objects are in assets.ts, accounts.ts and gallery.ts.
 */
import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { type MigratedEventType, migratedEventType } from '../model/events.ts';

export interface StudioFacts {
  /** 32 bytes each. */
  readonly artist: Uint8Array;
  readonly other: Uint8Array;
  readonly collectionObject: Uint8Array;
  readonly tokenObject: Uint8Array;
  readonly collection: string;
  readonly token: string;
  /** Makes each event different. */
  readonly number: number;
}

type Write = (writer: BcsWriter, facts: StudioFacts) => unknown;

/**
 * One kind of event in both forms; the module event has all fields of the handle event, with more before and after
 * them.
 */
interface EventKind {
  readonly types: MigratedEventType;
  readonly common: Write;
  readonly before?: Write;
  readonly after?: Write;
  /** Change of the artist's amount of the token; absent when the event does not change it. */
  readonly amountChange?: -1 | 1;
}

function fields(...parts: readonly Write[]): Write {
  return (writer, facts) => {
    for (const part of parts) part(writer, facts);
  };
}

const artist: Write = (to, facts) => to.fixed(facts.artist);
const other: Write = (to, facts) => to.fixed(facts.other);
const one: Write = (to) => to.exactU64(1);
const collectionObject: Write = (to, facts) => to.fixed(facts.collectionObject);
const tokenObject: Write = (to, facts) => to.fixed(facts.tokenObject);

const collectionName = fields(artist, (to, facts) => to.string(facts.collection));
const tokenDataId = fields(collectionName, (to, facts) => to.string(facts.token));
/** Writes a `0x3::token::TokenId`; its last part is the property version. */
export const writeTokenId = fields(tokenDataId, (to) => to.exactU64(0));
const idAndAmount = fields(writeTokenId, one);

const properties: Write = (to, { number }) => {
  to.length32(1).string('edition');
  to.length32(1).bytes(Buffer.from(`${number}`));
  to.length32(1).string('0x1::string::String');
};

const newCollection: Write = (to, { artist: creator, collection: name, number }) => {
  to.fixed(creator).string(`${name} ${number}`);
  to.string('https://example.com/collection').string('A series').exactU64(number);
};

const newTokenData: Write = (to, { artist: payee, token: name, number }) => {
  to.string('A print').exactU64(100).string('https://example.com/print').fixed(payee);
  to.exactU64(100).exactU64(5).string(`${name} ${number}`);
  to.bool(true).bool(true).bool(false).bool(true).bool(false);
};

const twoTexts: Write = (to, { number }) =>
  to.string(`Text ${number}`).string(`Text ${number + 1}`);

const twoNumbers: Write = (to, { number }) => to.exactU64(number).exactU64(number + 1);

const royalties: Write = (to, { artist: before, other: after }) =>
  to.exactU64(1).exactU64(100).fixed(before).exactU64(2).exactU64(100).fixed(after);

const propertyValues: Write = (to, { number }) => {
  const value = Buffer.from(`${number}`);
  to.length32(2).string('edition').string('size');
  to.length32(2).u8(0).u8(1).bytes(value).string('u64');
  to.length32(2).bytes(value).string('u64').bytes(value).string('u8');
};

const indexAndToken = fields((to, { number }) => to.exactU64(number), tokenObject);
const offered = fields(other, idAndAmount);
const collectionTexts = fields(collectionName, twoTexts);
const tokenTexts = fields(tokenDataId, twoTexts);
const descriptionTexts = fields((to) => to.string('description'), twoTexts);
const uri: Write = (to) => to.string('uri');
const isEven: Write = (to, { number }) => to.bool(number % 2 === 0);

type EventMaker = (
  handleEvent: string,
  moduleEvent: string,
  common: Write,
  more?: Omit<EventKind, 'types' | 'common'>,
) => EventKind;

function eventsOf(module: string): EventMaker {
  return (handleEvent, moduleEvent, common, more) => ({
    types: migratedEventType(module, handleEvent, moduleEvent),
    common,
    ...more,
  });
}

const token = eventsOf('0x3::token');
const claim = eventsOf('0x3::token_transfers');
const store = eventsOf('0x3::token_event_store');
const object = eventsOf('0x4::token');
const collection = eventsOf('0x4::collection');

const byArtist = { before: artist };
const toArtist = { before: artist, amountChange: 1 } as const;
const fromArtist = { before: artist, amountChange: -1 } as const;

/** Grouped by the resource that has their handles, in the order of the handles. */
export const STUDIO_EVENTS = {
  tokenStore: [
    token('DepositEvent', 'TokenDeposit', idAndAmount, toArtist),
    token('WithdrawEvent', 'TokenWithdraw', idAndAmount, fromArtist),
    token('BurnTokenEvent', 'Burn', idAndAmount, fromArtist),
    token(
      'MutateTokenPropertyMapEvent',
      'MutatePropertyMap',
      fields(writeTokenId, writeTokenId, properties),
      byArtist,
    ),
  ],
  collections: [
    token('CreateCollectionEvent', 'CreateCollection', newCollection),
    token(
      'CreateTokenDataEvent',
      'TokenDataCreation',
      fields(tokenDataId, newTokenData, properties),
      byArtist,
    ),
    token('MintTokenEvent', 'Mint', fields(tokenDataId, one), toArtist),
  ],
  pendingClaims: [
    claim('TokenOfferEvent', 'Offer', offered, byArtist),
    claim('TokenCancelOfferEvent', 'CancelOffer', offered, byArtist),
    claim('TokenClaimEvent', 'Claim', offered, byArtist),
  ],
  eventStore: [
    store('CollectionUriMutateEvent', 'CollectionUriMutate', collectionTexts),
    // The framework itself misspells this name.
    store(
      'CollectionMaxiumMutateEvent',
      'CollectionMaximumMutate',
      fields(collectionName, twoNumbers),
    ),
    store('CollectionDescriptionMutateEvent', 'CollectionDescriptionMutate', collectionTexts),
    store('OptInTransferEvent', 'OptInTransfer', isEven, byArtist),
    store('UriMutationEvent', 'UriMutation', tokenTexts),
    store(
      'DefaultPropertyMutateEvent',
      'DefaultPropertyMutate',
      fields(tokenDataId, propertyValues),
    ),
    store('DescriptionMutateEvent', 'DescriptionMutate', tokenTexts),
    store('RoyaltyMutateEvent', 'RoyaltyMutate', fields(tokenDataId, royalties)),
    store('MaxiumMutateEvent', 'MaximumMutate', fields(tokenDataId, twoNumbers)),
  ],
  tokenObject: [object('MutationEvent', 'Mutation', descriptionTexts, { before: tokenObject })],
  collectionObject: [
    collection('MutationEvent', 'Mutation', uri, { after: fields(collectionObject, twoTexts) }),
  ],
  collectionSupply: [
    collection('BurnEvent', 'Burn', indexAndToken, { before: collectionObject, after: artist }),
    collection('MintEvent', 'Mint', indexAndToken, { before: collectionObject }),
  ],
} as const satisfies Record<string, readonly EventKind[]>;

export type HandleOwner = keyof typeof STUDIO_EVENTS;

export interface StudioEvent extends EventKind {
  readonly owner: HandleOwner;
  readonly handle: number;
}

/** All kinds; their index is the `kind` argument of `cafe::studio::act`. */
export const STUDIO_EVENT_KINDS: readonly StudioEvent[] = Object.entries(STUDIO_EVENTS).flatMap(
  ([owner, kinds]) =>
    kinds.map((kind, handle) => ({ ...kind, owner: owner as HandleOwner, handle })),
);
