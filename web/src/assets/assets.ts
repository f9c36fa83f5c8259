/** An asset's symbol and decimals, from its CoinInfo, or from its metadata as a fungible asset. */
import { useEffect, useState } from 'preact/hooks';
import { ApiFailure, send } from '../asking/api-client.ts';
import { parseJson } from '../asking/exact-json.ts';
import { onRevert, useReverts } from '../asking/live-ledger.ts';
import { resourceRequest } from '../asking/requests.ts';
import type { AssetUnit } from '../parts/number-text.ts';

/** An asset's own metadata; all fields are optional, because resources are untrusted. */
interface UnitResource {
  readonly data: Partial<AssetUnit>;
}

/** Units already requested, by asset: lists show the same few assets again and again. */
const asked = new Map<string, Promise<AssetUnit | undefined>>();
onRevert(() => asked.clear());

export function metadataRequest(asset: string) {
  const [publisher = '', ...names] = asset.split('::');
  const type = names.length > 0 ? `0x1::coin::CoinInfo<${asset}>` : '0x1::fungible_asset::Metadata';
  return resourceRequest(publisher, type, '');
}

async function ask(asset: string): Promise<AssetUnit | undefined> {
  try {
    const { text } = await send(metadataRequest(asset), new AbortController().signal);
    const { symbol, decimals } = parseJson<UnitResource>(text).data;
    if (typeof symbol === 'string' && typeof decimals === 'number') return { symbol, decimals };
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
  }
  return undefined;
}

/** The asset's current unit, from the coin's publisher or the metadata object. */
export function unitOf(asset: string): Promise<AssetUnit | undefined> {
  const known = asked.get(asset);
  if (known !== undefined) return known;
  const unit = ask(asset).then((found) => {
    // Not cached: the node may answer later, and the asset may be created later.
    if (found === undefined && asked.get(asset) === unit) asked.delete(asset);
    return found;
  });
  asked.set(asset, unit);
  return unit;
}

/** The same in a component; undefined while unknown. */
export function useUnit(asset: string | undefined): AssetUnit | undefined {
  const [known, setKnown] = useState<{ asset: string; unit: AssetUnit | undefined }>();
  const reverts = useReverts();
  useEffect(() => {
    if (asset === undefined || asset === '') return;
    let isWanted = true;
    void unitOf(asset).then((unit) => {
      if (isWanted) setKnown({ asset, unit });
    });
    return () => {
      isWanted = false;
    };
  }, [asset, reverts]);
  return known?.asset === asset ? known?.unit : undefined;
}
