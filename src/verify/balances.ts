/**
 * Checks balances against state, in both directions: every key that may contain an amount has its row, and every row
 * has the amounts in state. A row with a version above its last write passes: readers then take the balance from
 * state. A row does not contain the coin that its asset is paired with, so amounts of coins without a coin store are
 * found by counting.
 */
import { addressFromBytes } from '../move/types/address.ts';
import { primaryStoreOf } from '../move/types/derived-address.ts';
import { OBJECT_GROUP_TAG } from '../move/types/framework-tag.ts';
import { physicalStateKey, resourceGroupStateKey, stateKeyHash } from '../move/types/state-key.ts';
import { type Amount, balancePathOf } from '../move/values/balance-values.ts';
import { type BalanceWrite, balanceWriteOf } from '../store/balance-index.ts';
import { BALANCE, PRIMARY_STORE, type StoredBalance } from '../store/columns/balance-column.ts';
import { BALANCES, PRIMARY_STORES, type ScannedRow, STATE } from '../store/columns/columns.ts';
import { encodeU64Key } from '../store/columns/order-key.ts';
import { decodeStateRow } from '../store/columns/state-column.ts';
import { noteAbove, scanColumn, type VerifyContext } from './context.ts';
import { allAccountKeys } from './state.ts';

export async function verifyBalances(context: VerifyContext): Promise<void> {
  const coinsInState = await checkKeys(context);
  const coinsInRows = await checkRows(context);
  await checkPrimaryStores(context);
  if (coinsInRows === undefined || coinsInRows === coinsInState) return;
  context.damages.column(BALANCES, `${coinsInRows} amounts of coins, state has ${coinsInState}`);
}

/** Checks the rows of all keys that may contain amounts. Returns the number of coin stores that are not empty. */
async function checkKeys(context: VerifyContext): Promise<bigint> {
  let coins = 0n;
  for await (const { key } of allAccountKeys(context)) {
    if (balancePathOf(key) === undefined) continue;
    const write = await context.damages.decoded(() => newestWrite(context, key));
    if (write === undefined) continue;
    if (write.change.kind === 'coinStore' && write.change.amount !== 0n) coins += 1n;
    await context.damages.decoded(() => checkWrite(context, write));
  }
  return coins;
}

/** The balance after the newest write to a key, up to the head. */
async function newestWrite(
  { store, view }: VerifyContext,
  key: Buffer,
): Promise<BalanceWrite | undefined> {
  const hash = stateKeyHash(key);
  const row = await store.seekLast(STATE, hash, encodeU64Key(view.head.version));
  if (row === undefined) return undefined;
  const { bytes, version } = decodeStateRow(hash, row);
  return balanceWriteOf(key, bytes, version);
}

async function checkWrite(
  context: VerifyContext,
  { change, version }: BalanceWrite,
): Promise<void> {
  const { damages, view } = context;
  const isCoin = change.kind === 'coinStore';
  const holder = isCoin
    ? change
    : (change.holder ?? (await PRIMARY_STORE.get(context.store, change.address)));
  if (holder === undefined) return;
  const place = BALANCE.keyOf(holder);
  const row = await BALANCE.get(context.store, holder);
  if (row === undefined) {
    damages.row(BALANCES, place, 'missing: state has an amount that belongs here', version);
    return;
  }
  if (row.version > view.head.version) return;
  if (row.version < version) {
    const detail = `it is of version ${row.version}, state was written at ${version}`;
    damages.row(BALANCES, place, detail, version);
  }
  const found = isCoin ? row.coin : row.fungible;
  if (found !== change.amount) {
    const what = isCoin ? 'the coin store' : 'the primary store';
    const detail = `it says ${text(found)}, ${what} has ${text(change.amount)}`;
    damages.row(BALANCES, place, detail, version);
  }
}

/** Compares rows with the primary stores. Returns how many have coins; `undefined` when some are above the head. */
async function checkRows(context: VerifyContext): Promise<bigint | undefined> {
  const { damages, view } = context;
  let coins: bigint | undefined = 0n;
  for await (const row of scanColumn(context, BALANCES)) {
    const balance = await damages.decoded(() => BALANCE.decode(row, row.value));
    if (balance === undefined) continue;
    if (balance.version > view.head.version) {
      noteAbove(context, BALANCES, row);
      coins = undefined;
      continue;
    }
    if (coins !== undefined && balance.coin !== 0n) coins += 1n;
    await damages.decoded(() => checkPrimaryAmount(context, row, balance), balance.version);
  }
  return coins;
}

async function checkPrimaryAmount(
  context: VerifyContext,
  row: ScannedRow,
  { fungible, version }: StoredBalance,
): Promise<void> {
  const { damages } = context;
  const address = primaryStoreOf(row.partition, row.order);
  if ((await PRIMARY_STORE.get(context.store, address)) === undefined) {
    const detail = `missing: nothing leads to a row of ${BALANCES.name}`;
    damages.row(PRIMARY_STORES, PRIMARY_STORE.keyOf(address), detail, version);
  }
  const group = resourceGroupStateKey(addressFromBytes(address), OBJECT_GROUP_TAG);
  const write = await newestWrite(context, physicalStateKey(group));
  const amount = write === undefined ? 0n : write.change.amount;
  if (amount === fungible) return;
  const detail = `it says ${text(fungible)}, the primary store has ${text(amount)}`;
  damages.row(BALANCES, row, detail, version);
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
