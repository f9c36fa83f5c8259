/** The movements that the page derives from a transaction, compared with the balances in the resulting state. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChangeJson, Transaction } from '../../web/src/asking/answers.ts';
import { type JsonObject, parseJson } from '../../web/src/asking/exact-json.ts';
import {
  NATIVE_ASSET,
  netChangesOf,
  shortAddress,
  textAt,
} from '../../web/src/transactions/movements.ts';
import {
  failureText,
  intendedPieces,
  type Piece,
  summaryOf,
} from '../../web/src/transactions/summary.ts';
import {
  NEWEST_VERSION,
  type ReferenceLedger,
  serveReferenceChain,
} from '../reference/reference-chain.ts';

const PAGE = 100;

/** Balances of stores after the writes of transactions. */
class Balances {
  readonly #stores = new Map<string, { owner: string; asset: string; balance: bigint }>();

  /** The transaction's changes of balances: sums by `owner asset`. */
  apply({ changes = [] }: Transaction): ReadonlyMap<string, bigint> {
    const sums = new Map<string, bigint>();
    const add = ({
      owner,
      asset,
      balance,
    }: {
      owner: string;
      asset: string;
      balance: bigint;
    }): void => {
      const key = `${owner} ${asset}`;
      sums.set(key, (sums.get(key) ?? 0n) + balance);
    };
    for (const [key, store] of this.#written(changes)) {
      const before = this.#stores.get(key);
      if (before !== undefined) add({ ...before, balance: -before.balance });
      if (store !== undefined) add(store);
      if (store === undefined) this.#stores.delete(key);
      else this.#stores.set(key, store);
    }
    return new Map([...sums].filter(([, sum]) => sum !== 0n));
  }

  #written(changes: readonly ChangeJson[]) {
    const found = new Map<string, { owner: string; asset: string; balance: bigint } | undefined>();
    const at = (address: string, type: string) =>
      changes.find((one) => one.address === address && textAt(one.data, 'type') === type)?.data?.[
        'data'
      ];
    for (const { type: kind, address = '', data, resource } of changes) {
      const type = textAt(data, 'type') ?? resource ?? '';
      const coin = /^0x1::coin::CoinStore<(.+)>$/.exec(type)?.[1];
      const key = coin === undefined ? address : `${address} ${coin}`;
      if (
        kind === 'delete_resource' &&
        (coin !== undefined || /ObjectGroup|FungibleStore/.test(type))
      ) {
        found.set(key, undefined);
      }
      if (kind !== 'write_resource') continue;
      const value = data!['data'];
      if (coin !== undefined) {
        const asset = coin === '0x1::aptos_coin::AptosCoin' ? NATIVE_ASSET : coin;
        const balance = BigInt(textAt(value, 'coin', 'value')!);
        found.set(key, { owner: shortAddress(address), asset, balance });
      }
      if (type !== '0x1::fungible_asset::FungibleStore') continue;
      const owner = textAt(at(address, '0x1::object::ObjectCore'), 'owner')!;
      const more = textAt(
        at(address, '0x1::fungible_asset::ConcurrentFungibleBalance'),
        'balance',
        'value',
      );
      found.set(key, {
        owner: shortAddress(owner),
        asset: shortAddress(textAt(value, 'metadata', 'inner')!),
        balance: BigInt(textAt(value, 'balance')!) + BigInt(more ?? 0),
      });
    }
    return found;
  }
}

describe('net changes of the recorded chain', () => {
  let ledger: ReferenceLedger;
  const transactions: Transaction[] = [];
  beforeAll(async () => {
    ledger = await serveReferenceChain();
    for (let start = 0; start <= NEWEST_VERSION; start += PAGE) {
      const { body } = await ledger.api.request(`/v1/transactions?start=${start}&limit=${PAGE}`);
      transactions.push(...parseJson<Transaction[]>(body));
    }
  });
  afterAll(() => ledger.close());

  it('of every user transaction are the differences of balances in state, by owner', () => {
    const balances = new Balances();
    let moved = 0;
    for (const transaction of transactions) {
      const expected = balances.apply(transaction);
      if (transaction.type !== 'user_transaction') continue;
      const told = netChangesOf(transaction);
      const found = new Map(told.map(({ owner, asset, amount }) => [`${owner} ${asset}`, amount]));
      expect(new Map([...found].sort()), transaction.version).toEqual(
        new Map([...expected].sort()),
      );
      if (told.length > 1) moved += 1;
    }
    expect(moved).toBeGreaterThan(100);
  });

  it('every transaction has a line, and each kind of piece occurs', () => {
    const kinds = new Set<string>();
    for (const transaction of transactions) {
      const pieces = summaryOf(transaction);
      expect(pieces.length).toBeGreaterThan(0);
      for (const piece of pieces)
        kinds.add(typeof piece === 'string' ? 'text' : Object.keys(piece)[0]!);
      const isFailure = transaction.success === false;
      expect(String(pieces[0]).startsWith('failed: '), transaction.version).toBe(isFailure);
    }
    expect([...kinds].sort()).toEqual(expect.arrayContaining(['account', 'asset', 'call', 'text']));
  });
});

