/**
 * Every column of the store: its number, its key and its value. Numbers are never used again. The same table for people
 * is docs/data-layout.md; a test compares the two.
 */
import type { Column } from './column.ts';

/** The layout this program reads and writes; goes up with every change that an older or newer program misreads. */
export const STORE_FORMAT_VERSION = 3;

/**
 * Longest order part of a key, in bytes. Longer state keys are cut into segments of this size (state-key-column.ts).
 * LMDB takes keys of 1,978 bytes, B-trees of SQL servers about 2,700.
 */
export const MAX_ORDER_BYTES = 1_024;

/** Versions and heights: the six high bytes are the partition, 65,536 numbers share it. */
export const BUCKET_PARTITION_BYTES = 6;
/** The two low bytes are the order. */
const BUCKET_ORDER_BYTES = 2;

const BUCKET = {
  partitionBytes: BUCKET_PARTITION_BYTES,
  orderBytes: [BUCKET_ORDER_BYTES, BUCKET_ORDER_BYTES],
} as const;

export const IDENTITY: Column = {
  number: 1,
  name: 'identity',
  partitionBytes: 1,
  orderBytes: [0, 0],
  partition: 'row: 0 format, 1 ledger',
  value: 'format version u32; or chain id u8, genesis waypoint hash, stores transactions bool',
  writtenBy: ['store', 'writer'],
  readBy: ['store', 'writer', 'view'],
};

export const HEAD: Column = {
  number: 2,
  name: 'head',
  partitionBytes: 1,
  orderBytes: [0, 0],
  partition: 'row: always 0',
  value:
    'version u64, timestamp µs u64, epoch u64, block height u64, oldest version u64, ' +
    'oldest block height u64, frozen roots [hash]',
  writtenBy: ['writer', 'pruner'],
  readBy: ['writer', 'pruner', 'view'],
};

export const STATE: Column = {
  number: 3,
  name: 'state',
  partitionBytes: 32,
  orderBytes: [8, 8],
  partition: 'state key hash',
  order: 'version',
  value:
    'tag u8: 0 deleted, then the physical state key; 1 then bytes; ' +
    '2 then StateValueMetadata, bytes',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'pruner', 'verify'],
};

export const ACCOUNT_KEYS: Column = {
  number: 4,
  name: 'account_keys',
  partitionBytes: 32,
  orderBytes: [1, MAX_ORDER_BYTES],
  partition: 'address',
  order: 'physical state key after the address, first segment',
  value: 'version of the first write u64; or nothing: the key continues in account_key_tails',
  writtenBy: ['writer', 'pruner'],
  readBy: ['writer', 'view', 'verify'],
};

export const ACCOUNT_KEY_TAILS: Column = {
  number: 5,
  name: 'account_key_tails',
  partitionBytes: 64,
  orderBytes: [1, MAX_ORDER_BYTES],
  partition: 'address, chained SHA3-256 of the segments before',
  order: 'next segment',
  value: 'as in account_keys',
  writtenBy: ['writer', 'pruner'],
  readBy: ['writer', 'view', 'verify'],
};

export const STATE_KEYS: Column = {
  number: 6,
  name: 'state_keys',
  partitionBytes: 32,
  orderBytes: [0, 0],
  partition: 'state key hash',
  value: 'physical state key; only of keys that are not under an account',
  writtenBy: ['writer', 'pruner'],
  readBy: ['writer', 'verify'],
};

export const EVENTS: Column = {
  number: 7,
  name: 'events',
  partitionBytes: 40,
  orderBytes: [8, 8],
  partition: 'address, creation number',
  order: 'sequence number',
  value: 'version u64, index in transaction u32, type tag length u32, type tag, data bytes',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'pruner', 'verify'],
};

export const MODULE_EVENTS: Column = {
  number: 8,
  name: 'module_events',
  partitionBytes: BUCKET_PARTITION_BYTES,
  orderBytes: [BUCKET_ORDER_BYTES + 4, BUCKET_ORDER_BYTES + 4],
  partition: 'version, high bytes',
  order: 'version, low bytes; index in transaction',
  value: 'type tag length u32, type tag, data bytes',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'verify'],
};

