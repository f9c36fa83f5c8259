/**
 * Checks balances against state, in both directions: every key that may contain an amount has its row, and every row
 * has the amounts in state. A row with a version above its last write passes: readers then take the balance from state.
 */
import { ADDRESS_BYTES, addressFromBytes } from '../move/types/address.ts';
import { primaryStoreOf } from '../move/types/derived-address.ts';
import { OBJECT_GROUP_TAG } from '../move/types/framework-tag.ts';
import { physicalStateKey, resourceGroupStateKey, stateKeyHash } from '../move/types/state-key.ts';
import { type Amount, balancePathOf } from '../move/values/balance-values.ts';
import {
  BALANCE,
  type BalanceHolder,
  PRIMARY_STORE,
  type StoredBalance,
} from '../store/columns/balance-column.ts';
import {
  ACCOUNT_KEYS,
  BALANCES,
  PRIMARY_STORES,
  type ScannedRow,
  STATE,
} from '../store/columns/columns.ts';
import type { Head } from '../store/columns/head.ts';
import { encodeU64Key } from '../store/columns/order-key.ts';
import { decodeStateRow } from '../store/columns/state-column.ts';
import { type AccountKey, keyOfRow, walkAccountKeys } from '../store/columns/state-key-column.ts';
import type { StoreReader } from '../store/store.ts';
import { type BalanceWrite, balanceWriteOf } from '../store/write/balance-index.ts';
import {
  columnPages,
  DamageList,
  KEYS_AT_ONCE,
  readEach,
  reportAbove,
  type VerifyContext,
} from './context.ts';

/** Keys of an owner that are read together with those of others; the keys of an owner with more are read separately. */
const KEYS_OF_OWNER = 128;

/** Balances as the newest state up to a head has them. Methods throw RowDamagedError. */
export class BalancesInState {
  readonly #store: StoreReader;
  readonly #order: Buffer;

  constructor(store: StoreReader, { version }: Head) {
    this.#store = store;
    this.#order = encodeU64Key(version);
  }

  /** The balances of owners in assets; `undefined` for an owner who has neither store of the asset in state. */
  async of(holders: readonly BalanceHolder[]): Promise<readonly (StoredBalance | undefined)[]> {
    const coins = await this.#coinsOf(new Map(holders.map(({ owner }) => [hex(owner), owner])));
    const groups = holders.map(({ owner, metadata }) => {
      const address = addressFromBytes(primaryStoreOf(owner, metadata));
      return physicalStateKey(resourceGroupStateKey(address, OBJECT_GROUP_TAG));
    });
    const objects = await this.newestWrites(groups);
    return holders.map(({ owner, metadata }, index) => {
      const coin = coins.get(coinName(owner, metadata));
      const object = objects[index];
      if (coin === undefined && object === undefined) return undefined;
      const [coinVersion, objectVersion] = [coin?.version ?? 0n, object?.version ?? 0n];
      return {
        version: coinVersion > objectVersion ? coinVersion : objectVersion,
        coin: coin === undefined ? 0n : coin.change.amount,
        fungible: object === undefined ? 0n : object.change.amount,
      };
    });
  }

