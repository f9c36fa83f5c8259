/** Creates the model of a sample ledger from its settings, and everything that genesis contains. */
import { addressBytes } from '../../src/move/types/address.ts';
import { namedObjectAddress, pairedMetadataAddress } from '../../src/move/types/derived-address.ts';
import { parseStructTag } from '../../src/move/types/type-parser.ts';
import { CAFE } from '../../src/sample/publishers.ts';
import { derivedBytes, Random } from '../../src/sample/random.ts';
import type { SampleSettings } from '../../src/sample/settings.ts';
import { transactionMix } from './applications/mix.ts';
import { Ticker } from './applications/ticker.ts';
import { createFrameworkResources } from './framework/framework-resources.ts';
import {
  Accounts,
  CAFE_ACCOUNT,
  CREATOR_ACCOUNTS,
  FAUCET_ACCOUNT,
  FIRST_CREATOR_ACCOUNT,
  FIRST_ORDINARY_ACCOUNT,
} from './model/accounts.ts';
import { AssetInfo, createCoinConversionMap } from './model/asset-info.ts';
import { Asset } from './model/assets.ts';
import { Chain } from './model/chain.ts';
import type { Effects } from './model/effects.ts';
import { type Call, MOON_COIN, NATIVE_COIN, type World } from './model/world.ts';

const GOLD_SEED = 'gold';

/** Maximum number of ordinary accounts that genesis creates; later transactions create the others. */
export const MAX_GENESIS_ACCOUNTS = 200;

/** Smallest units that genesis mints, by recipient. */
const FAUCET_UNITS = 100_000_000_000_000_000n;
const SPECIAL_UNITS = 1_000_000_000_000n;
const ORDINARY_UNITS = 100_000_000_000n;
const ISSUER_UNITS = 1_000_000_000_000_000_000n;

export interface SampleWorld extends World {
  readonly chain: Chain;
  /** Applies the next user transaction to the model. */
  readonly nextCall: () => Call;
  readonly assetInfos: readonly AssetInfo[];
}

/** Creates everything in genesis, in the order of its events. */
export function createGenesis(settings: SampleSettings, effects: Effects): SampleWorld {
  const world = createWorld(settings, effects);
  const { accounts, native, moon, gold } = world;
  for (let index = 0; index < FIRST_ORDINARY_ACCOUNT; index += 1) {
    accounts.create();
  }
  createFrameworkResources(effects, settings);
  const chain = new Chain(settings.seed, effects);
  // Its stream has the first creation number of CAFE, so it comes before coin stores.
  const ticker = new Ticker(world);
  for (let index = 0; index < FIRST_ORDINARY_ACCOUNT; index += 1) {
    native.openCoinStore(index);
    native.deposit(index, index === FAUCET_ACCOUNT ? FAUCET_UNITS : SPECIAL_UNITS);
  }
  native.depositFungible(FAUCET_ACCOUNT, FAUCET_UNITS);
  moon.openCoinStore(CAFE_ACCOUNT);
  moon.deposit(CAFE_ACCOUNT, ISSUER_UNITS);
  gold.depositFungible(CAFE_ACCOUNT, ISSUER_UNITS);
  const ordinary = Math.min(settings.accounts, MAX_GENESIS_ACCOUNTS);
  for (let made = 0; made < ordinary; made += 1) createGenesisAccount(world);
  for (let index = 0; index < CREATOR_ACCOUNTS; index += 1) {
    moon.depositFungible(FIRST_CREATOR_ACCOUNT + index, SPECIAL_UNITS);
  }
  const nextCall = transactionMix(world, ticker);
  const conversions = derivedBytes(settings.seed, 'coin conversions').toString('hex');
  createCoinConversionMap(effects, conversions, [native, moon]);
  return { ...world, chain, nextCall, assetInfos: createAssetInfos(world) };
}

function createWorld({ seed, accounts: ordinary }: SampleSettings, effects: Effects): World {
  const accounts = new Accounts(seed, effects, ordinary);
  const { capacity, signerLimit } = accounts;
  const coin = (holders: number, type: string): Asset =>
    new Asset(accounts, holders, pairedMetadataAddress(parseStructTag(type)), type);
  return {
    seed,
    random: new Random(seed, 'history'),
    effects,
    accounts,
    native: coin(capacity, NATIVE_COIN),
    moon: coin(signerLimit, MOON_COIN),
    gold: new Asset(accounts, signerLimit, namedObjectAddress(CAFE, GOLD_SEED)),
  };
}

/** One of four kinds: coins, fungible assets, both, concurrent. */
function createGenesisAccount({ accounts, native, moon, gold }: World): void {
  const index = accounts.create();
  const kind = index % 4;
  if (kind === 0 || kind === 2) {
    native.openCoinStore(index);
    native.deposit(index, ORDINARY_UNITS);
  }
  if (kind !== 0) native.depositFungible(index, ORDINARY_UNITS);
  if (kind === 3) native.makeConcurrent(index);
  if (index % 3 === 0) {
    moon.openCoinStore(index);
    moon.deposit(index, SPECIAL_UNITS);
  }
  if (index % 5 === 0) gold.depositFungible(index, SPECIAL_UNITS);
}

function createAssetInfos({ effects, native, moon, gold }: World): AssetInfo[] {
  const ofCoin = {
    owner: native.metadataBytes,
    supply: 'concurrent',
    iconUri: '',
    projectUri: '',
  } as const;
  const nativeNames = { name: 'Aptos Coin', symbol: 'APT', decimals: 8, ...ofCoin };
  const moonNames = { name: 'Moon Coin', symbol: 'MOON', decimals: 6, ...ofCoin };
  const goldNames = {
    name: 'Gold',
    symbol: 'AU',
    decimals: 3,
    owner: addressBytes(CAFE),
    supply: 'plain',
    iconUri: 'https://example.com/gold.svg',
    projectUri: 'https://example.com/',
  } as const;
  return [
    new AssetInfo(effects, native, nativeNames, true),
    new AssetInfo(effects, moon, moonNames, false),
    new AssetInfo(effects, gold, goldNames, false),
  ];
}
