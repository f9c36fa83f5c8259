/**
 * The token events that the reference translates from module events to old streams, all kinds of them
 * (docs/spec/http.md §7.6; the kinds of coins, accounts and objects are in assets.ts, accounts.ts and gallery.ts).
 */
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { type MigratedEventType, migratedEventType } from '../model/events.ts';

/** The fields of a token event. */
export interface StudioFacts {
  /** 32 bytes each. */
  readonly artist: Uint8Array;
  readonly other: Uint8Array;
  readonly collectionObject: Uint8Array;
  readonly tokenObject: Uint8Array;
  readonly collection: string;
  readonly token: string;
  /** Tells one event from the next. */
  readonly number: number;
}

type Write = (writer: BcsWriter, facts: StudioFacts) => void;

/**
 * One kind of event in both forms; the module event has all fields of the handle event, and more before and after
 * them.
 */
interface EventKind {
  readonly types: MigratedEventType;
  readonly common: Write;
  readonly before?: Write;
  readonly after?: Write;
  /** How the event changes the artist's amount of the token; absent: not at all. */
  readonly amountChange?: -1 | 1;
}

function text(label: string, number: number): string {
  return `${label} ${number}`;
}

const artist: Write = (writer, facts) => {
  writer.fixed(facts.artist);
};

const tokenDataId: Write = (writer, facts) => {
  writer.fixed(facts.artist).string(facts.collection).string(facts.token);
};

/** Writes a `0x3::token::TokenId`. */
export const writeTokenId: Write = (writer, facts) => {
  tokenDataId(writer, facts);
  writer.u64(0n);
};

const idAndAmount: Write = (writer, facts) => {
  writeTokenId(writer, facts);
  writer.u64(1n);
};

const dataIdAndAmount: Write = (writer, facts) => {
  tokenDataId(writer, facts);
  writer.u64(1n);
};

const offer: Write = (writer, facts) => {
  writer.fixed(facts.other);
  idAndAmount(writer, facts);
};

const properties: Write = (writer, { number }) => {
  writer.length32(1).string('edition');
  writer.length32(1).bytes(Buffer.from(`${number}`));
  writer.length32(1).string('0x1::string::String');
};

const mutatedProperties: Write = (writer, facts) => {
  writeTokenId(writer, facts);
  writeTokenId(writer, facts);
  properties(writer, facts);
};

const newCollection: Write = (writer, facts) => {
  writer.fixed(facts.artist).string(text(facts.collection, facts.number));
  writer.string('https://example.com/collection').string('A series').exactU64(facts.number);
};

const newTokenData: Write = (writer, facts) => {
  tokenDataId(writer, facts);
  writer.string('A print').u64(100n).string('https://example.com/print').fixed(facts.artist);
  writer.u64(100n).u64(5n).string(text(facts.token, facts.number));
  writer.bool(true).bool(true).bool(false).bool(true).bool(false);
  properties(writer, facts);
};

/** Fields `creator(_addr), collection(_name)` and two texts or numbers. */
function collectionChange(write: Write): Write {
  return (writer, facts) => {
    writer.fixed(facts.artist).string(facts.collection);
    write(writer, facts);
  };
}

/** The same with the token's name. */
function tokenChange(write: Write): Write {
  return (writer, facts) => {
    writer.fixed(facts.artist).string(facts.collection).string(facts.token);
    write(writer, facts);
  };
}

const twoTexts: Write = (writer, { number }) => {
  writer.string(text('Text', number)).string(text('Text', number + 1));
};

const twoNumbers: Write = (writer, { number }) => {
  writer.exactU64(number).exactU64(number + 1);
};

const royalties: Write = (writer, { artist: payee, other }) => {
  writer.u64(1n).u64(100n).fixed(payee).u64(2n).u64(100n).fixed(other);
};

const propertyValues: Write = (writer, { number }) => {
  const value = Buffer.from(`${number}`);
  writer.length32(2).string('edition').string('size');
  writer.length32(2).u8(0).u8(1).bytes(value).string('u64');
  writer.length32(2).bytes(value).string('u64').bytes(value).string('u8');
};

