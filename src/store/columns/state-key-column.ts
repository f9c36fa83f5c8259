/**
 * State keys that lie under no account (table items and rarer kinds) by their hash, so that every
 * row of the state column can be traced back to its key: `verify` needs it. Keys under accounts are
 * in account-key-column.ts.
 */
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import type { Batch } from '../batch.ts';
import { ACCESS_PATH_PREFIX_BYTES, ACCESS_PATH_TAG } from './account-key-column.ts';
import { STATE_KEYS } from './columns.ts';
import { NO_ORDER } from './order-key.ts';

const TABLE_ITEM_TAG = 0x01;
const TRADING_TAG = 0x02;
/** Tag, kind and exchange stand before the account of a trading key. */
const TRADING_ACCOUNT_AT = 2 + ADDRESS_BYTES;
const NO_OWNER = Buffer.alloc(ADDRESS_BYTES);

/** Longest physical state key, in bytes; the reference allows a write of 1 MiB, key included. */
export const MAX_STATE_KEY_BYTES = 1024 * 1024;

/** Whether a physical state key lies under an account. */
export function isAccountKey(physical: Uint8Array): boolean {
  return physical[0] === ACCESS_PATH_TAG && physical.length > ACCESS_PATH_PREFIX_BYTES;
}

/**
 * Whose key it is: the account, the handle of the table, or zeros. 32 bytes, a view where possible.
 */
export function ownerOfKey(physical: Buffer): Buffer {
  switch (physical[0]) {
    case ACCESS_PATH_TAG:
    case TABLE_ITEM_TAG:
      return physical.subarray(1, 1 + ADDRESS_BYTES);
    case TRADING_TAG:
      return physical.subarray(TRADING_ACCOUNT_AT, TRADING_ACCOUNT_AT + ADDRESS_BYTES);
    default:
      return NO_OWNER;
  }
}

/** Files a key that lies under no account. */
export function putStateKey(batch: Batch, hash: Uint8Array, physical: Uint8Array): void {
  batch.put(STATE_KEYS, hash, NO_ORDER, physical);
}