export const TRANSACTIONS: Column = {
  number: 9,
  name: 'transactions',
  ...BUCKET,
  partition: 'version, high bytes',
  order: 'version, low bytes',
  value: 'TransactionOnChainData; the column is empty if the ledger stores no transactions',
  writtenBy: ['writer', 'pruner'],
  readBy: ['feed', 'verify'],
};

export const TRANSACTION_INFOS: Column = {
  number: 10,
  name: 'transaction_infos',
  ...BUCKET,
  partition: 'version, high bytes',
  order: 'version, low bytes',
  value: 'TransactionInfo',
  writtenBy: ['writer', 'pruner'],
  readBy: ['writer', 'view', 'verify'],
};

export const BLOCKS_BY_HEIGHT: Column = {
  number: 11,
  name: 'blocks_by_height',
  ...BUCKET,
  partition: 'height, high bytes',
  order: 'height, low bytes',
  value: 'height u64, first version u64, epoch u64, round u64, timestamp µs u64, id hash',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'verify'],
};

export const BLOCKS_BY_VERSION: Column = {
  number: 12,
  name: 'blocks_by_version',
  ...BUCKET,
  partition: 'first version, high bytes',
  order: 'first version, low bytes',
  value: 'as in blocks_by_height',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'pruner', 'verify'],
};

export const EPOCHS: Column = {
  number: 13,
  name: 'epochs',
  partitionBytes: 1,
  orderBytes: [8, 8],
  partition: 'row: always 0',
  order: 'last version',
  value: 'epoch u64',
  writtenBy: ['writer', 'pruner'],
  readBy: ['pruner', 'verify'],
};

export const VERSION_WRITES: Column = {
  number: 14,
  name: 'version_writes',
  ...BUCKET,
  partition: 'version, high bytes',
  order: 'version, low bytes',
  value:
    'what the version wrote and so superseded: [state key hash, owner address], ' +
    '[stream address, creation number u64, sequence number u64]',
  writtenBy: ['writer', 'pruner'],
  readBy: ['pruner', 'verify'],
};

export const BALANCES: Column = {
  number: 15,
  name: 'balances',
  partitionBytes: 32,
  orderBytes: [32, 32],
  partition: 'owner',
  order: 'address of the asset’s metadata',
  value:
    'as of the newest version that changed it: version u64, flags u8 (1 coin, 2 fungible amount does not decode), ' +
    'amount in the coin store u64, amount in the primary store u64',
  writtenBy: ['writer'],
  readBy: ['writer', 'view', 'verify'],
};

export const PRUNING: Column = {
  number: 16,
  name: 'pruning',
  partitionBytes: 1,
  orderBytes: [0, 32],
  partition: 'row: 0 progress, 1 pinned account',
  order: 'nothing for the progress; address of the pinned account',
  value:
    'progress: version below which everything is deleted u64, frozen roots before it [hash]; ' +
    'pinned account: version from which its history is complete u64',
  writtenBy: ['pruner'],
  readBy: ['pruner', 'view', 'verify'],
};

export const PRIMARY_STORES: Column = {
  number: 17,
  name: 'primary_stores',
  partitionBytes: 32,
  orderBytes: [0, 0],
  partition: 'address of the primary store of a row of balances',
  value: 'owner, address of the asset’s metadata',
  writtenBy: ['writer'],
  readBy: ['writer', 'verify'],
};

export const COLUMNS: readonly Column[] = [
  IDENTITY,
  HEAD,
  STATE,
  ACCOUNT_KEYS,
  ACCOUNT_KEY_TAILS,
  STATE_KEYS,
  EVENTS,
  MODULE_EVENTS,
  TRANSACTIONS,
  TRANSACTION_INFOS,
  BLOCKS_BY_HEIGHT,
  BLOCKS_BY_VERSION,
  EPOCHS,
  VERSION_WRITES,
  BALANCES,
  PRUNING,
  PRIMARY_STORES,
];
