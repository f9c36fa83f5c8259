/**
 * Every module event of a sample ledger that has an old stream is in it: compared with a second implementation of
 * docs/spec/http.md §7.6, which finds types and handle fields by name in the chain's own definitions.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import type { ModuleLookup } from '../../src/move/modules/lookup.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { decodeResourceGroup } from '../../src/move/types/resource-group.ts';
import {
  hashedStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { parseStructTag, parseTypeTag } from '../../src/move/types/type-parser.ts';
import { formatStructTag, formatTypeTag, TypeTag } from '../../src/move/types/type-tag.ts';
import { resolveLayout } from '../../src/move/values/layout-resolver.ts';
import { renderValue } from '../../src/move/values/value-json.ts';
import { EVENTS } from '../../src/store/columns/columns.ts';
import { decodeEventRow, encodeStreamId } from '../../src/store/columns/event-column.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { openView, type StoreView } from '../../src/store/read/view.ts';
import type { Store } from '../../src/store/store.ts';
import { sampleStore } from './feed-following.ts';

/** V2 type: V1 type, owner's field, resources (`@` in the object group), handle. From docs/spec/http.md §7.6 alone. */
const TABLE: Readonly<Record<string, string>> = {
  '0x1::coin::CoinDeposit':
    '0x1::coin::DepositEvent account 0x1::coin::CoinStore<coin_type> deposit_events',
  '0x1::coin::CoinWithdraw':
    '0x1::coin::WithdrawEvent account 0x1::coin::CoinStore<coin_type> withdraw_events',
  '0x1::account::CoinRegister':
    '0x1::account::CoinRegisterEvent account 0x1::account::Account coin_register_events',
  '0x1::account::KeyRotation':
    '0x1::account::KeyRotationEvent account 0x1::account::Account key_rotation_events',
  '0x1::object::Transfer':
    '0x1::object::TransferEvent object @0x1::object::ObjectCore transfer_events',
  '0x4::token::Mutation':
    '0x4::token::MutationEvent token_address @0x4::token::Token mutation_events',
  '0x4::collection::Mutation':
    '0x4::collection::MutationEvent collection @0x4::collection::Collection mutation_events',
  '0x4::collection::Mint':
    '0x4::collection::MintEvent collection @0x4::collection::FixedSupply|@0x4::collection::UnlimitedSupply mint_events',
  '0x4::collection::Burn':
    '0x4::collection::BurnEvent collection @0x4::collection::FixedSupply|@0x4::collection::UnlimitedSupply burn_events',
  '0x3::token::TokenDeposit':
    '0x3::token::DepositEvent account 0x3::token::TokenStore deposit_events',
  '0x3::token::TokenWithdraw':
    '0x3::token::WithdrawEvent account 0x3::token::TokenStore withdraw_events',
  '0x3::token::Burn': '0x3::token::BurnTokenEvent account 0x3::token::TokenStore burn_events',
  '0x3::token::MutatePropertyMap':
    '0x3::token::MutateTokenPropertyMapEvent account 0x3::token::TokenStore mutate_token_property_events',
  '0x3::token::Mint':
    '0x3::token::MintTokenEvent creator 0x3::token::Collections mint_token_events',
  '0x3::token::CreateCollection':
    '0x3::token::CreateCollectionEvent creator 0x3::token::Collections create_collection_events',
  '0x3::token::TokenDataCreation':
    '0x3::token::CreateTokenDataEvent creator 0x3::token::Collections create_token_data_events',
  '0x3::token_transfers::Offer':
    '0x3::token_transfers::TokenOfferEvent account 0x3::token_transfers::PendingClaims offer_events',
  '0x3::token_transfers::CancelOffer':
    '0x3::token_transfers::TokenCancelOfferEvent account 0x3::token_transfers::PendingClaims cancel_offer_events',
  '0x3::token_transfers::Claim':
    '0x3::token_transfers::TokenClaimEvent account 0x3::token_transfers::PendingClaims claim_events',
  ...tokenEventStore({
    CollectionDescriptionMutate:
      'CollectionDescriptionMutateEvent creator_addr collection_description_mutate_events',
    CollectionUriMutate: 'CollectionUriMutateEvent creator_addr collection_uri_mutate_events',
    CollectionMaximumMutate:
      'CollectionMaxiumMutateEvent creator_addr collection_maximum_mutate_events',
    UriMutation: 'UriMutationEvent creator uri_mutate_events',
    DefaultPropertyMutate: 'DefaultPropertyMutateEvent creator default_property_mutate_events',
    DescriptionMutate: 'DescriptionMutateEvent creator description_mutate_events',
    RoyaltyMutate: 'RoyaltyMutateEvent creator royalty_mutate_events',
    MaximumMutate: 'MaxiumMutateEvent creator maximum_mutate_events',
    OptInTransfer: 'OptInTransferEvent account_address opt_in_events',
  }),
};

function tokenEventStore(rows: Readonly<Record<string, string>>): Record<string, string> {
  const module = '0x3::token_event_store';
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => {
      const [handleEvent, owner, handle] = row.split(' ');
      const resource = `${module}::TokenEventStoreV1`;
      return [`${module}::${name}`, `${module}::${handleEvent} ${owner} ${resource} ${handle}`];
    }),
  );
}

