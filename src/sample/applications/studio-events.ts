/**
 * The token events that the reference translates from module events to old streams, all kinds of them
 * (docs/spec/http.md §7.6; the coin, account and object kinds are in assets.ts, accounts.ts and gallery.ts).
 */
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { type EventType, eventType } from '../effects.ts';

/** What the data of a token event is made of. */
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

/** The resources that hold the handles, by the order of their handles. */
export type HandleOwner =
  | 'tokenStore'
  | 'collections'
  | 'pendingClaims'
  | 'eventStore'
  | 'tokenObject'
  | 'collectionObject'
  | 'collectionSupply';

type Write = (writer: BcsWriter, facts: StudioFacts) => void;

/** One kind of event in both forms; the module event has everything of the handle event, and more around it. */
export interface StudioEvent {
  readonly handleEvent: EventType;
  readonly moduleEvent: EventType;
  readonly owner: HandleOwner;
  /** Which of the owner's handles. */
  readonly handle: number;
  readonly common: Write;
  readonly before?: Write;
  readonly after?: Write;
  /** What the event does to the artist's amount of the token. */
  readonly amountChange: -1 | 0 | 1;
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
  writer.string('https://example.com/collection').string('A series').u64(BigInt(facts.number));
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
  writer.u64(BigInt(number)).u64(BigInt(number + 1));
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
  writer.u64(BigInt(facts.number)).fixed(facts.tokenObject);
};

const collectionObject: Write = (writer, facts) => {
  writer.fixed(facts.collectionObject);
};

type Row = readonly [
  owner: HandleOwner,
  handle: number,
  handleEvent: string,
  moduleEvent: string,
  common: Write,
  more?: Partial<Pick<StudioEvent, 'before' | 'after' | 'amountChange'>>,
];

const STORE = '0x3::token_event_store';
const byArtist = { before: artist } as const;

const ROWS: readonly Row[] = [
  [
    'tokenStore',
    0,
    '0x3::token::DepositEvent',
    '0x3::token::TokenDeposit',
    idAndAmount,
    { before: artist, amountChange: 1 },
  ],
  [
    'tokenStore',
    1,
    '0x3::token::WithdrawEvent',
    '0x3::token::TokenWithdraw',
    idAndAmount,
    { before: artist, amountChange: -1 },
  ],
  [
    'tokenStore',
    2,
    '0x3::token::BurnTokenEvent',
    '0x3::token::Burn',
    idAndAmount,
    { before: artist, amountChange: -1 },
  ],
  [
    'tokenStore',
    3,
    '0x3::token::MutateTokenPropertyMapEvent',
    '0x3::token::MutatePropertyMap',
    mutatedProperties,
    byArtist,
  ],
  [
    'collections',
    0,
    '0x3::token::CreateCollectionEvent',
    '0x3::token::CreateCollection',
    newCollection,
  ],
  [
    'collections',
    1,
    '0x3::token::CreateTokenDataEvent',
    '0x3::token::TokenDataCreation',
    newTokenData,
    byArtist,
  ],
  [
    'collections',
    2,
    '0x3::token::MintTokenEvent',
    '0x3::token::Mint',
    dataIdAndAmount,
    { before: artist, amountChange: 1 },
  ],
  [
    'pendingClaims',
    0,
    '0x3::token_transfers::TokenOfferEvent',
    '0x3::token_transfers::Offer',
    offer,
    byArtist,
  ],
  [
    'pendingClaims',
    1,
    '0x3::token_transfers::TokenCancelOfferEvent',
    '0x3::token_transfers::CancelOffer',
    offer,
    byArtist,
  ],
  [
    'pendingClaims',
    2,
    '0x3::token_transfers::TokenClaimEvent',
    '0x3::token_transfers::Claim',
    offer,
    byArtist,
  ],
  [
    'eventStore',
    0,
    `${STORE}::CollectionUriMutateEvent`,
    `${STORE}::CollectionUriMutate`,
    collectionChange(twoTexts),
  ],
  [
    'eventStore',
    1,
    `${STORE}::CollectionMaxiumMutateEvent`,
    `${STORE}::CollectionMaximumMutate`,
    collectionChange(twoNumbers),
  ],
  [
    'eventStore',
    2,
    `${STORE}::CollectionDescriptionMutateEvent`,
    `${STORE}::CollectionDescriptionMutate`,
    collectionChange(twoTexts),
  ],
  [
    'eventStore',
    3,
    `${STORE}::OptInTransferEvent`,
    `${STORE}::OptInTransfer`,
    (writer, { number }) => writer.bool(number % 2 === 0),
    byArtist,
  ],
  ['eventStore', 4, `${STORE}::UriMutationEvent`, `${STORE}::UriMutation`, tokenChange(twoTexts)],
  [
    'eventStore',
    5,
    `${STORE}::DefaultPropertyMutateEvent`,
    `${STORE}::DefaultPropertyMutate`,
    tokenChange(propertyValues),
  ],
  [
    'eventStore',
    6,
    `${STORE}::DescriptionMutateEvent`,
    `${STORE}::DescriptionMutate`,
    tokenChange(twoTexts),
  ],
  [
    'eventStore',
    7,
    `${STORE}::RoyaltyMutateEvent`,
    `${STORE}::RoyaltyMutate`,
    tokenChange(royalties),
  ],
  [
    'eventStore',
    8,
    `${STORE}::MaxiumMutateEvent`,
    `${STORE}::MaximumMutate`,
    tokenChange(twoNumbers),
  ],
  [
    'tokenObject',
    0,
    '0x4::token::MutationEvent',
    '0x4::token::Mutation',
    (writer, facts) => {
      writer.string('description');
      twoTexts(writer, facts);
    },
    { before: (writer, facts) => writer.fixed(facts.tokenObject) },
  ],
  [
    'collectionObject',
    0,
    '0x4::collection::MutationEvent',
    '0x4::collection::Mutation',
    (writer) => writer.string('uri'),
    {
      after: (writer, facts) => {
        collectionObject(writer, facts);
        twoTexts(writer, facts);
      },
    },
  ],
  [
    'collectionSupply',
    0,
    '0x4::collection::BurnEvent',
    '0x4::collection::Burn',
    indexAndToken,
    { before: collectionObject, after: artist },
  ],
  [
    'collectionSupply',
    1,
    '0x4::collection::MintEvent',
    '0x4::collection::Mint',
    indexAndToken,
    { before: collectionObject },
  ],
];

/** All kinds; their index is the `kind` argument of `cafe::studio::act`. */
export const STUDIO_EVENTS: readonly StudioEvent[] = ROWS.map(
  ([owner, handle, handleEvent, moduleEvent, common, more]) => ({
    owner,
    handle,
    handleEvent: eventType(handleEvent),
    moduleEvent: eventType(moduleEvent),
    common,
    amountChange: 0,
    ...more,
  }),
);
