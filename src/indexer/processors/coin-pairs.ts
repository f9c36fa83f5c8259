/** Which coin a fungible asset is paired with, as far as the chain has said so. */
import { pairedMetadataAddress } from '../../move/types/derived-address.ts';
import { parseStructTag } from '../../move/types/type-parser.ts';

export const APT_COIN = '0x1::aptos_coin::AptosCoin';

export class CoinPairs {
  readonly #metadata = new Map<string, string>();
  readonly #coins = new Map<string, string>();

  constructor() {
    this.learn(APT_COIN);
  }

  /** Notes that there is a coin. */
  learn(coin: string): void {
    this.#coins.set(this.metadataOf(coin), coin);
  }

  /** The coin of a fungible asset. @param metadata 64 digits behind `0x` */
  coinOf(metadata: string): string | undefined {
    return this.#coins.get(metadata);
  }

  /** The address of the metadata of the asset that a coin is paired with, whether it is there or not. */
  metadataOf(coin: string): string {
    let metadata = this.#metadata.get(coin);
    if (metadata === undefined) {
      metadata = `0x${pairedMetadataAddress(parseStructTag(coin))}`;
      if (this.#metadata.size >= MAX_REMEMBERED) this.#metadata.clear();
      this.#metadata.set(coin, metadata);
    }
    return metadata;
  }
}

/** Addresses of metadata in memory. */
const MAX_REMEMBERED = 10_000;
