/** What users do with coins and fungible assets: transfers, new accounts, migrations, new keys. */
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { CAFE_ACCOUNT, FAUCET_ACCOUNT } from '../accounts.ts';
import type { Asset } from '../assets.ts';
import {
  type Action,
  argument,
  type Call,
  entryFunction,
  pickReceiver,
  pickSender,
  u64Argument,
  type World,
} from '../world.ts';

/** Most smallest units that one transfer moves. */
const MAX_TRANSFER_UNITS = 1_000_000;
/** Octas that a new account begins with. */
const NEW_ACCOUNT_OCTAS = 1_000_000_000;
/** Most accounts that one batch creates. */
const MAX_BATCH_ACCOUNTS = 20;
/** A sender keeps this many octas for fees. */
const FEE_RESERVE_OCTAS = 1_000_000n;
const METADATA = '0x1::fungible_asset::Metadata';

function canSend(world: World, asset: Asset, account: number, amount: bigint): boolean {
  const reserve = asset === world.native ? FEE_RESERVE_OCTAS : 0n;
  return asset.balance(account) >= amount + reserve;
}

/** Sender, receiver and amount of a transfer; the asset's issuer steps in for those who have too little. */
function drawTransfer(world: World, asset: Asset): [from: number, to: number, amount: bigint] {
  const amount = BigInt(world.random.between(1, MAX_TRANSFER_UNITS));
  const to = pickReceiver(world, asset.holders);
  const drawn = pickSender(world);
  const issuer = asset === world.native ? FAUCET_ACCOUNT : CAFE_ACCOUNT;
  return [canSend(world, asset, drawn, amount) ? drawn : issuer, to, amount];
}

/** `0x1::aptos_account::transfer`: the native coin, wherever both keep it. */
export const transferNative: Action = (world) => {
  const { accounts, effects, chain, native } = world;
  const [from, to, amount] = drawTransfer(world, native);
  native.withdraw(effects, from, amount, chain);
  native.deposit(effects, to, amount, chain);
  return {
    sender: from,
    payload: () => {
      const args = [Buffer.from(accounts.addressBytes(to)), u64Argument(amount)];
      return entryFunction(ADDRESS_ONE, 'aptos_account', 'transfer', [], args);
    },
  };
};

/** `0x1::aptos_account::transfer_coins` of a user's coin. */
export const transferMoon: Action = (world) => {
  const { accounts, effects, chain, moon } = world;
  const [from, to, amount] = drawTransfer(world, moon);
  if (!moon.hasCoinStore(to) && !moon.hasFungibleStore(to)) {
    moon.openCoinStore(effects, to, chain);
  }
  moon.withdraw(effects, from, amount, chain);
  moon.deposit(effects, to, amount, chain);
  return {
    sender: from,
    payload: () => {
      const args = [Buffer.from(accounts.addressBytes(to)), u64Argument(amount)];
      const types = [moon.coinType!];
      return entryFunction(ADDRESS_ONE, 'aptos_account', 'transfer_coins', types, args);
    },
  };
};

function transferAsset(world: World, asset: Asset): Call {
  const { accounts, effects, chain } = world;
  const [drawn, to, amount] = drawTransfer(world, asset);
  // Primary stores only: coins that are still in a coin store cannot be sent this way.
  const issuer = asset === world.native ? FAUCET_ACCOUNT : CAFE_ACCOUNT;
  const from = asset.fungible[drawn]! >= amount ? drawn : issuer;
  asset.withdrawFungible(effects, from, amount);
  asset.depositFungible(effects, to, amount, chain);
  return {
    sender: from,
    payload: () => {
      const receiver = Buffer.from(accounts.addressBytes(to));
      const args = [asset.metadataBytes, receiver, u64Argument(amount)];
      return entryFunction(ADDRESS_ONE, 'primary_fungible_store', 'transfer', [METADATA], args);
    },
  };
}

/** `0x1::primary_fungible_store::transfer` of the native coin as a fungible asset. */
export const transferNativeAsset: Action = (world) => transferAsset(world, world.native);

/** The same of an asset that never was a coin. */
export const transferGold: Action = (world) => transferAsset(world, world.gold);

/** `0x1::aptos_account::batch_transfer` to accounts that did not exist; a plain transfer when there is no room. */
export const createAccounts: Action = (world) => {
  const { accounts, effects, chain, native, random } = world;
  if (accounts.isFull) return transferNative(world);
  const room = accounts.capacity - accounts.count;
  // A twentieth of those there are: young ledgers grow slowly, old ones reach their size.
  const wanted = Math.min(MAX_BATCH_ACCOUNTS, 1 + Math.floor(accounts.count / 20));
  const created: number[] = [];
  for (let made = 0; made < Math.min(room, random.between(1, wanted)); made += 1) {
    const amount = BigInt(NEW_ACCOUNT_OCTAS);
    const account = accounts.create(effects, chain.now);
    if (!chain.moduleEvents) native.openCoinStore(effects, account, chain);
    native.withdraw(effects, FAUCET_ACCOUNT, amount, chain);
    native.deposit(effects, account, amount, chain);
    created.push(account);
  }
  return {
    sender: FAUCET_ACCOUNT,
    payload: () => {
      const args = [
        argument((writer) =>
          writer.vector(created, (to, account) => to.fixed(accounts.addressBytes(account))),
        ),
        argument((writer) => writer.vector(created, (to) => to.u64(BigInt(NEW_ACCOUNT_OCTAS)))),
      ];
      return entryFunction(ADDRESS_ONE, 'aptos_account', 'batch_transfer', [], args);
    },
  };
};

/** `0x1::coin::migrate_to_fungible_store` of the native or the user's coin; a transfer when nothing is left to do. */
export const migrateCoins: Action = (world) => {
  const { effects, chain, random } = world;
  const asset = random.perMille(500) ? world.native : world.moon;
  const sender = pickSender(world);
  if (sender === FAUCET_ACCOUNT || !asset.hasCoinStore(sender)) return transferNative(world);
  asset.migrate(effects, sender, chain);
  return {
    sender,
    payload: () =>
      entryFunction(ADDRESS_ONE, 'coin', 'migrate_to_fungible_store', [asset.coinType!], []),
  };
};

/** `0x1::fungible_asset::upgrade_store_to_concurrent`; a transfer when there is nothing to upgrade. */
export const makeConcurrent: Action = (world) => {
  const { effects, native } = world;
  const sender = pickSender(world);
  if (!native.hasFungibleStore(sender) || native.isConcurrent(sender)) {
    return transferNativeAsset(world);
  }
  native.makeConcurrent(effects, sender);
  return {
    sender,
    payload: () => {
      const name = 'upgrade_store_to_concurrent';
      const types = ['0x1::fungible_asset::FungibleStore'];
      return entryFunction(ADDRESS_ONE, 'fungible_asset', name, types, [
        native.storeAddress(sender),
      ]);
    },
  };
};

/** `0x1::account::rotate_authentication_key_call`: the transaction itself is still signed with the old key. */
export const rotateKey: Action = (world): Call => {
  const sender = pickSender(world);
  if (sender === FAUCET_ACCOUNT) return transferNative(world);
  const signingKey = world.accounts.key(sender);
  world.accounts.rotateKey(world.effects, sender, world.chain.moduleEvents);
  return {
    sender,
    signingKey,
    payload: () => {
      const newKey = world.accounts.authenticationKey(sender);
      const args = [argument((writer) => writer.bytes(newKey))];
      return entryFunction(ADDRESS_ONE, 'account', 'rotate_authentication_key_call', [], args);
    },
  };
};
