/**
 * Checks balances against state, in both directions: every key that may contain an amount has its row, and every row
 * has the amounts in state. A row with a version above its last write passes: readers then take the balance from state.
 */
import { addressFromBytes } from '../move/types/address.ts';
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
import { BALANCES, PRIMARY_STORES, type ScannedRow, STATE } from '../store/columns/columns.ts';
import type { Head } from '../store/columns/head.ts';
import { encodeU64Key } from '../store/columns/order-key.ts';
import { decodeStateRow } from '../store/columns/state-column.ts';
import { walkAccountKeys } from '../store/columns/state-key-column.ts';
import type { StoreReader } from '../store/store.ts';
import { type BalanceWrite, balanceWriteOf } from '../store/write/balance-index.ts';
import { DamageList, noteAbove, scanColumn, type VerifyContext } from './context.ts';
import { allAccountKeys } from './state.ts';

/** Balances as the newest state up to a head has them. Methods throw RowDamagedError. */
export class BalancesInState {
  readonly #store: StoreReader;
  readonly #order: Buffer;
  #owner: Buffer | undefined;
  /** The newest writes to the coin stores of the owner, by the metadata of their assets in hex. */
  #coins = new Map<string, BalanceWrite>();

  constructor(store: StoreReader, { version }: Head) {
    this.#store = store;
    this.#order = encodeU64Key(version);
  }

  /**
   * The balance of an owner in an asset; `undefined` if state has neither of its stores. The keys of an owner are
   * walked once if all assets are asked for one after the other.
   */
  async of({ owner, metadata }: BalanceHolder): Promise<StoredBalance | undefined> {
    if (this.#owner?.equals(owner) !== true) {
      this.#coins = await this.#coinsOf(owner);
      this.#owner = Buffer.from(owner);
    }
    const coin = this.#coins.get(metadata.toString('hex'));
    const address = addressFromBytes(primaryStoreOf(owner, metadata));
    const group = physicalStateKey(resourceGroupStateKey(address, OBJECT_GROUP_TAG));
    const object = await this.newestWrite(group);
    if (coin === undefined && object === undefined) return undefined;
    const [ofCoin, ofObject] = [coin?.version ?? 0n, object?.version ?? 0n];
    return {
      version: ofCoin > ofObject ? ofCoin : ofObject,
      coin: coin === undefined ? 0n : coin.change.amount,
      fungible: object === undefined ? 0n : object.change.amount,
    };
  }

  async newestWrite(key: Buffer): Promise<BalanceWrite | undefined> {
    const hash = stateKeyHash(key);
    const row = await this.#store.seekLast(STATE, hash, this.#order);
    if (row === undefined) return undefined;
    const { bytes, version } = decodeStateRow(hash, row);
    return balanceWriteOf(key, bytes, version);
  }

  async #coinsOf(owner: Buffer): Promise<Map<string, BalanceWrite>> {
    const coins = new Map<string, BalanceWrite>();
    for await (const { key } of walkAccountKeys(this.#store, addressFromBytes(owner))) {
      if (balancePathOf(key)?.kind !== 'coinStore') continue;
      const write = await this.newestWrite(key);
      if (write?.change.kind === 'coinStore') {
        coins.set(write.change.metadata.toString('hex'), write);
      }
    }
    return coins;
  }
}

export async function verifyBalances(context: VerifyContext): Promise<void> {
  const balances = new BalancesInState(context.store, context.view.head);
  await checkKeys(context, balances);
  await checkRows(context, balances);
  await checkPrimaryStores(context);
}

async function checkKeys(context: VerifyContext, balances: BalancesInState): Promise<void> {
  const { damages, store } = context;
  for await (const { key } of allAccountKeys(context)) {
    if (balancePathOf(key) === undefined) continue;
    await damages.decoded(async () => {
      const write = await balances.newestWrite(key);
      if (write === undefined) return;
      const { change, version } = write;
      const holder =
        change.kind === 'coinStore'
          ? change
          : (change.holder ?? (await PRIMARY_STORE.get(store, change.address)));
      if (holder === undefined || (await BALANCE.get(store, holder)) !== undefined) return;
      const detail = 'missing: state has an amount that belongs here';
      damages.row(BALANCES, BALANCE.keyOf(holder), detail, version);
    });
  }
}

async function checkRows(context: VerifyContext, balances: BalancesInState): Promise<void> {
  const { damages, view } = context;
  for await (const row of scanColumn(context, BALANCES)) {
    const balance = await damages.decoded(() => BALANCE.decode(row, row.value));
    if (balance === undefined) continue;
    if (balance.version > view.head.version) noteAbove(context, BALANCES, row);
    else await checkRow(context, row, balance, balances);
  }
}

async function checkRow(
  { damages, store }: VerifyContext,
  row: ScannedRow,
  balance: StoredBalance,
  balances: BalancesInState,
): Promise<void> {
  const address = primaryStoreOf(row.partition, row.order);
  const holder = await damages.decoded(async () => {
    return (await PRIMARY_STORE.get(store, address)) ?? 'missing';
  }, balance.version);
  if (holder === 'missing') {
    const detail = `missing: nothing leads to a row of ${BALANCES.name}`;
    damages.row(PRIMARY_STORES, PRIMARY_STORE.keyOf(address), detail, balance.version);
  }
  // Keys and state that cannot be read are reported already.
  const found = await new DamageList().decoded(async () => ({
    due: await balances.of({ owner: row.partition, metadata: row.order }),
  }));
  if (found === undefined) return;
  const { version, coin, fungible } = found.due ?? { version: 0n, coin: 0n, fungible: 0n };
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

async function checkPrimaryStores(context: VerifyContext): Promise<void> {
  const { damages } = context;
  for await (const row of scanColumn(context, PRIMARY_STORES)) {
    const holder = await damages.decoded(() => PRIMARY_STORE.decode(row, row.value));
    if (holder === undefined) continue;
    if (!primaryStoreOf(holder.owner, holder.metadata).equals(row.partition)) {
      damages.row(PRIMARY_STORES, row, 'the address follows from another owner or asset');
      continue;
    }
    const balance = await damages.decoded(() => BALANCE.get(context.store, holder));
    if (balance === undefined) {
      damages.row(PRIMARY_STORES, row, `it leads to no row of ${BALANCES.name}`);
    }
  }
}

function text(amount: Amount): string {
  return amount === undefined ? 'that it does not decode' : String(amount);
}