  /** @param keys physical ones */
  async newestWrites(keys: readonly Buffer[]): Promise<readonly (BalanceWrite | undefined)[]> {
    const places = keys.map((key) => ({ partition: stateKeyHash(key), order: this.#order }));
    const rows = await this.#store.seekLastMany(STATE, places);
    return keys.map((key, index) => {
      const row = rows[index];
      if (row === undefined) return undefined;
      const { bytes, version } = decodeStateRow(places[index]!.partition, row);
      return balanceWriteOf(key, bytes, version);
    });
  }

  /** The newest writes to the coin stores of some owners, by owner and metadata of the asset. */
  async #coinsOf(owners: ReadonlyMap<string, Buffer>): Promise<Map<string, BalanceWrite>> {
    const keys = await this.#coinKeysOf([...owners.values()]);
    const coins = new Map<string, BalanceWrite>();
    for (const [index, write] of (await this.newestWrites(keys)).entries()) {
      if (write?.change.kind !== 'coinStore') continue;
      const owner = keys[index]!.subarray(1, 1 + ADDRESS_BYTES);
      coins.set(coinName(owner, write.change.metadata), write);
    }
    return coins;
  }

  async #coinKeysOf(owners: readonly Buffer[]): Promise<readonly Buffer[]> {
    const ranges = owners.map((partition) => ({ partition, limit: KEYS_OF_OWNER }));
    const coinKeys: Buffer[] = [];
    const add = ({ key }: AccountKey): void => {
      if (balancePathOf(key)?.kind === 'coinStore') coinKeys.push(key);
    };
    for (const [index, rows] of (await this.#store.rangeMany(ACCOUNT_KEYS, ranges)).entries()) {
      const partition = owners[index]!;
      const keys = rows.map((row) => keyOfRow({ partition, ...row }));
      const isWhole = keys.length < KEYS_OF_OWNER && !keys.includes(undefined);
      if (isWhole) for (const key of keys) add(key!);
      else {
        for await (const key of walkAccountKeys(this.#store, addressFromBytes(partition))) add(key);
      }
    }
    return coinKeys;
  }
}

function coinName(owner: Buffer, metadata: Buffer): string {
  return hex(owner) + hex(metadata);
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}

/** Reports keys that may contain an amount and whose balance is missing. */
export class BalanceKeys {
  readonly #context: VerifyContext;
  readonly #balances: BalancesInState;

  constructor(context: VerifyContext) {
    this.#context = context;
    this.#balances = new BalancesInState(context.store, context.view.head);
  }

  /** @param keys physical ones of accounts */
  async check(keys: readonly Buffer[]): Promise<void> {
    const { damages } = this.#context;
    const balanceKeys = keys.filter((key) => balancePathOf(key) !== undefined);
    const read = (some: readonly Buffer[]) => this.#balances.newestWrites(some);
    const writes = (await readEach(damages, balanceKeys, read)).map((found) => found?.[0]);
    const holders = await this.#holdersOf(writes.filter((write) => write !== undefined));
    const rows = await readEach(damages, holders, (some) =>
      this.#context.store.getMany(
        BALANCES,
        some.map(({ holder }) => BALANCE.keyOf(holder)),
      ),
    );
    for (const [index, { holder, version }] of holders.entries()) {
      const found = rows[index];
      if (found === undefined || found[0] !== undefined) continue;
      const detail = 'missing: state has an amount that belongs here';
      damages.row(BALANCES, BALANCE.keyOf(holder), detail, version);
    }
  }

  async #holdersOf(writes: readonly BalanceWrite[]): Promise<readonly HolderVersion[]> {
    const { damages, store } = this.#context;
    const holders: HolderVersion[] = [];
    const unresolved: { readonly address: Buffer; readonly version: bigint }[] = [];
    for (const { change, version } of writes) {
      const holder = change.kind === 'coinStore' ? change : change.holder;
      if (holder !== undefined) holders.push({ holder, version });
      else if (change.kind === 'objectGroup') unresolved.push({ address: change.address, version });
    }
    const known = await readEach(damages, unresolved, (some) => primaryStores(store, some));
    for (const [index, { version }] of unresolved.entries()) {
      const holder = known[index]?.[0];
      if (holder !== undefined) holders.push({ holder, version });
    }
    return holders;
  }
}

interface HolderVersion {
  readonly holder: BalanceHolder;
  readonly version: bigint;
}

/** The owner and asset whose primary store is at each address. @throws RowDamagedError */
async function primaryStores(
  store: StoreReader,
  addresses: readonly { readonly address: Buffer }[],
): Promise<readonly (BalanceHolder | undefined)[]> {
  const keys = addresses.map(({ address }) => PRIMARY_STORE.keyOf(address));
  const values = await store.getMany(PRIMARY_STORES, keys);
  return values.map((value, index) => value && PRIMARY_STORE.decode(keys[index]!, value));
}

/**
 * Checks the rows of balances; `BalanceKeys` checks that none is missing.
 * @param onPageDone as that of columnPages
 */
export async function verifyBalances(
  context: VerifyContext,
  onPageDone?: () => void,
): Promise<void> {
  const balances = new BalancesInState(context.store, context.view.head);
  const options = { maxRows: KEYS_AT_ONCE, onPageDone };
  for await (const rows of columnPages(context, BALANCES, options)) {
    await checkRows(context, rows, balances);
  }
}

/** Checks the rows that lead from primary stores to balances. @param onPageDone as that of columnPages */
export async function verifyPrimaryStores(
  context: VerifyContext,
  onPageDone?: () => void,
): Promise<void> {
  const options = { maxRows: KEYS_AT_ONCE, onPageDone };
  for await (const rows of columnPages(context, PRIMARY_STORES, options)) {
    await checkPrimaryStores(context, rows);
  }
}

async function checkRows(
  context: VerifyContext,
  rows: readonly ScannedRow[],
  balances: BalancesInState,
): Promise<void> {
  const { damages, store, view } = context;
  const visible: RowWithBalance[] = [];
  for (const row of rows) {
    const balance = damages.decodedNow(() => BALANCE.decode(row, row.value));
    if (balance === undefined) continue;
    if (balance.version > view.head.version) reportAbove(context, BALANCES, row);
    else {
      const { partition: owner, order: metadata } = row;
      const address = primaryStoreOf(owner, metadata);
      visible.push({ row, balance, owner, metadata, address });
    }
  }
  const holders = await readEach(damages, visible, (some) => primaryStores(store, some));
  // Keys and state that cannot be read are reported already.
  const expected = await readEach(new DamageList(), visible, (some) => balances.of(some));
  for (const [index, one] of visible.entries()) {
    const holder = holders[index];
    if (holder !== undefined && holder[0] === undefined) {
      const detail = `missing: nothing leads to a row of ${BALANCES.name}`;
      const key = PRIMARY_STORE.keyOf(one.address);
      damages.row(PRIMARY_STORES, key, detail, one.balance.version);
    }
    const found = expected[index];
    if (found !== undefined) compareBalance(context, one, found[0]);
  }
}

interface RowWithBalance extends BalanceHolder {
  readonly row: ScannedRow;
  readonly balance: StoredBalance;
  /** Address of the primary store. */
  readonly address: Buffer;
}

function compareBalance(
  { damages }: VerifyContext,
  { row, balance }: RowWithBalance,
  expected: StoredBalance | undefined,
): void {
  const { version, coin, fungible } = expected ?? { version: 0n, coin: 0n, fungible: 0n };
  const faults: string[] = [];
  if (balance.version < version) {
    faults.push(`it is of version ${balance.version}, state was written at ${version}`);
  }
  if (balance.coin !== coin) {
    faults.push(`it says ${text(balance.coin)}, the coin store has ${text(coin)}`);
  }
  if (balance.fungible !== fungible) {
    faults.push(`it says ${text(balance.fungible)}, the primary store has ${text(fungible)}`);
  }
  for (const fault of faults) damages.row(BALANCES, row, fault, balance.version);
}

async function checkPrimaryStores(
  { damages, store }: VerifyContext,
  rows: readonly ScannedRow[],
): Promise<void> {
  const valid: { readonly row: ScannedRow; readonly holder: BalanceHolder }[] = [];
  for (const row of rows) {
    const holder = damages.decodedNow(() => PRIMARY_STORE.decode(row, row.value));
    if (holder === undefined) continue;
    if (primaryStoreOf(holder.owner, holder.metadata).equals(row.partition)) {
      valid.push({ row, holder });
    } else damages.row(PRIMARY_STORES, row, 'the address follows from another owner or asset');
  }
  const balances = await readEach(damages, valid, (some) =>
    store.getMany(
      BALANCES,
      some.map(({ holder }) => BALANCE.keyOf(holder)),
    ),
  );
  for (const [index, { row }] of valid.entries()) {
    const found = balances[index];
    if (found === undefined || found[0] !== undefined) continue;
    damages.row(PRIMARY_STORES, row, `it leads to no row of ${BALANCES.name}`);
  }
}

function text(amount: Amount): string {
  return amount === undefined ? 'that it does not decode' : String(amount);
}