const indexAndToken: Write = (writer, facts) => {
  writer.exactU64(facts.number).fixed(facts.tokenObject);
};

const collectionObject: Write = (writer, facts) => {
  writer.fixed(facts.collectionObject);
};

const collectionTexts = collectionChange(twoTexts);
const tokenTexts = tokenChange(twoTexts);

const mutation: Write = (writer, facts) => {
  writer.string('description');
  twoTexts(writer, facts);
};

const collectionMutation: Write = (writer) => {
  writer.string('uri');
};

const collectionAndTexts: Write = (writer, facts) => {
  collectionObject(writer, facts);
  twoTexts(writer, facts);
};

const isEven: Write = (writer, { number }) => {
  writer.bool(number % 2 === 0);
};

const tokenObject: Write = (writer, facts) => {
  writer.fixed(facts.tokenObject);
};

type EventMaker = (
  handleEvent: string,
  moduleEvent: string,
  common: Write,
  more?: Omit<EventKind, 'types' | 'common'>,
) => EventKind;

/** Kinds of events of one module. */
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

/** The kinds by the resource that has their handles, in the order of the handles. */
export const STUDIO_EVENTS = {
  tokenStore: [
    token('DepositEvent', 'TokenDeposit', idAndAmount, toArtist),
    token('WithdrawEvent', 'TokenWithdraw', idAndAmount, fromArtist),
    token('BurnTokenEvent', 'Burn', idAndAmount, fromArtist),
    token('MutateTokenPropertyMapEvent', 'MutatePropertyMap', mutatedProperties, byArtist),
  ],
  collections: [
    token('CreateCollectionEvent', 'CreateCollection', newCollection),
    token('CreateTokenDataEvent', 'TokenDataCreation', newTokenData, byArtist),
    token('MintTokenEvent', 'Mint', dataIdAndAmount, toArtist),
  ],
  pendingClaims: [
    claim('TokenOfferEvent', 'Offer', offer, byArtist),
    claim('TokenCancelOfferEvent', 'CancelOffer', offer, byArtist),
    claim('TokenClaimEvent', 'Claim', offer, byArtist),
  ],
  eventStore: [
    store('CollectionUriMutateEvent', 'CollectionUriMutate', collectionTexts),
    // The missing letter is the framework's own.
    store('CollectionMaxiumMutateEvent', 'CollectionMaximumMutate', collectionChange(twoNumbers)),
    store('CollectionDescriptionMutateEvent', 'CollectionDescriptionMutate', collectionTexts),
    store('OptInTransferEvent', 'OptInTransfer', isEven, byArtist),
    store('UriMutationEvent', 'UriMutation', tokenTexts),
    store('DefaultPropertyMutateEvent', 'DefaultPropertyMutate', tokenChange(propertyValues)),
    store('DescriptionMutateEvent', 'DescriptionMutate', tokenTexts),
    store('RoyaltyMutateEvent', 'RoyaltyMutate', tokenChange(royalties)),
    store('MaxiumMutateEvent', 'MaximumMutate', tokenChange(twoNumbers)),
  ],
  tokenObject: [object('MutationEvent', 'Mutation', mutation, { before: tokenObject })],
  collectionObject: [
    collection('MutationEvent', 'Mutation', collectionMutation, { after: collectionAndTexts }),
  ],
  collectionSupply: [
    collection('BurnEvent', 'Burn', indexAndToken, { before: collectionObject, after: artist }),
    collection('MintEvent', 'Mint', indexAndToken, { before: collectionObject }),
  ],
} as const satisfies Record<string, readonly EventKind[]>;

/** The resources that have the handles. */
export type HandleOwner = keyof typeof STUDIO_EVENTS;

/** One kind of event, and the handle it belongs to. */
export interface StudioEvent extends EventKind {
  readonly owner: HandleOwner;
  readonly handle: number;
}

/** All kinds; their index is the `kind` argument of `cafe::studio::act`. */
export const STUDIO_EVENT_KINDS: readonly StudioEvent[] = Object.entries(STUDIO_EVENTS).flatMap(
  ([owner, kinds]) =>
    kinds.map((kind, handle) => ({ ...kind, owner: owner as HandleOwner, handle })),
);
