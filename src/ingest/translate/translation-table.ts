/**
 * The module events that the reference continues in the old event streams: 28 types, as data (docs/spec/http.md §7.6).
 * A handle event has some of the module event's fields, in the same order and of the same bytes.
 */
import {
  ACCOUNT,
  COIN_STORE,
  COLLECTION,
  COLLECTIONS,
  FIXED_SUPPLY,
  type FieldKind,
  type HandleResource,
  OBJECT_CORE,
  PENDING_CLAIMS,
  TOKEN,
  TOKEN_EVENT_STORE,
  TOKEN_STORE,
  UNLIMITED_SUPPLY,
} from './handle-resources.ts';

export interface Translation {
  readonly moduleEvent: string;
  readonly handleEvent: string;
  readonly fields: Readonly<Record<string, FieldKind>>;
  readonly owner: string;
  readonly handleFields: readonly string[];
  readonly resources: readonly HandleResource[];
  readonly handle: string;
  /** The stream's creation number if no resource exists. If this is absent too, the event stays untranslated. */
  readonly defaultCreationNumber?: bigint | undefined;
}

type Fields = Readonly<Record<string, FieldKind>>;
type Names = readonly [moduleEvent: string, handleEvent: string];

/** Creation number of an object's first handle (docs/spec/ledger.md §5.7). */
const FIRST_OBJECT_CREATION_NUMBER = 0x4_0000_0000_0000n;

function coin(names: Names, handle: string, defaultCreationNumber: bigint): Translation {
  return {
    ...named('0x1::coin', names),
    fields: { coin_type: 'text', account: 'address', amount: 'u64' },
    owner: 'account',
    handleFields: ['amount'],
    resources: [COIN_STORE],
    handle,
    defaultCreationNumber,
  };
}

function named(module: string, [moduleEvent, handleEvent]: Names) {
  return { moduleEvent: `${module}::${moduleEvent}`, handleEvent: `${module}::${handleEvent}` };
}

/** A handle event that has all fields but the first, which is the owner. */
function withoutOwner(
  module: string,
  names: Names,
  owner: string,
  rest: Fields,
  place: Pick<Translation, 'resources' | 'handle' | 'defaultCreationNumber'>,
): Translation {
  const fields: Fields = { [owner]: 'address', ...rest };
  return { ...named(module, names), fields, owner, handleFields: Object.keys(rest), ...place };
}

function unchanged(
  module: string,
  names: Names,
  owner: string,
  fields: Fields,
  place: Pick<Translation, 'resources' | 'handle' | 'defaultCreationNumber'>,
): Translation {
  return { ...named(module, names), fields, owner, handleFields: Object.keys(fields), ...place };
}

const TOKEN_AMOUNT: Fields = { id: 'tokenId', amount: 'u64' };
const OFFER: Fields = { to_address: 'address', token_id: 'tokenId', amount: 'u64' };

function tokenStore(names: Names, handle: string, fields: Fields): Translation {
  return withoutOwner('0x3::token', names, 'account', fields, {
    resources: [TOKEN_STORE],
    handle,
  });
}

function claim(names: Names, handle: string): Translation {
  const place = { resources: [PENDING_CLAIMS], handle };
  return withoutOwner('0x3::token_transfers', names, 'account', OFFER, place);
}

/** A change that an artist makes to a collection: `creator_addr, collection_name` and the changed values. */
function collectionChange(names: Names, handle: string, change: Fields): Translation {
  const fields: Fields = { creator_addr: 'address', collection_name: 'text', ...change };
  const place = { resources: [TOKEN_EVENT_STORE], handle };
  return unchanged('0x3::token_event_store', names, 'creator_addr', fields, place);
}

/** A change that an artist makes to a token: `creator, collection, token` and the changed values. */
function tokenChange(names: Names, handle: string, change: Fields): Translation {
  const fields: Fields = { creator: 'address', collection: 'text', token: 'text', ...change };
  const place = { resources: [TOKEN_EVENT_STORE], handle };
  return unchanged('0x3::token_event_store', names, 'creator', fields, place);
}

const COINS_AND_ACCOUNTS: readonly Translation[] = [
  coin(['CoinDeposit', 'DepositEvent'], 'deposit_events', 2n),
  coin(['CoinWithdraw', 'WithdrawEvent'], 'withdraw_events', 3n),
  withoutOwner(
    '0x1::account',
    ['CoinRegister', 'CoinRegisterEvent'],
    'account',
    { type_info: 'typeInfo' },
    { resources: [ACCOUNT], handle: 'coin_register_events', defaultCreationNumber: 0n },
  ),
  withoutOwner(
    '0x1::account',
    ['KeyRotation', 'KeyRotationEvent'],
    'account',
    { old_authentication_key: 'text', new_authentication_key: 'text' },
    { resources: [ACCOUNT], handle: 'key_rotation_events', defaultCreationNumber: 1n },
  ),
];

