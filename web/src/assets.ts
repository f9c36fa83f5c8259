/** What an asset is called and how many decimals its unit has: its CoinInfo, or its metadata as a fungible asset. */
import { useAnswer } from './ask.tsx';
import type { AssetUnit } from './number-text.ts';
import { resourceRequest } from './requests.ts';

interface UnitResource {
  readonly data: Partial<AssetUnit>;
}

/** The asset's unit now, from its coin's publisher or the metadata object; undefined while it is not known. */
export function useUnit(asset: string | undefined): AssetUnit | undefined {
  const [publisher = '', ...names] = asset?.split('::') ?? [];
  const type = names.length > 0 ? `0x1::coin::CoinInfo<${asset}>` : '0x1::fungible_asset::Metadata';
  const { json } = useAnswer<UnitResource>(
    asset ? resourceRequest(publisher, type, '') : undefined,
  );
  const { symbol, decimals } = json?.data ?? {};
  return typeof symbol === 'string' && typeof decimals === 'number'
    ? { symbol, decimals }
    : undefined;
}
