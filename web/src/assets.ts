/** What an asset is called and how many decimals its unit has: its CoinInfo, or its metadata as a fungible asset. */

import { JsonNumber, type JsonValue } from '../../src/move/json/json-text.ts';
import type { ApiRequest } from './api-request.ts';
import { useAnswer } from './ask.ts';
import { field, textField } from './json-fields.ts';
import { resourceRequest } from './ledger-requests.ts';
import type { AssetUnit } from './number-text.ts';

export const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';

/** The resource that names the asset: at a coin's publisher, or at the metadata object itself. */
function unitRequest(asset: string, version?: string): ApiRequest {
  const publisher = asset.split('::')[0]!;
  return asset.includes('::')
    ? resourceRequest(publisher, `0x1::coin::CoinInfo<${asset}>`, version)
    : resourceRequest(asset, '0x1::fungible_asset::Metadata', version);
}

/** Undefined when the resource does not say. */
function readUnit(resource: JsonValue | undefined): AssetUnit | undefined {
  const data = field(resource, 'data');
  const symbol = textField(data, 'symbol');
  const decimals = field(data, 'decimals');
  if (symbol === undefined || !(decimals instanceof JsonNumber)) return undefined;
  return { symbol, decimals: Number(decimals.text) };
}

/** The asset's unit; undefined while it is not known. */
export function useUnit(asset: string | undefined, version?: string): AssetUnit | undefined {
  return readUnit(useAnswer(asset ? unitRequest(asset, version) : undefined).json);
}
