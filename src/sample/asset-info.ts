/**
 * What the chain says of each asset: coin infos, metadata objects, supplies. Supplies are brought up to date by the
 * last transaction of a block, where the block's fees are burned, and not by every transfer.
 */

import { type BcsWriter, encodeBcs } from '../move/bcs/bcs-writer.ts';
import { ADDRESS_ONE, type Address, addressBytes } from '../move/types/address.ts';
import { parseStructTag } from '../move/types/type-parser.ts';
import { type Asset, OBJECT_GROUP, typeInfoWriter, writeObjectCore } from './assets.ts';
import type { Effects } from './effects.ts';
import {
  type GroupMember,
  resourceGroupKeys,
  resourceKey,
  SingleSlots,
  structTagBytes,
  tableItemKey,
  writeResourceGroup,
} from './slots.ts';

/** Where the native coin's supply stands, on every chain (docs/spec/ledger.md §5.9). */
const SUPPLY_HANDLE: Address = '1b854694ae746cdbd8d44186ca4929b2b337df21d1c74633be19b2710552fdca';
const SUPPLY_KEY: Address = '0619dc29a0aac8fa146714058e8dd6d2d0f3bdf5f6331907bf91f3acd81e6935';
const MAX_U128 = (1n << 128n) - 1n;

const CORE_TAG = structTagBytes('0x1::object::ObjectCore');
const METADATA_TAG = structTagBytes('0x1::fungible_asset::Metadata');
const SUPPLY_TAG = structTagBytes('0x1::fungible_asset::Supply');
const CONCURRENT_SUPPLY_TAG = structTagBytes('0x1::fungible_asset::ConcurrentSupply');
const DERIVE_REF_TAG = structTagBytes('0x1::primary_fungible_store::DeriveRefPod');
const PAIRED_COIN_TAG = structTagBytes('0x1::coin::PairedCoinType');

export interface AssetNames {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly iconUri: string;
  readonly projectUri: string;
  /** Who owns the metadata object; 32 bytes. */
  readonly owner: Uint8Array;
  /** A fungible asset's supply is a plain number with a maximum, or an aggregator. */
  readonly supply: 'plain' | 'concurrent';
}

export class AssetInfo {
  readonly #asset: Asset;
  readonly #names: AssetNames;
  readonly #slots = new SingleSlots();
  readonly #coinInfo: number | undefined;
  /** The slot that holds the coin supply: the aggregator's table item, or the coin info itself. */
  readonly #coinSupply: number | undefined;
  readonly #metadata: number;
  #writtenCoinSupply = 0n;
  #writtenFungibleSupply = 0n;

  constructor(asset: Asset, names: AssetNames, isNative: boolean) {
    this.#asset = asset;
    this.#names = names;
    this.#metadata = this.#slots.add(
      resourceGroupKeys(OBJECT_GROUP).at(asset.metadataBytes),
      (writer) => this.#writeMetadata(writer),
    );
    if (asset.coinType === undefined) return;
    const { address } = parseStructTag(asset.coinType);
    this.#coinInfo = this.#slots.add(
      resourceKey(address, `0x1::coin::CoinInfo<${asset.coinType}>`),
      (writer) => this.#writeCoinInfo(writer, isNative),
    );
    this.#coinSupply = isNative
      ? this.#slots.add(tableItemKey(SUPPLY_HANDLE, addressBytes(SUPPLY_KEY)), (writer) =>
          writer.u128(asset.coinSupply),
        )
      : this.#coinInfo;
  }

  /** Creates the slots; after genesis has minted. */
  genesis(effects: Effects): void {
    effects.create(this.#slots, this.#metadata);
    if (this.#coinInfo !== undefined) effects.create(this.#slots, this.#coinInfo);
    if (this.#coinSupply !== undefined && this.#coinSupply !== this.#coinInfo) {
      effects.create(this.#slots, this.#coinSupply);
    }
    this.#remember();
  }

  /** Writes the supplies that changed since the last time. */
  update(effects: Effects): void {
    if (this.#coinSupply !== undefined && this.#asset.coinSupply !== this.#writtenCoinSupply) {
      effects.modify(this.#slots, this.#coinSupply);
    }
    if (this.#asset.fungibleSupply !== this.#writtenFungibleSupply) {
      effects.modify(this.#slots, this.#metadata);
    }
    this.#remember();
  }

  #remember(): void {
    this.#writtenCoinSupply = this.#asset.coinSupply;
    this.#writtenFungibleSupply = this.#asset.fungibleSupply;
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
    const { owner, supply } = this.#names;
    const { metadataBytes, coinType, fungibleSupply } = this.#asset;
    const members: GroupMember[] = [
      { tag: CORE_TAG, write: (to) => writeObjectCore(to, metadataBytes, owner, true) },
      { tag: METADATA_TAG, write: (to) => this.#writeNames(to) },
      { tag: DERIVE_REF_TAG, write: (to) => to.fixed(metadataBytes) },
      supply === 'plain'
        ? { tag: SUPPLY_TAG, write: (to) => to.u128(fungibleSupply).u8(1).u128(MAX_U128) }
        : { tag: CONCURRENT_SUPPLY_TAG, write: (to) => to.u128(fungibleSupply).u128(MAX_U128) },
    ];
    if (coinType !== undefined) {
      members.push({ tag: PAIRED_COIN_TAG, write: typeInfoWriter(coinType) });
    }
    writeResourceGroup(writer, members);
  }

  #writeNames(writer: BcsWriter): void {
    const { name, symbol, decimals, iconUri, projectUri } = this.#names;
    writer.string(name).string(symbol).u8(decimals).string(iconUri).string(projectUri);
  }
}

/** The `0x1::coin::CoinConversionMap` resource and its table: which coin is paired with which asset. */
export class CoinConversionMap {
  readonly #slots = new SingleSlots();
  readonly #indices: number[] = [];

  constructor(handle: Address, assets: readonly Asset[]) {
    this.#indices.push(
      this.#slots.add(resourceKey(ADDRESS_ONE, '0x1::coin::CoinConversionMap'), (writer) =>
        writer.address(handle),
      ),
    );
    for (const { coinType, metadata } of assets) {
      if (coinType === undefined) continue;
      const key = encodeBcs(typeInfoWriter(coinType));
      this.#indices.push(
        this.#slots.add(tableItemKey(handle, key), (writer) => writer.address(metadata)),
      );
    }
  }

  genesis(effects: Effects): void {
    for (const index of this.#indices) effects.create(this.#slots, index);
  }
}