/** A user transaction with the given fields. */
function transactionOf(more: Partial<Transaction>): Transaction {
  return {
    type: 'user_transaction',
    hash: '0x1',
    version: '5',
    success: true,
    sender: '0xa1',
    ...more,
  };
}

function coinEvent(
  way: 'Withdraw' | 'Deposit',
  account: string,
  amount: string,
  coin = '0x1::aptos_coin::AptosCoin',
) {
  const data = { account, amount, coin_type: coin };
  return { type: `0x1::coin::Coin${way}`, data, version: '5', sequence_number: '0' };
}

/** Pieces as a reader sees them. */
function lineOf(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      if ('amount' in piece) return `${piece.amount} ${piece.asset}`;
      return Object.values(piece).join();
    })
    .join('');
}

describe('a line', () => {
  const line = (more: Partial<Transaction>) => lineOf(summaryOf(transactionOf(more)));
  const call = { type: 'entry_function_payload', function: '0x5::m::f' };

  it('says from whom to whom', () => {
    const events = [coinEvent('Withdraw', '0xa1', '7'), coinEvent('Deposit', '0x00b2', '7')];
    expect(line({ events })).toBe('7 0xa from 0xa1 to 0xb2');
    const more = [coinEvent('Deposit', '0xc3', '1'), coinEvent('Deposit', '0xd4', '1')];
    expect(line({ events: [coinEvent('Withdraw', '0xa1', '9'), events[1]!, ...more] })).toBe(
      '9 0xa from 0xa1 to 3 accounts',
    );
  });

  it('says what was minted, burned and swapped', () => {
    expect(line({ events: [coinEvent('Deposit', '0xb2', '7')] })).toBe('minted 7 0xa for 0xb2');
    expect(line({ events: [coinEvent('Withdraw', '0xb2', '7')] })).toBe('burned 7 0xa of 0xb2');
    const events = [
      ...[coinEvent('Withdraw', '0xa1', '7'), coinEvent('Deposit', '0xf00', '7')],
      ...[
        coinEvent('Withdraw', '0xf00', '3', '0x9::c::C'),
        coinEvent('Deposit', '0xa1', '3', '0x9::c::C'),
      ],
    ];
    expect(line({ events })).toBe('swapped 7 0xa for 3 0x9::c::C');
  });

  it('names tokens and their collection, as far as the transaction wrote their names', () => {
    const resource = (address: string, type: string, data: JsonObject) => ({
      type: 'write_resource',
      ...{ address, data: { type, data } },
    });
    const data = { collection: '0xc0', token: '0x07' };
    const events = [
      { type: '0x4::collection::Mint', data, version: '5', sequence_number: '0' },
    ] as const;
    expect(summaryOf(transactionOf({ events }))).toEqual(['minted ', { token: '0x07' }]);
    const changes = [
      resource('0xc0', '0x4::collection::Collection', { name: 'Birds' }),
      resource('0x7', '0x4::token::Token', { name: '' }),
      resource('0x7', '0x4::token::TokenIdentifiers', { name: { value: 'Wren' } }),
    ];
    expect(summaryOf(transactionOf({ events, changes }))).toEqual([
      'minted ',
      { token: '0x07', name: 'Wren' },
      ' of the collection “Birds”',
    ]);
  });

  it.each([
    ['0x1::aptos_account::transfer', [], ['0xb2', '7'], '0xa'],
    ['0x1::coin::transfer', ['0x1::aptos_coin::AptosCoin'], ['0xb2', '7'], '0xa'],
    ['0x1::aptos_account::transfer_coins', ['0x9::c::C'], ['0xb2', '7'], '0x9::c::C'],
    ['0x1::primary_fungible_store::transfer', [], [{ inner: '0xf00' }, '0xb2', '7'], '0xf00'],
  ])('a failed %s was to send something', (name, type_arguments, given, asset) => {
    const payload = { ...call, function: name, type_arguments, arguments: given };
    expect(intendedPieces(transactionOf({ payload }))).toBe(undefined);
    const failed = transactionOf({ payload, success: false });
    expect(intendedPieces(failed)).toEqual([{ asset, amount: 7n }, ' to ', { account: '0xb2' }]);
    expect(intendedPieces({ ...failed, payload: { ...payload, arguments: [] } })).toBe(undefined);
  });

  it('says what was published and called', () => {
    const module = (name: string) => ({ type: 'write_module', data: { abi: { name } } });
    expect(line({ changes: [module('a'), module('b')], payload: call })).toBe(
      'published 2 modules: a, b',
    );
    expect(line({ payload: call })).toBe('called 0x5::m::f');
  });

  it.each([
    ['Out of gas', 'out of gas'],
    [
      'Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004): Insufficient balance to withdraw or transfer.',
      'Insufficient balance to withdraw or transfer',
    ],
    ['Move abort in 0x5::m: 0x7', 'abort 0x7 in m'],
    ['Execution failed in 0x5::m::f (on instruction Sub) at code offset 4', 'Sub failed in m::f'],
    ['Execution failed in 0x5::m::f at code offset 4', 'the code of m::f failed'],
    ['TYPE_ERROR', 'TYPE_ERROR'],
  ])('%s is said as “%s”', (status, text) => {
    expect(failureText(status)).toBe(text);
    expect(line({ success: false, vm_status: status })).toBe(`failed: ${text}`);
  });
});
