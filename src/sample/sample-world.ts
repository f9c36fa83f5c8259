/** The model of a sample ledger, new from its settings, and what genesis does to it. */
import { addressBytes } from '../move/types/address.ts';
import { namedObjectAddress, pairedMetadataAddress } from '../move/types/derived-address.ts';
import { parseStructTag } from '../move/types/type-parser.ts';
import {
  Accounts,
  BEEF_ACCOUNT,
  CAFE_ACCOUNT,
  CREATOR_ACCOUNTS,
  FAUCET_ACCOUNT,
  FIRST_CREATOR_ACCOUNT,
  FIRST_ORDINARY_ACCOUNT,
  MULTISIG_ACCOUNT,
} from './accounts.ts';
import { Gallery } from './applications/gallery.ts';
import { Journals } from './applications/journal.ts';
import { Market } from './applications/market.ts';
import type { Applications } from './applications/mix.ts';
import { Multisig } from './applications/multisig.ts';
import { Clockmaker } from './applications/publishing.ts';
import { Studio } from './applications/studio.ts';
import { Ticker } from './applications/ticker.ts';
import { AssetInfo, CoinConversionMap } from './asset-info.ts';
import { Asset } from './assets.ts';
import { Chain } from './chain.ts';
import type { Effects } from './effects.ts';
import { BEEF, CAFE } from './framework/application-modules.ts';
import { createGenesisResources, type SampleSettings } from './framework/genesis-resources.ts';
import { KeyRing } from './history/keys.ts';
import { derivedBytes, Random } from './random.ts';
import type { World } from './world.ts';

const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';
const MOON_COIN = '0xcafe::moon_coin::MoonCoin';
const GOLD_SEED = 'gold';

/** Ordinary accounts that genesis creates, at most; the others come by transaction. */
export const MAX_GENESIS_ACCOUNTS = 200;

/** Smallest units that genesis mints, by who gets them. */
const FAUCET_UNITS = 100_000_000_000_000_000n;
const SPECIAL_UNITS = 1_000_000_000_000n;
const ORDINARY_UNITS = 100_000_000_000n;
const ISSUER_UNITS = 1_000_000_000_000_000_000n;

/** A world with the applications in it. */
export interface SampleWorld {
  readonly world: World;
  readonly applications: Applications;
  readonly assetInfos: readonly AssetInfo[];
}

/** The state before genesis. */
export function createSampleWorld(settings: SampleSettings, effects: Effects): SampleWorld {
  const { seed } = settings;
  const accounts = new Accounts(seed, new KeyRing(seed), settings.accounts);
  const native = coin(accounts, accounts.capacity, NATIVE_COIN);
  const moon = coin(accounts, accounts.signerLimit, MOON_COIN);
  const gold = new Asset(
    accounts,
    accounts.signerLimit,
    namedObjectAddress(CAFE, GOLD_SEED),
    undefined,
  );
  const chain = new Chain(seed);
  const random = new Random(seed, 'history');
  const world: World = { seed, random, effects, accounts, chain, native, moon, gold };
  createSpecialAccounts(world);
  const applications: Applications = {
    journals: new Journals(world),
    ticker: new Ticker(world),
    market: new Market(world),
    gallery: new Gallery(world),
    studio: new Studio(world),
    multisig: new Multisig(world),
    clockmaker: new Clockmaker(world),
  };
  return { world, applications, assetInfos: createAssetInfos(world) };
}

function coin(accounts: Accounts, holders: number, type: string): Asset {
  return new Asset(accounts, holders, pairedMetadataAddress(parseStructTag(type)), type);
}

function createAssetInfos({ native, moon, gold }: World): AssetInfo[] {
  const cafe = addressBytes(CAFE);
  const byFramework = { owner: native.metadataBytes, iconUri: '', projectUri: '' };
  return [
    new AssetInfo(
      native,
      { name: 'Aptos Coin', symbol: 'APT', decimals: 8, supply: 'concurrent', ...byFramework },
      true,
    ),
    new AssetInfo(
      moon,
      { name: 'Moon Coin', symbol: 'MOON', decimals: 6, supply: 'concurrent', ...byFramework },
      false,
    ),
    new AssetInfo(
      gold,
      {
        name: 'Gold',
        symbol: 'AU',
        decimals: 3,
        supply: 'plain',
        owner: cafe,
        iconUri: 'https://example.com/gold.svg',
        projectUri: 'https://example.com/',
      },
      false,
    ),
  ];
}

/** The accounts that the applications count on, at their indices. */
function createSpecialAccounts({ accounts, effects, seed }: World): void {
  const addressOf = new Map<number, Uint8Array>([
    [CAFE_ACCOUNT, addressBytes(CAFE)],
    [BEEF_ACCOUNT, addressBytes(BEEF)],
    [MULTISIG_ACCOUNT, derivedBytes(seed, 'keyless account', MULTISIG_ACCOUNT)],
  ]);
  for (let index = 0; index < FIRST_ORDINARY_ACCOUNT; index += 1) {
    accounts.create(effects, 0, addressOf.get(index));
  }
}

/** Everything that genesis creates, in the order of its events. */
export function createGenesisState(sample: SampleWorld, settings: SampleSettings): void {
  const { world, applications } = sample;
  const { accounts, chain, effects, native, moon, gold } = world;
  createGenesisResources(effects, settings);
  chain.genesis(effects);
  applications.ticker.genesis();
  for (let index = 0; index < FIRST_ORDINARY_ACCOUNT; index += 1) {
    native.openCoinStore(effects, index, chain);
    const units = index === FAUCET_ACCOUNT ? FAUCET_UNITS : SPECIAL_UNITS;
    native.deposit(effects, index, units, chain);
  }
  native.depositFungible(effects, FAUCET_ACCOUNT, FAUCET_UNITS, chain);
  moon.openCoinStore(effects, CAFE_ACCOUNT, chain);
  moon.deposit(effects, CAFE_ACCOUNT, ISSUER_UNITS, chain);
  gold.depositFungible(effects, CAFE_ACCOUNT, ISSUER_UNITS, chain);
  const ordinary = Math.min(settings.accounts, MAX_GENESIS_ACCOUNTS);
  for (let made = 0; made < ordinary; made += 1) {
    createGenesisAccount(world, accounts.create(effects, 0));
  }
  for (let index = 0; index < CREATOR_ACCOUNTS; index += 1) {
    moon.depositFungible(effects, FIRST_CREATOR_ACCOUNT + index, SPECIAL_UNITS, chain);
  }
  applications.market.genesis();
  applications.studio.genesis();
  applications.multisig.genesis();
  const handle = derivedBytes(world.seed, 'coin conversions').toString('hex');
  new CoinConversionMap(handle, [native, moon]).genesis(effects);
  for (const info of sample.assetInfos) info.genesis(effects);
}

/** One of four kinds: coins, fungible assets, both, concurrent. */
function createGenesisAccount({ chain, effects, native, moon, gold }: World, index: number): void {
  const kind = index % 4;
  if (kind === 0 || kind === 2) {
    native.openCoinStore(effects, index, chain);
    native.deposit(effects, index, ORDINARY_UNITS, chain);
  }
  if (kind !== 0) native.depositFungible(effects, index, ORDINARY_UNITS, chain);
  if (kind === 3) native.makeConcurrent(effects, index);
  if (index % 3 === 0) {
    moon.openCoinStore(effects, index, chain);
    moon.deposit(effects, index, SPECIAL_UNITS, chain);
  }
  if (index % 5 === 0) gold.depositFungible(effects, index, SPECIAL_UNITS, chain);
}
