/** What an asset is called and how many decimals its unit has: its CoinInfo, or its metadata as a fungible asset. */
import { useEffect, useState } from 'preact/hooks';
import { ApiFailure, send } from './api-client.ts';
import { parseJson } from './exact-json.ts';
import type { AssetUnit } from './number-text.ts';
import { resourceRequest } from './requests.ts';

/** What an asset says of itself; in a resource all of it is optional. */
interface UnitResource {
  readonly data: Partial<AssetUnit>;
}

/** Units that were asked for, by asset: lists show the same few assets again and again. */
const asked = new Map<string, Promise<AssetUnit | undefined>>();

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
    // It may answer later; that there is no unit is an answer.
    if (error.status !== 404) asked.delete(asset);
  }
  return undefined;
}

/** The asset's unit now, from its coin's publisher or the metadata object. */
export function unitOf(asset: string): Promise<AssetUnit | undefined> {
  const known = asked.get(asset) ?? ask(asset);
  asked.set(asset, known);
  return known;
}

/** The same in a component; undefined while it is not known. */
export function useUnit(asset: string | undefined): AssetUnit | undefined {
  const [known, setKnown] = useState<{ asset: string; unit: AssetUnit | undefined }>();
  useEffect(() => {
    if (asset === undefined || asset === '') return;
    let isWanted = true;
    void unitOf(asset).then((unit) => {
      if (isWanted) setKnown({ asset, unit });
    });
    return () => {
      isWanted = false;
    };
  }, [asset]);
  return known?.asset === asset ? known?.unit : undefined;
}
