/** User actions with coins and fungible assets: transfers, new accounts, migrations, new keys. */
import { callsOf } from '../../../src/sample/calls.ts';
import { CAFE_ACCOUNT, FAUCET_ACCOUNT } from '../model/accounts.ts';
import type { Asset } from '../model/assets.ts';
import {
  type Action,
  type Call,
  MOON_COIN,
  NATIVE_COIN,
  pickReceiver,
  pickSender,
  type World,
} from '../model/world.ts';

/** Maximum amount of one transfer, in smallest units. */
const MAX_TRANSFER_UNITS = 1_000_000;
/** Initial balance of a new account, in octas. */
const NEW_ACCOUNT_OCTAS = 1_000_000_000n;
/** Maximum number of accounts that one batch creates. */
const MAX_BATCH_ACCOUNTS = 20;
/** Octas that a sender keeps for fees. */
const FEE_RESERVE_OCTAS = 1_000_000n;

const callTransfer = callsOf('0x1::aptos_account::transfer');
const callCoinTransfer = callsOf('0x1::aptos_account::transfer_coins', [MOON_COIN]);
const callBatchTransfer = callsOf('0x1::aptos_account::batch_transfer');
const callAssetTransfer = callsOf('0x1::primary_fungible_store::transfer', [
  '0x1::fungible_asset::Metadata',
]);
const callUpgradeStore = callsOf('0x1::fungible_asset::upgrade_store_to_concurrent', [
  '0x1::fungible_asset::FungibleStore',
]);
const callMigrateNative = callsOf('0x1::coin::migrate_to_fungible_store', [NATIVE_COIN]);
const callMigrateMoon = callsOf('0x1::coin::migrate_to_fungible_store', [MOON_COIN]);
const callRotateKey = callsOf('0x1::account::rotate_authentication_key_call');

function issuerOf(world: World, asset: Asset): number {
  return asset === world.native ? FAUCET_ACCOUNT : CAFE_ACCOUNT;
}

/** Sender, receiver and amount of a transfer. A sender with too little is replaced by the asset's issuer. */
function drawTransfer(world: World, asset: Asset): [from: number, to: number, amount: bigint] {
  const amount = BigInt(world.random.between(1, MAX_TRANSFER_UNITS));
  const to = pickReceiver(world, asset.holders);
  const drawn = pickSender(world);
  const reserve = asset === world.native ? FEE_RESERVE_OCTAS : 0n;
  const canSend = asset.balance(drawn) >= amount + reserve;
  return [canSend ? drawn : issuerOf(world, asset), to, amount];
}

/** `0x1::aptos_account::transfer`: the native coin, in whichever store both have it. */
export const transferNative: Action = (world) => {
  const { accounts, native } = world;
  const [from, receiver, amount] = drawTransfer(world, native);
  native.withdraw(from, amount);
  native.deposit(receiver, amount);
  return { sender: from, payload: () => callTransfer(accounts.addressBytes(receiver), amount) };
};

/** `0x1::aptos_account::transfer_coins` of a user's coin. */
export const transferMoon: Action = (world) => {
  const { accounts, moon } = world;
  const [from, receiver, amount] = drawTransfer(world, moon);
  if (!moon.hasCoinStore(receiver) && !moon.hasFungibleStore(receiver)) {
    moon.openCoinStore(receiver);
  }
  moon.withdraw(from, amount);
  moon.deposit(receiver, amount);
  return { sender: from, payload: () => callCoinTransfer(accounts.addressBytes(receiver), amount) };
};

function transferAsset(world: World, asset: Asset): Call {
  const { accounts } = world;
  const [drawn, receiver, amount] = drawTransfer(world, asset);
  // Only primary stores: coins in a coin store cannot be sent this way.
  const from = asset.fungibleBalance(drawn) >= amount ? drawn : issuerOf(world, asset);
  asset.withdrawFungible(from, amount);
  asset.depositFungible(receiver, amount);
  const payload = () =>
    callAssetTransfer(asset.metadataBytes, accounts.addressBytes(receiver), amount);
  return { sender: from, payload };
}

/** `0x1::primary_fungible_store::transfer` of the native coin as a fungible asset. */
export const transferNativeAsset: Action = (world) => transferAsset(world, world.native);

/** The same for an asset that never was a coin. */
export const transferGold: Action = (world) => transferAsset(world, world.gold);

/** `0x1::aptos_account::batch_transfer` to accounts that did not exist; a plain transfer when all exist. */
export const createAccounts: Action = (world) => {
  const { accounts, effects, native, random } = world;
  if (accounts.isFull) return transferNative(world);
  // A twentieth of the existing accounts: young ledgers grow slowly, old ones reach their size.
  const { capacity, count } = accounts;
  const wanted = Math.min(MAX_BATCH_ACCOUNTS, 1 + Math.floor(count / 20));
  const created: number[] = [];
  while (created.length < Math.min(capacity - count, random.between(1, wanted))) {
    const account = accounts.create();
    if (!effects.moduleEvents) native.openCoinStore(account);
    native.withdraw(FAUCET_ACCOUNT, NEW_ACCOUNT_OCTAS);
    native.deposit(account, NEW_ACCOUNT_OCTAS);
    created.push(account);
  }
  return {
    sender: FAUCET_ACCOUNT,
    payload: () =>
      callBatchTransfer(
        (to) => to.vector(created, (item, account) => item.fixed(accounts.addressBytes(account))),
        (to) => to.vector(created, (item) => item.u64(NEW_ACCOUNT_OCTAS)),
      ),
  };
};

/** `0x1::coin::migrate_to_fungible_store` of the native or the user's coin; a transfer when nothing is left to do. */
export const migrateCoins: Action = (world) => {
  const asset = world.random.perMille(500) ? world.native : world.moon;
  const sender = pickSender(world);
  if (sender === FAUCET_ACCOUNT || !asset.hasCoinStore(sender)) return transferNative(world);
  asset.migrate(sender);
  return {
    sender,
    payload: () => (asset === world.native ? callMigrateNative() : callMigrateMoon()),
  };
};

/** `0x1::fungible_asset::upgrade_store_to_concurrent`; a transfer when there is nothing to upgrade. */
export const makeConcurrent: Action = (world) => {
  const { native } = world;
  const sender = pickSender(world);
  if (!native.hasFungibleStore(sender) || native.isConcurrent(sender)) {
    return transferNativeAsset(world);
  }
  native.makeConcurrent(sender);
  return { sender, payload: () => callUpgradeStore(native.storeAddress(sender)) };
};

/** `0x1::account::rotate_authentication_key_call`: the transaction itself is still signed with the old key. */
export const rotateKey: Action = (world) => {
  const { accounts } = world;
  const sender = pickSender(world);
  if (sender === FAUCET_ACCOUNT) return transferNative(world);
  const signingKey = accounts.key(sender);
  accounts.rotateKey(sender);
  const newKey = accounts.authenticationKey(sender);
  return { sender, signingKey, payload: () => callRotateKey((to) => to.bytes(newKey)) };
};
