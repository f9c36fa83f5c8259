/**
 * Balances by owner and asset: the coin store of the paired coin, and the primary fungible store. A row is derived from
 * state (src/move/values/balance-values.ts) and is valid from its version on. The address of a primary store does not
 * reveal its owner and asset, so `primary_stores` maps it back to them (docs/data-layout.md, "Visibility").
 */
import { hash, structCodec } from '../../move/bcs/codec.ts';
import type { Amount } from '../../move/values/balance-values.ts';
import { BALANCES, PRIMARY_STORES } from './columns.ts';
import { NO_ORDER } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

export interface StoredBalance {
  readonly version: bigint;
  /** The amount in the coin store of the coin that is paired with the asset. */
  readonly coin: Amount;
  readonly fungible: Amount;
}

/** Owner and asset of a balance, 32 bytes each. */
export interface BalanceHolder {
  readonly owner: Buffer;
  readonly metadata: Buffer;
}

const COIN_UNREADABLE = 1;
const FUNGIBLE_UNREADABLE = 2;

/** Balances by owner and asset, as the newest commit left them. */
export const BALANCE = new RowCodec<
  { readonly owner: Uint8Array; readonly metadata: Uint8Array },
  StoredBalance
>(BALANCES, ({ owner, metadata }) => ({ partition: owner, order: metadata }), {
  write(writer, { version, coin, fungible }) {
    const coinFlag = coin === undefined ? COIN_UNREADABLE : 0;
    const fungibleFlag = fungible === undefined ? FUNGIBLE_UNREADABLE : 0;
    writer.u64(version).u8(coinFlag | fungibleFlag);
    writer.u64(coin ?? 0n).u64(fungible ?? 0n);
  },
  read(reader) {
    const version = reader.u64();
    const at = reader.offset;
    const unreadable = reader.u8();
    if (unreadable > (COIN_UNREADABLE | FUNGIBLE_UNREADABLE)) {
      throw reader.error('bad_variant', `unknown flags ${unreadable}`, at);
    }
    const amount = (flag: number): Amount => {
      const read = reader.u64();
      if ((unreadable & flag) === 0) return read;
      if (read !== 0n) throw reader.error('bad_variant', `an unreadable amount is ${read}`, at);
      return undefined;
    };
    const coin = amount(COIN_UNREADABLE);
    return { version, coin, fungible: amount(FUNGIBLE_UNREADABLE) };
  },
});

export const PRIMARY_STORE = new RowCodec<Uint8Array, BalanceHolder>(
  PRIMARY_STORES,
  (address) => ({ partition: address, order: NO_ORDER }),
  structCodec({ owner: hash, metadata: hash }),
);