type Json = Record<string, unknown>;

/** Decodes values of the ledger to JSON, by the chain's own definitions. */
class Renderer {
  readonly #view: StoreView;
  readonly #lookup: ModuleLookup;

  constructor(view: StoreView, lookup: ModuleLookup) {
    this.#view = view;
    this.#lookup = lookup;
  }

  async json(type: string, bytes: Uint8Array): Promise<Json> {
    const layout = await resolveLayout(parseTypeTag(type), this.#lookup);
    return JSON.parse(renderValue(layout, bytes)) as Json;
  }

  /** A resource after a version; `@` before its type means in the object group. */
  async resource(owner: string, named: string, version: bigint): Promise<Json | undefined> {
    const address = owner.slice(2).padStart(64, '0');
    const type = named.replace('@', '');
    const group = parseStructTag('0x1::object::ObjectGroup');
    const key = named.startsWith('@')
      ? resourceGroupStateKey(address, group)
      : resourceStateKey(address, parseStructTag(type));
    const entry = await this.#view.state(hashedStateKey(key), version);
    if (entry?.bytes === undefined) return undefined;
    if (!named.startsWith('@')) return this.json(type, entry.bytes);
    const member = decodeResourceGroup(entry.bytes).find(
      ({ tag }) => formatStructTag(tag) === type,
    );
    return member === undefined ? undefined : this.json(type, member.data);
  }
}

interface Handle {
  readonly counter: string;
  readonly guid: { readonly id: { readonly creation_num: string; readonly addr: string } };
}

/** A plain address, or the address in an object. */
function addressIn(value: unknown): string {
  return typeof value === 'object' ? String((value as Json)['inner']) : String(value);
}

/** The event with its snapshots replaced by their plain values, as in the handle event. */
function withoutSnapshots(event: Json): Json {
  const bare = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'value' in value ? value.value : value;
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [name, bare(value)]));
}

/** The expected stream of an event; `undefined` if there is no handle. */
async function handleOf(
  renderer: Renderer,
  row: string,
  event: Json,
  version: bigint,
): Promise<Handle | undefined> {
  const [, owner, resources, handle] = row.split(' ');
  for (const resource of resources!.split('|')) {
    const type = resource.replace('<coin_type>', `<${event['coin_type']}>`);
    const found = await renderer.resource(addressIn(event[owner!]), type, version);
    if (found !== undefined) return found[handle!] as Handle;
  }
  return undefined;
}

describe('translated events of a sample ledger', () => {
  let source: Store;
  beforeAll(async () => {
    source = await sampleStore(14_000);
  });

  it('are all in their streams, and nothing else is', async () => {
    const view = await openView(source);
    const { lookupModule } = await openLedger(source).view();
    const renderer = new Renderer(view, lookupModule);
    const seen = new Map<string, number>();
    const lastOfStream = new Map<string, bigint>();
    let rows = 0;
    const check = async (version: bigint, index: number, type: string, data: Buffer) => {
      const row = TABLE[type]!;
      const event = await renderer.json(type, data);
      const handle = await handleOf(renderer, row, event, version);
      if (handle === undefined) return;
      const { creation_num: creationNumber, addr } = handle.guid.id;
      const address = addr.slice(2).padStart(64, '0');
      const partition = encodeStreamId({ address, creationNumber: BigInt(creationNumber) });
      const name = partition.toString('hex');
      const last = lastOfStream.get(name);
      const sequence = last === undefined ? BigInt(handle.counter) : last + 1n;
      lastOfStream.set(name, sequence);
      const order = encodeU64Key(sequence);
      const value = await source.get(EVENTS, partition, order);
      expect(value, `${type} at ${version}: event ${sequence} of its stream`).toBeDefined();
      const stored = decodeEventRow(partition, { order, value: value! });
      expect(stored).toMatchObject({ version, index });
      const handleType = formatTypeTag(TypeTag.decode(stored.typeTag));
      expect(handleType).toBe(row.split(' ')[0]);
      const translated = await renderer.json(handleType, stored.data);
      expect(withoutSnapshots(event)).toMatchObject(translated);
      seen.set(type, (seen.get(type) ?? 0) + 1);
      rows += 1;
    };
    for (let first = 0n; first <= view.head.version; first += 1_000n) {
      for (const item of await view.transactions(first, 1_000)) {
        const { data } = readOnChainData(new BcsReader(item));
        for (const [index, event] of data.events.entries()) {
          if (event.kind === 'v1') {
            const { key, sequenceNumber } = event;
            lastOfStream.set(encodeStreamId(key).toString('hex'), sequenceNumber);
            rows += 1;
          } else if (TABLE[formatTypeTag(event.typeTag)] !== undefined) {
            await check(data.version, index, formatTypeTag(event.typeTag), event.data);
          }
        }
      }
    }
    const missing = Object.keys(TABLE).filter((type) => !seen.has(type));
    console.info(`${[...seen.values()].reduce((a, b) => a + b, 0)} events of ${seen.size} types`);
    expect(missing).toEqual([]);
    const statistics = await source.statistics();
    expect(statistics.find(({ column }) => column === EVENTS)!.rows).toBe(rows);
  });
});
