/**
 * Random requests for things that a ledger contains, and for others: all operations, at any version, in both formats.
 */
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { formatAddress } from '../../src/move/types/address.ts';
import { StateKey } from '../../src/move/types/state-key.ts';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import { openView } from '../../src/store/read/view.ts';
import type { Store } from '../../src/store/store.ts';
import { Random } from '../random.ts';

export interface AnyRequest {
  readonly method: 'GET' | 'POST';
  /** Without the prefix `/v1`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What requests can ask for. */
interface Subjects {
  readonly accounts: Set<string>;
  readonly senders: Set<string>;
  readonly resources: Set<string>;
  readonly modules: Set<string>;
  readonly tableItems: Set<string>;
  readonly stateKeys: Set<string>;
  readonly streams: Set<string>;
  readonly hashes: Set<string>;
}

type Lists = Readonly<Record<keyof Subjects, readonly string[]>>;

const JSON_TYPE = 'application/json';
const BCS = 'application/x-bcs';
const RAW_REQUEST = { 'content-type': JSON_TYPE, accept: BCS };
const APT = '0x1::aptos_coin::AptosCoin';

/** @param items BCS of the TransactionOnChainData of every version */
export function subjectsOf(items: Iterable<Buffer>): Subjects {
  const found: Subjects = {
    accounts: new Set(['0x1', '0xa', '0x77']),
    ...{ senders: new Set(), resources: new Set(), modules: new Set(), tableItems: new Set() },
    ...{ stateKeys: new Set(), streams: new Set(), hashes: new Set() },
  };
  for (const item of items) {
    const { data } = readOnChainData(new BcsReader(item));
    found.hashes.add(formatHex(data.info.transactionHash));
    if (data.transaction.kind === 'user') {
      found.senders.add(formatAddress(data.transaction.transaction.raw.sender));
    }
    for (const event of data.events) {
      if (event.kind !== 'v1') continue;
      found.streams.add(`${formatAddress(event.key.address)}/events/${event.key.creationNumber}`);
    }
    for (const { key } of data.changes.writes) {
      found.stateKeys.add(formatHex(StateKey.encode(key)));
      if (key.kind === 'tableItem') {
        found.tableItems.add(`${formatAddress(key.handle)} ${formatHex(key.key)}`);
      }
      if (key.kind !== 'accessPath' || key.parsed === undefined) continue;
      const account = formatAddress(key.address);
      found.accounts.add(account);
      const path = key.parsed;
      if (path.kind === 'code') found.modules.add(`${account}/module/${path.module.name}`);
      else {
        const type =
          path.kind === 'resource' ? formatStructTag(path.tag) : '0x1::object::ObjectCore';
        found.resources.add(`${account}/resource/${encodeURIComponent(type)}`);
      }
    }
  }
  return found;
}

/** Draws random requests; the same random numbers give the same requests. */
export class RequestSource {
  readonly #random: Random;
  readonly #version: number;
  readonly #blockHeight: number;
  readonly #lists: Lists;

  constructor(random: Random, subjects: Subjects, version: bigint, blockHeight: bigint) {
    this.#random = random;
    this.#version = Number(version);
    this.#blockHeight = Number(blockHeight);
    const lists = Object.entries(subjects).map(([name, set]: [string, Set<string>]) => [
      name,
      [...set],
    ]);
    this.#lists = Object.fromEntries(lists) as unknown as Lists;
  }

  next(): AnyRequest {
    const drawn = this.#random.below(20);
    if (drawn === 0) return this.#encode();
    if (drawn === 1) return this.#tableItem();
    if (drawn === 2) return this.#rawValue();
    const accept = this.#random.below(2) === 0 ? BCS : JSON_TYPE;
    return { method: 'GET', path: this.#get(drawn), headers: { accept } };
  }

  #get(drawn: number): string {
    const account = () => `/accounts/${this.#one('accounts')}`;
    switch (drawn) {
      case 3:
      case 4:
        return `${account()}/balance/${this.#asset()}${this.#at()}`;
      case 5:
        return `/accounts/${this.#one('senders')}/balance/${this.#asset()}${this.#at()}`;
      case 6:
      case 7:
        return `/accounts/${this.#one('streams')}${this.#page(120)}`;
      case 8:
        return `${account()}/events/0x1::coin::CoinStore%3C${APT}%3E/deposit_events${this.#page(30)}`;
      case 9:
        return `/accounts/${this.#one('modules')}${this.#at()}`;
      case 10:
      case 11:
        return `/accounts/${this.#one('resources')}${this.#at()}`;
      case 12:
        return `${account()}${this.#at()}`;
      case 13:
        return `${account()}/${this.#random.below(4) === 0 ? 'modules' : 'resources'}${this.#at()}`;
      case 14:
        return `${account()}/balances${this.#at()}`;
      case 15:
        return this.#block();
      case 16:
        return this.#transaction();
      case 17:
        return `/accounts/${this.#one('senders')}/transactions${this.#page(4)}`;
      case 18:
        return `/accounts/${this.#one('senders')}/transaction_summaries?limit=${1 + this.#random.below(9)}`;
      default:
        return this.#chain();
    }
  }

