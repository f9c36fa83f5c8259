/**
 * Balances by owner and asset, as the newest version that changed them left them: a balance is one read of one row. A
 * row follows from state (src/move/values/balance-change.ts) and states its version: as of that version or a later one
 * it is the answer; as of an earlier one state has it.
 *
 * A row holds both places of an asset: the coin store of the paired coin and the primary fungible store. The address of
 * the primary store follows from owner and asset but not the other way round, and not every object states whose it was
 * made for; so each row has a row in primary_stores that leads back from the store's address to it, and a write to any
 * object finds the balance it changes.
 */
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import type { Amount } from '../../move/values/balance-values.ts';
import { BALANCES, PRIMARY_STORES } from './columns.ts';
import { NO_ORDER } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

export interface StoredBalance {
  readonly version: bigint;
  /** In the coin store of the coin that is paired with the asset. */
  readonly coin: Amount;
  /** In the primary fungible store. */
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
>(
  BALANCES,
  ({ owner, metadata }) => ({ partition: owner, order: metadata }),
  (writer, { version, coin, fungible }) => {
    const coinFlag = coin === undefined ? COIN_UNREADABLE : 0;
    const fungibleFlag = fungible === undefined ? FUNGIBLE_UNREADABLE : 0;
    writer.u64(version).u8(coinFlag | fungibleFlag);
    writer.u64(coin ?? 0n).u64(fungible ?? 0n);
  },
  (reader) => {
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
);

/** Whose primary store an address (32 bytes) is. */
export const PRIMARY_STORE = new RowCodec<Uint8Array, BalanceHolder>(
  PRIMARY_STORES,
  (address) => ({ partition: address, order: NO_ORDER }),
  (writer, { owner, metadata }) => writer.fixed(owner).fixed(metadata),
  (reader) => {
    const owner = reader.fixed(ADDRESS_BYTES);
    return { owner, metadata: reader.fixed(ADDRESS_BYTES) };
  },
);
