/**
 * Finds things by name: modules of the framework with their functions and types, and assets and collections that the
 * indexer knows. The node has no index of names, so the newest modules are read once, when a reader types a word.
 */

import { SAMPLE_PUBLISHER } from '../encoding/encode-request.ts';
import { briefHex } from '../parts/number-text.ts';
import { linkTo } from '../route.ts';
import { NATIVE_ASSET, shortAddress } from '../transactions/movements.ts';
import type { ModuleAnswer } from './answers.ts';
import { ApiFailure, send } from './api-client.ts';
import { parseJson } from './exact-json.ts';
import { indexerRequest, readGraph } from './indexer.ts';
import { onRevert } from './live-ledger.ts';
import { listingRequest } from './requests.ts';

/** A named thing; `path` leads to it. */
export interface Named {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
}

/** Accounts whose modules can be found by name: those of every ledger, and the publisher of a sample. */
const PUBLISHERS = ['0x1', '0x3', '0x4', SAMPLE_PUBLISHER];
const MAX_FOUND = 12;
const MODULES_AT_ONCE = 1_000;

let known: Promise<readonly Declared[]> | undefined;
onRevert(() => {
  known = undefined;
});

interface Declared {
  readonly account: string;
  readonly module: string;
  /** Absent for the module itself. */
  readonly item?: string;
  readonly kind: string;
}

async function declaredBy(account: string): Promise<Declared[]> {
  const { signal } = new AbortController();
  const found: Declared[] = [];
  let start: string | undefined;
  do {
    // The newest modules are cached, whatever version the page shows.
    const page = { start, limit: MODULES_AT_ONCE, ledger_version: undefined };
    const answer = await send(listingRequest(account, 'modules', page), signal);
    for (const { abi } of parseJson<readonly ModuleAnswer[]>(answer.text)) {
      if (!abi) continue;
      const { name: module } = abi;
      found.push({ account, module, kind: 'module' });
      for (const { name: item } of abi.exposed_functions) {
        found.push({ account, module, item, kind: 'function' });
      }
      for (const { name: item } of abi.structs) {
        found.push({ account, module, item, kind: 'type' });
      }
    }
    start = answer.ledgerHeaders.get('cursor');
  } while (start !== undefined);
  return found;
}

function declared(): Promise<readonly Declared[]> {
  if (known !== undefined) return known;
  const read = Promise.all(PUBLISHERS.map(declaredBy)).then((all) => all.flat());
  known = read;
  read.catch(() => {
    if (known === read) known = undefined;
  });
  return read;
}

/** Lower is better; undefined if a word does not match. */
function rankOf({ module, item }: Declared, words: readonly string[]): number | undefined {
  const name = (item ?? module).toLowerCase();
  const whole = item === undefined ? name : `${module}::${item}`.toLowerCase();
  const [last] = words.slice(-1);
  if (!words.every((word) => whole.includes(word))) return undefined;
  if (name === last) return item === undefined ? 0 : 1;
  if (name.startsWith(last!)) return item === undefined ? 2 : 3;
  return name.includes(last!) ? 4 : 5;
}

const QUERY = `query Named($pattern: String, $limit: Int) {
  fungible_asset_metadata(
    where: { _or: [{ name: { _ilike: $pattern } }, { symbol: { _ilike: $pattern } }] }, limit: $limit
  ) { asset_type name symbol }
  current_collections_v2(
    where: { collection_name: { _ilike: $pattern }, token_standard: { _eq: "v2" } }, limit: $limit
  ) { collection_id collection_name }
}`;

interface IndexedNames {
  readonly fungible_asset_metadata: readonly {
    readonly asset_type: string;
    readonly name: string;
    readonly symbol: string;
  }[];
  readonly current_collections_v2: readonly {
    readonly collection_id: string;
    readonly collection_name: string;
  }[];
}

async function indexed(word: string, signal: AbortSignal): Promise<Named[]> {
  const pattern = `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const request = indexerRequest(QUERY, { pattern, limit: MAX_FOUND });
  if (request === undefined) return [];
  const found = await readGraph<IndexedNames>(request, signal).catch((error: unknown) => {
    if (error instanceof ApiFailure) return undefined;
    throw error;
  });
  const assets = (found?.fungible_asset_metadata ?? []).map(({ asset_type, name, symbol }) => {
    const asset = shortAddress(asset_type);
    const place = asset.includes('::') ? asset.split('::').at(-1)! : briefHex(asset);
    return {
      name: `${name} (${symbol}) ${place}`,
      kind: 'asset',
      path: linkTo('asset', { asset }),
    };
  });
  const collections = (found?.current_collections_v2 ?? []).map((one) => {
    const address = shortAddress(one.collection_id);
    const name = `${one.collection_name} ${briefHex(address)}`;
    return { name, kind: 'collection', path: linkTo('collection', { address }) };
  });
  return [...assets, ...collections];
}

/** Things whose name contains this word, best matches first. @throws ApiFailure */
export async function findNamed(text: string, signal: AbortSignal): Promise<Named[]> {
  const word = text.trim().toLowerCase();
  const words = word.split(/::|\s+/).filter((part) => part !== '');
  if (words.length === 0) return [];
  const [all, others] = await Promise.all([declared(), indexed(word, signal)]);
  const fitting = all.flatMap((one) => {
    const rank = rankOf(one, words);
    return rank === undefined ? [] : [{ one, rank }];
  });
  fitting.sort((a, b) => a.rank - b.rank);
  const native = ['apt', 'aptos coin'].includes(word) && others.length === 0;
  return [
    ...(native
      ? [{ name: 'APT', kind: 'asset', path: linkTo('asset', { asset: NATIVE_ASSET }) }]
      : []),
    ...others,
    ...fitting.slice(0, MAX_FOUND).map(({ one }) => {
      const { account, module, item, kind } = one;
      const name = [account, module, item].filter((part) => part !== undefined).join('::');
      return { name, kind, path: linkTo('module', { account, name: module, item }) };
    }),
  ].slice(0, MAX_FOUND);
}
