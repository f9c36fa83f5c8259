/** Finds the coin that a fungible asset is paired with, in the state. */
import { Cache } from '../../cache.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { tryParse } from '../../move/errors.ts';
import { pairedMetadataAddress } from '../../move/types/derived-address.ts';
import { parseStructTag } from '../../move/types/type-parser.ts';
import { formatStructTag } from '../../move/types/type-tag.ts';
import {
  type Fields,
  FUNGIBLE_STORE,
  fullAddress,
  STORE_DELETION,
  type TransactionFacts,
} from './transaction-facts.ts';

export const APT_COIN = '0x1::aptos_coin::AptosCoin';
/** A resource that the metadata object of a paired asset has. */
const PAIRED_COIN = parseStructTag('0x1::coin::PairedCoinType');
/** Error codes for metadata without that resource, and for metadata that a fork without its node has not recorded. */
const ABSENT: ReadonlySet<unknown> = new Set(['resource_not_found', 'fork_not_recorded']);
/** Stands for an asset without a coin. */
const NO_COIN = '';
/** Coins with longer types are left out. */
export const MAX_TYPE_CHARACTERS = 1_000;
const BYTES_PER_CHARACTER = 2;

export class CoinPairs {
  readonly #metadata = new Cache<string>('indexed_coins');
  readonly #coins = new Cache<string>('indexed_coins');

  /**
   * Looks up the coins of the assets whose stores a transaction has written or deleted. The coin of an asset never
   * changes.
   */
  async lookUp(view: LedgerView, { writes, events }: TransactionFacts): Promise<void> {
    for (const { type, data } of writes) {
      if (type === FUNGIBLE_STORE) await this.#lookUp(view, fullAddress(data.metadata.inner));
    }
    for (const { type, data } of events) {
      if (type === STORE_DELETION) await this.#lookUp(view, deletedMetadata(data));
    }
  }

  async #lookUp(view: LedgerView, metadata: string): Promise<void> {
    if (this.#coins.get(metadata) !== undefined) return;
    const coin = await readCoin(view, metadata);
    this.#coins.set(metadata, coin, coin.length * BYTES_PER_CHARACTER);
  }

  /** The coin of a fungible asset that was looked up. @param metadata `0x` and 64 digits */
  coinOf(metadata: string): string | undefined {
    const coin = this.#coins.get(metadata);
    return coin === NO_COIN ? undefined : coin;
  }

  /** The address of the metadata of the asset that a coin is paired with, whether it exists or not. */
  metadataOf(coin: string): string {
    let metadata = this.#metadata.get(coin);
    if (metadata === undefined) {
      metadata = `0x${pairedMetadataAddress(parseStructTag(coin))}`;
      this.#metadata.set(coin, metadata, metadata.length * BYTES_PER_CHARACTER);
    }
    return metadata;
  }
}

/** The asset of a deleted store, from an event. */
export function deletedMetadata({ metadata }: Fields): string {
  return fullAddress(typeof metadata === 'string' ? metadata : (metadata?.inner ?? '0x0'));
}

async function readCoin(view: LedgerView, metadata: string): Promise<string> {
  let text: string;
  try {
    const { accounts, state } = view;
    text = await (await accounts.resource(metadata.slice(2), PAIRED_COIN, state.version)).json();
  } catch (error) {
    if (ABSENT.has((error as { code?: unknown }).code)) return NO_COIN;
    throw error;
  }
  const {
    account_address: address,
    module_name: module,
    struct_name: name,
  } = JSON.parse(text).data.type as Record<string, string>;
  const [moduleName, structName] = [module!, name!].map((hex) =>
    Buffer.from(hex.slice(2), 'hex').toString(),
  );
  const tag = tryParse(() => parseStructTag(`${address}::${moduleName}::${structName}`));
  const coin = tag === undefined ? NO_COIN : formatStructTag(tag);
  return coin.length > MAX_TYPE_CHARACTERS ? NO_COIN : coin;
}