  #block(): string {
    const more = this.#random.below(8) === 0 ? '?with_transactions=true' : '';
    return this.#random.below(2) === 0
      ? `/blocks/by_height/${this.#random.below(this.#blockHeight + 2)}${more}`
      : `/blocks/by_version/${this.#anyVersion()}${more}`;
  }

  #transaction(): string {
    switch (this.#random.below(3)) {
      case 0:
        return `/transactions/by_version/${1 + this.#random.below(this.#version + 1)}`;
      case 1:
        return `/transactions/by_hash/${this.#one('hashes')}`;
      default:
        return `/transactions?start=${1 + this.#random.below(this.#version)}&limit=2`;
    }
  }

  #chain(): string {
    const paths = [
      '',
      '/estimate_gas_price',
      `/transactions/auxiliary_info?start_version=${this.#random.below(this.#version)}&limit=3`,
      '/accounts/zz',
      '/transactions/by_hash/0x00',
      `/accounts/0x1?ledger_version=${this.#version + 1}`,
    ];
    return paths[this.#random.below(paths.length)]!;
  }

  #encode(): AnyRequest {
    const request = {
      sender: this.#one('senders'),
      ...{ sequence_number: '0', max_gas_amount: '2000', gas_unit_price: '100' },
      expiration_timestamp_secs: '1893456000',
      payload: {
        type: 'entry_function_payload',
        function: '0x1::aptos_account::transfer',
        type_arguments: [],
        arguments: [this.#one('accounts'), String(this.#random.below(1_000))],
      },
    };
    return {
      ...{ method: 'POST', path: '/transactions/encode_submission' },
      headers: { 'content-type': JSON_TYPE },
      body: JSON.stringify(request),
    };
  }

  #tableItem(): AnyRequest {
    const [handle, key] = this.#one('tableItems').split(' ');
    const path = `/tables/${handle}/raw_item${this.#at()}`;
    return { method: 'POST', path, headers: RAW_REQUEST, body: JSON.stringify({ key }) };
  }

  #rawValue(): AnyRequest {
    const path = `/experimental/state_values/raw${this.#at()}`;
    const body = JSON.stringify({ key: this.#one('stateKeys') });
    return { method: 'POST', path, headers: RAW_REQUEST, body };
  }

  #asset(): string {
    return ['0xa', APT, '0x1::nothing::Coin', this.#one('accounts')][this.#random.below(4)]!;
  }

  /** No version, or a random one. */
  #at(): string {
    return this.#random.below(3) > 0 ? '' : `?ledger_version=${this.#anyVersion()}`;
  }

  #anyVersion(): number {
    return this.#random.below(this.#version + 2);
  }

  #page(most: number): string {
    const limit = `limit=${1 + this.#random.below(most)}`;
    return this.#random.below(2) === 0 ? `?${limit}` : `?${limit}&start=${this.#random.below(40)}`;
  }

  #one(name: keyof Subjects): string {
    const list = this.#lists[name];
    return list[this.#random.below(list.length)]!;
  }
}

/** Requests for the contents of a stored ledger. */
export async function requestsFor(
  store: Store,
  seed: number,
  count: number,
): Promise<readonly AnyRequest[]> {
  const view = await openView(store);
  const { version, blockHeight } = view.head;
  const items = await view.transactions(0n, Number(version) + 1);
  const source = new RequestSource(new Random(seed), subjectsOf(items), version, blockHeight);
  return Array.from({ length: count }, () => source.next());
}
