/**
 * Resources that describe each asset: coin infos, metadata objects, supplies. Supplies are updated by the last
 * transaction of a block, which burns the block's fees, and not by every transfer.
 */
import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { ADDRESS_ONE, type Address } from '../../../src/move/types/address.ts';
import { parseStructTag } from '../../../src/move/types/type-parser.ts';
import { type Asset, OBJECT_KEYS, objectCore, typeInfoWriter } from './assets.ts';
import type { Effects } from './effects.ts';
import {
  type GroupMember,
  resourceKey,
  type Slots,
  singleSlot,
  structTagBytes,
  tableItemKey,
  writeGroup,
} from './slots.ts';

/** Address of the native coin's supply on every chain (docs/spec/ledger.md §5.9). */
const SUPPLY_HANDLE: Address = '1b854694ae746cdbd8d44186ca4929b2b337df21d1c74633be19b2710552fdca';
const SUPPLY_KEY: Address = '0619dc29a0aac8fa146714058e8dd6d2d0f3bdf5f6331907bf91f3acd81e6935';
const MAX_U128 = (1n << 128n) - 1n;

const METADATA_TAG = structTagBytes('0x1::fungible_asset::Metadata');
const SUPPLY_TAG = structTagBytes('0x1::fungible_asset::Supply');
const CONCURRENT_SUPPLY_TAG = structTagBytes('0x1::fungible_asset::ConcurrentSupply');
const DERIVE_REF_TAG = structTagBytes('0x1::primary_fungible_store::DeriveRefPod');
const PAIRED_COIN_TAG = structTagBytes('0x1::coin::PairedCoinType');

interface AssetNames {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly iconUri: string;
  readonly projectUri: string;
  /** Owner of the metadata object; 32 bytes. */
  readonly owner: Uint8Array;
  /** A fungible asset's supply is a plain number with a maximum, or an aggregator. */
  readonly supply: 'plain' | 'concurrent';
}

export class AssetInfo {
  readonly #asset: Asset;
  readonly #names: AssetNames;
  readonly #effects: Effects;
  readonly #metadata: Slots;
  /** The slot that holds the coin supply: the aggregator's table item, or the coin info itself. */
  readonly #coinSupply: Slots | undefined;
  #writtenCoinSupply: bigint;
  #writtenFungibleSupply: bigint;

  /** Creates the slots. Called after genesis has minted. */
  constructor(effects: Effects, asset: Asset, names: AssetNames, isNative: boolean) {
    this.#asset = asset;
    this.#names = names;
    this.#effects = effects;
    this.#metadata = singleSlot(OBJECT_KEYS(asset.metadataBytes), (writer) =>
      this.#writeMetadata(writer),
    );
    effects.create(this.#metadata);
    this.#writtenCoinSupply = asset.coinSupply;
    this.#writtenFungibleSupply = asset.fungibleSupply;
    if (asset.coinType === undefined) return;
    const { address } = parseStructTag(asset.coinType);
    const coinInfo = singleSlot(
      resourceKey(address, `0x1::coin::CoinInfo<${asset.coinType}>`),
      (writer) => this.#writeCoinInfo(writer, isNative),
    );
    effects.create(coinInfo);
    this.#coinSupply = coinInfo;
    if (!isNative) return;
    this.#coinSupply = singleSlot(
      tableItemKey(SUPPLY_HANDLE, (writer) => writer.address(SUPPLY_KEY)),
      (writer) => writer.u128(asset.coinSupply),
    );
    effects.create(this.#coinSupply);
  }

  update(): void {
    const { coinSupply, fungibleSupply } = this.#asset;
    if (this.#coinSupply !== undefined && coinSupply !== this.#writtenCoinSupply) {
      this.#effects.modify(this.#coinSupply);
    }
    if (fungibleSupply !== this.#writtenFungibleSupply) this.#effects.modify(this.#metadata);
    this.#writtenCoinSupply = coinSupply;
    this.#writtenFungibleSupply = fungibleSupply;
  }

  #writeCoinInfo(writer: BcsWriter, isNative: boolean): void {
    const { name, symbol, decimals } = this.#names;
    writer.string(name).string(symbol).u8(decimals).u8(1);
    if (isNative) {
      writer.u8(1).address(SUPPLY_HANDLE).address(SUPPLY_KEY).u128(MAX_U128).u8(0);
    } else {
      writer.u8(0).u8(1).u128(this.#asset.coinSupply).u128(MAX_U128);
    }
  }

  #writeMetadata(writer: BcsWriter): void {
    const { name, symbol, decimals, iconUri, projectUri, owner, supply } = this.#names;
    const { metadataBytes, coinType, fungibleSupply } = this.#asset;
    const members: GroupMember[] = [
      objectCore({ object: metadataBytes, owner, ungated: true }),
      [
        METADATA_TAG,
        (to) => to.string(name).string(symbol).u8(decimals).string(iconUri).string(projectUri),
      ],
      [DERIVE_REF_TAG, (to) => to.fixed(metadataBytes)],
      supply === 'plain'
        ? [SUPPLY_TAG, (to) => to.u128(fungibleSupply).u8(1).u128(MAX_U128)]
        : [CONCURRENT_SUPPLY_TAG, (to) => to.u128(fungibleSupply).u128(MAX_U128)],
    ];
    if (coinType !== undefined) members.push([PAIRED_COIN_TAG, typeInfoWriter(coinType)]);
    writeGroup(writer, members);
  }
}

/** Creates `0x1::coin::CoinConversionMap` and its table, which pairs coins with fungible assets. */
export function createCoinConversionMap(
  effects: Effects,
  handle: Address,
  coins: readonly Asset[],
): void {
  const key = resourceKey(ADDRESS_ONE, '0x1::coin::CoinConversionMap');
  effects.create(singleSlot(key, (writer) => writer.address(handle)));
  for (const { coinType, metadata } of coins) {
    const item = tableItemKey(handle, typeInfoWriter(coinType!));
    effects.create(singleSlot(item, (writer) => writer.address(metadata)));
  }
}