const OBJECTS: readonly Translation[] = [
  unchanged(
    '0x1::object',
    ['Transfer', 'TransferEvent'],
    'object',
    { object: 'address', from: 'address', to: 'address' },
    {
      resources: [OBJECT_CORE],
      handle: 'transfer_events',
      defaultCreationNumber: FIRST_OBJECT_CREATION_NUMBER,
    },
  ),
  withoutOwner(
    '0x4::token',
    ['Mutation', 'MutationEvent'],
    'token_address',
    { mutated_field_name: 'text', old_value: 'text', new_value: 'text' },
    { resources: [TOKEN], handle: 'mutation_events' },
  ),
  {
    ...named('0x4::collection', ['Mutation', 'MutationEvent']),
    fields: {
      mutated_field_name: 'text',
      collection: 'address',
      old_value: 'text',
      new_value: 'text',
    },
    owner: 'collection',
    handleFields: ['mutated_field_name'],
    resources: [COLLECTION],
    handle: 'mutation_events',
  },
  withoutOwner(
    '0x4::collection',
    ['Mint', 'MintEvent'],
    'collection',
    // A snapshot of an aggregator has the bytes of its number.
    { index: 'u64', token: 'address' },
    { resources: [FIXED_SUPPLY, UNLIMITED_SUPPLY], handle: 'mint_events' },
  ),
  {
    ...named('0x4::collection', ['Burn', 'BurnEvent']),
    fields: { collection: 'address', index: 'u64', token: 'address', previous_owner: 'address' },
    owner: 'collection',
    handleFields: ['index', 'token'],
    resources: [FIXED_SUPPLY, UNLIMITED_SUPPLY],
    handle: 'burn_events',
  },
];

const FIRST_TOKENS: readonly Translation[] = [
  tokenStore(['TokenDeposit', 'DepositEvent'], 'deposit_events', TOKEN_AMOUNT),
  tokenStore(['TokenWithdraw', 'WithdrawEvent'], 'withdraw_events', TOKEN_AMOUNT),
  tokenStore(['Burn', 'BurnTokenEvent'], 'burn_events', TOKEN_AMOUNT),
  tokenStore(['MutatePropertyMap', 'MutateTokenPropertyMapEvent'], 'mutate_token_property_events', {
    old_id: 'tokenId',
    new_id: 'tokenId',
    keys: 'texts',
    values: 'texts',
    types: 'texts',
  }),
  withoutOwner(
    '0x3::token',
    ['Mint', 'MintTokenEvent'],
    'creator',
    { id: 'tokenDataId', amount: 'u64' },
    { resources: [COLLECTIONS], handle: 'mint_token_events' },
  ),
  unchanged(
    '0x3::token',
    ['CreateCollection', 'CreateCollectionEvent'],
    'creator',
    {
      creator: 'address',
      collection_name: 'text',
      uri: 'text',
      description: 'text',
      maximum: 'u64',
    },
    { resources: [COLLECTIONS], handle: 'create_collection_events' },
  ),
  withoutOwner(
    '0x3::token',
    ['TokenDataCreation', 'CreateTokenDataEvent'],
    'creator',
    {
      id: 'tokenDataId',
      description: 'text',
      maximum: 'u64',
      uri: 'text',
      royalty_payee_address: 'address',
      royalty_points_denominator: 'u64',
      royalty_points_numerator: 'u64',
      name: 'text',
      mutability_config: 'mutabilityConfig',
      property_keys: 'texts',
      property_values: 'texts',
      property_types: 'texts',
    },
    { resources: [COLLECTIONS], handle: 'create_token_data_events' },
  ),
  claim(['Offer', 'TokenOfferEvent'], 'offer_events'),
  claim(['CancelOffer', 'TokenCancelOfferEvent'], 'cancel_offer_events'),
  claim(['Claim', 'TokenClaimEvent'], 'claim_events'),
];

/** The chain spells two of the handle events `Maxium`. */
const TOKEN_CHANGES: readonly Translation[] = [
  collectionChange(
    ['CollectionDescriptionMutate', 'CollectionDescriptionMutateEvent'],
    'collection_description_mutate_events',
    { old_description: 'text', new_description: 'text' },
  ),
  collectionChange(
    ['CollectionUriMutate', 'CollectionUriMutateEvent'],
    'collection_uri_mutate_events',
    { old_uri: 'text', new_uri: 'text' },
  ),
  collectionChange(
    ['CollectionMaximumMutate', 'CollectionMaxiumMutateEvent'],
    'collection_maximum_mutate_events',
    { old_maximum: 'u64', new_maximum: 'u64' },
  ),
  tokenChange(['UriMutation', 'UriMutationEvent'], 'uri_mutate_events', {
    old_uri: 'text',
    new_uri: 'text',
  }),
  tokenChange(
    ['DefaultPropertyMutate', 'DefaultPropertyMutateEvent'],
    'default_property_mutate_events',
    { keys: 'texts', old_values: 'optionalPropertyValues', new_values: 'propertyValues' },
  ),
  tokenChange(['DescriptionMutate', 'DescriptionMutateEvent'], 'description_mutate_events', {
    old_description: 'text',
    new_description: 'text',
  }),
  tokenChange(['RoyaltyMutate', 'RoyaltyMutateEvent'], 'royalty_mutate_events', {
    old_royalty_numerator: 'u64',
    old_royalty_denominator: 'u64',
    old_royalty_payee_addr: 'address',
    new_royalty_numerator: 'u64',
    new_royalty_denominator: 'u64',
    new_royalty_payee_addr: 'address',
  }),
  tokenChange(['MaximumMutate', 'MaxiumMutateEvent'], 'maximum_mutate_events', {
    old_maximum: 'u64',
    new_maximum: 'u64',
  }),
  withoutOwner(
    '0x3::token_event_store',
    ['OptInTransfer', 'OptInTransferEvent'],
    'account_address',
    { opt_in: 'bool' },
    { resources: [TOKEN_EVENT_STORE], handle: 'opt_in_events' },
  ),
];

export const TRANSLATIONS: readonly Translation[] = [
  ...COINS_AND_ACCOUNTS,
  ...OBJECTS,
  ...FIRST_TOKENS,
  ...TOKEN_CHANGES,
];
