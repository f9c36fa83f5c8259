/** Readers of `0x1::coin` (docs/spec/transactions.md §9.4). */
import { BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { ADDRESS_ONE, type Address } from '../../move/types/address.ts';
import { coinInfoTag, coinStoreTag, frameworkTag } from '../../move/types/framework-tag.ts';
import { formatTypeTag, type StructTag, type TypeTag } from '../../move/types/type-tag.ts';
import type { FrameworkState } from './framework-state.ts';
import { assetSupply, primaryBalance } from './fungible-asset-views.ts';
import { NotRunError } from './view-error.ts';
import {
  addressArgument,
  boolBytes,
  type FrameworkView,
  optionOf,
  sumOf,
  u64Value,
} from './view-values.ts';

const NATIVE_FUNCTION_NOT_AVAILABLE = 0x1n;
const COIN_INFO_NOT_PUBLISHED = 0x1_0003n;
const OPTION_NOT_SET = 0x4_0001n;

/** `type_info::type_of`, which only structs have. */
async function structOf(state: FrameworkState, [type]: readonly TypeTag[]): Promise<StructTag> {
  if (type!.kind === 'struct') return type!.struct;
  const message = `Expected a struct type, found: ${type!.kind}`;
  throw await state.abort('type_info', NATIVE_FUNCTION_NOT_AVAILABLE, message);
}

/** A field of the information about a coin. */
export function coinField(name: string): FrameworkView {
  return async (state, { typeArguments }) => {
    const coin = await structOf(state, typeArguments);
    return [await state.field(coin.address, coinInfoTag(coin), name)];
  };
}

export const isAccountRegistered: FrameworkView = async (state, { typeArguments }) => {
  const coin = await structOf(state, typeArguments);
  if (await state.exists(coin.address, coinInfoTag(coin))) return [boolBytes(true)];
  throw await state.abort('coin', COIN_INFO_NOT_PUBLISHED);
};

const CONVERSION_MAP_TAG = frameworkTag('coin', 'CoinConversionMap');

/** The metadata of the fungible asset that a coin is paired with. */
async function pairedMetadata(
  state: FrameworkState,
  typeArguments: readonly TypeTag[],
): Promise<Address | undefined> {
  if (!(await state.exists(ADDRESS_ONE, CONVERSION_MAP_TAG))) return undefined;
  const map = 'coin_to_fungible_asset_map';
  const handle = await state.field(ADDRESS_ONE, CONVERSION_MAP_TAG, map);
  const { address, module, name, typeArguments: parts } = await structOf(state, typeArguments);
  const arguments_ = parts.length === 0 ? '' : `<${parts.map(formatTypeTag).join(', ')}>`;
  const typeInfo = encodeBcs((writer) =>
    writer
      .address(address)
      .string(module)
      .string(name + arguments_),
  );
  const metadata = await state.tableItem(handle, typeInfo);
  return metadata && decodeBcs(metadata, (reader) => reader.address());
}

/** The coin store and the primary store of the paired asset together. */
export const coinBalance: FrameworkView = async (state, { typeArguments, args }) => {
  const owner = addressArgument(args[0]!);
  const metadata = await pairedMetadata(state, typeArguments);
  const type = typeArguments[0]!;
  let amount = 0n;
  if (type.kind === 'struct') {
    const tag = coinStoreTag(type.struct);
    if (await state.exists(owner, tag)) amount = u64Value(await state.field(owner, tag, 'coin'));
  }
  const paired = metadata === undefined ? 0n : await primaryBalance(state, owner, metadata);
  return [sumOf(amount, paired, 64)];
};

/** What is left of the coin and what was converted to the paired asset together. */
export const coinSupply: FrameworkView = async (state, { typeArguments }) => {
  const coin = await structOf(state, typeArguments);
  const supply = await supplyOf(
    state,
    await state.field(coin.address, coinInfoTag(coin), 'supply'),
  );
  const metadata = await pairedMetadata(state, typeArguments);
  if (metadata === undefined) return [optionOf(supply)];
  const paired = await assetSupply(state, metadata);
  if (supply === undefined) return [optionOf(undefined)];
  if (paired === undefined) throw await state.abort('option', OPTION_NOT_SET);
  return [optionOf(sumOf(u128Value(supply), u128Value(paired), 128))];
};

/** Reads an `Option<OptionalAggregator>`: an aggregator, whose value is an item of a table, or an integer. */
async function supplyOf(state: FrameworkState, bytes: Buffer): Promise<Buffer | undefined> {
  const reader = new BcsReader(bytes);
  if (reader.u8() === 0) return undefined;
  if (reader.u8() === 1) {
    const item = await state.tableItem(reader.fixed(32), reader.fixed(32));
    if (item === undefined) throw new NotRunError();
    return item;
  }
  if (reader.u8() === 0) throw await state.abort('option', OPTION_NOT_SET);
  return reader.fixed(16);
}

function u128Value(bytes: Buffer): bigint {
  return decodeBcs(bytes, (reader) => reader.u128());
}
