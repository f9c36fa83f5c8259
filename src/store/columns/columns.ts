/**
 * Every column of the store: its number, its key and its value. Numbers are never used again; a
 * number that is out of use stays in UNUSED_COLUMN_NUMBERS. The same table for people is
 * docs/data-layout.md; a test compares the two.
 *
 * A key has a partition and an order within it (docs/data-layout.md). Every read names one partition. Parts
 * are big-endian, so that the order of bytes is the order of numbers. All partitions of a column
 * are equally long, so that an engine that only has plain keys (LMDB) can store partition ‖ order.
 */

/**
 * The layout this program reads and writes; goes up with every change that an older or newer
 * program misreads.
 */
export const STORE_FORMAT_VERSION = 3;

/** Who uses a column. */
export type ColumnUser = 'store' | 'writer' | 'pruner' | 'view' | 'verify' | 'feed';

/** One column. Lengths in bytes. */
export interface Column {
  /** One byte, never used again for another column. */
  readonly number: number;
  readonly name: string;
  readonly partitionBytes: number;
  /** Least and most bytes of the order part; both 0 where a partition has one row. */
  readonly orderMinBytes: number;
  readonly orderMaxBytes: number;
  /** What the partition is made of, for people. */
  readonly partition: string;
  /** What the order part is made of, for people; empty where there is none. */
  readonly order: string;
  /** What the value is made of, for people. */
  readonly value: string;
  readonly writtenBy: readonly ColumnUser[];
  readonly readBy: readonly ColumnUser[];
}

/**
 * Longest order part of a key, in bytes. An order part never grows beyond it: long state keys are
 * cut into segments of this size (account-key-column.ts). LMDB takes keys of 1,978 bytes, B-trees
 * of SQL servers about 2,700.
 */
export const MAX_ORDER_BYTES = 1_024;

/** Versions and heights: the six high bytes are the partition, 65,536 numbers share it. */
export const BUCKET_PARTITION_BYTES = 6;
/** The two low bytes are the order. */
export const BUCKET_ORDER_BYTES = 2;

interface ColumnShape {
  readonly partitionBytes: number;
  readonly orderBytes: number | readonly [min: number, max: number];
  readonly partition: string;
  readonly order?: string;
  readonly value: string;
  readonly writtenBy: readonly ColumnUser[];
  readonly readBy: readonly ColumnUser[];
}

function column(number: number, name: string, shape: ColumnShape): Column {
  const { orderBytes } = shape;
  const [orderMinBytes, orderMaxBytes] =
    typeof orderBytes === 'number' ? [orderBytes, orderBytes] : orderBytes;
  return {
    number,
    name,
    partitionBytes: shape.partitionBytes,
    orderMinBytes,
    orderMaxBytes,
    partition: shape.partition,
    order: shape.order ?? '',
    value: shape.value,
    writtenBy: shape.writtenBy,
    readBy: shape.readBy,
  };
}

const BUCKET = {
  partitionBytes: BUCKET_PARTITION_BYTES,
  orderBytes: BUCKET_ORDER_BYTES,
} as const;

export const IDENTITY = column(1, 'identity', {
  partitionBytes: 1,
  orderBytes: 0,
  partition: 'row: 0 format, 1 ledger',
  value: 'format version u32; or chain id u8, genesis waypoint hash, keeps transactions bool',
  writtenBy: ['store', 'writer'],
  readBy: ['store', 'writer', 'view'],
});

export const HEAD = column(2, 'head', {
  partitionBytes: 1,
  orderBytes: 0,
  partition: 'row: always 0',
  value:
    'version u64, timestamp µs u64, epoch u64, block height u64, oldest version u64, ' +
    'oldest block height u64, frozen roots [hash]',
  writtenBy: ['writer', 'pruner'],
  readBy: ['writer', 'pruner', 'view'],
});

export const STATE = column(3, 'state', {
  partitionBytes: 32,
  orderBytes: 8,
  partition: 'state key hash',
  order: 'version',
  value:
    'tag u8: 0 deleted, then the physical state key; 1 then bytes; ' +
    '2 then StateValueMetadata, bytes',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'pruner', 'verify'],
});

export const ACCOUNT_KEYS = column(4, 'account_keys', {
  partitionBytes: 32,
  orderBytes: [1, MAX_ORDER_BYTES],
  partition: 'address',
  order: 'physical state key after the address, first segment',
  value: 'version of the first write u64; or nothing: the key goes on in account_key_tails',
  writtenBy: ['writer', 'pruner'],
  readBy: ['writer', 'view', 'verify'],
});

export const ACCOUNT_KEY_TAILS = column(5, 'account_key_tails', {
  partitionBytes: 64,
  orderBytes: [1, MAX_ORDER_BYTES],
  partition: 'address, chained SHA3-256 of the segments before',
  order: 'next segment',
  value: 'as in account_keys',
  writtenBy: ['writer', 'pruner'],
  readBy: ['writer', 'view', 'verify'],
});

export const STATE_KEYS = column(6, 'state_keys', {
  partitionBytes: 32,
  orderBytes: 0,
  partition: 'state key hash',
  value: 'physical state key; only of keys that are not under an account',
  writtenBy: ['writer', 'pruner'],
  readBy: ['writer', 'verify'],
});

export const EVENTS = column(7, 'events', {
  partitionBytes: 40,
  orderBytes: 8,
  partition: 'address, creation number',
  order: 'sequence number',
  value: 'version u64, index in transaction u32, type tag length u32, type tag, data bytes',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'pruner', 'verify'],
});

export const MODULE_EVENTS = column(8, 'module_events', {
  partitionBytes: BUCKET_PARTITION_BYTES,
  orderBytes: BUCKET_ORDER_BYTES + 4,
  partition: 'version, high bytes',
  order: 'version, low bytes; index in transaction',
  value: 'type tag length u32, type tag, data bytes',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'verify'],
});

export const TRANSACTIONS = column(9, 'transactions', {
  ...BUCKET,
  partition: 'version, high bytes',
  order: 'version, low bytes',
  value: 'TransactionOnChainData; the column is empty when the ledger keeps no transactions',
  writtenBy: ['writer', 'pruner'],
  readBy: ['feed', 'verify'],
});

export const TRANSACTION_INFOS = column(10, 'transaction_infos', {
  ...BUCKET,
  partition: 'version, high bytes',
  order: 'version, low bytes',
  value: 'TransactionInfo',
  writtenBy: ['writer', 'pruner'],
  readBy: ['writer', 'view', 'verify'],
});

export const BLOCKS_BY_HEIGHT = column(11, 'blocks_by_height', {
  ...BUCKET,
  partition: 'height, high bytes',
  order: 'height, low bytes',
  value: 'height u64, first version u64, epoch u64, round u64, timestamp µs u64, id hash',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'verify'],
});

export const BLOCKS_BY_VERSION = column(12, 'blocks_by_version', {
  ...BUCKET,
  partition: 'first version, high bytes',
  order: 'first version, low bytes',
  value: 'as in blocks_by_height',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'pruner', 'verify'],
});

export const EPOCHS = column(13, 'epochs', {
  partitionBytes: 1,
  orderBytes: 8,
  partition: 'row: always 0',
  order: 'last version',
  value: 'epoch u64',
  writtenBy: ['writer', 'pruner'],
  readBy: ['view', 'verify'],
});

export const VERSION_WRITES = column(14, 'version_writes', {
  ...BUCKET,
  partition: 'version, high bytes',
  order: 'version, low bytes',
  value:
    'what the version wrote and so superseded: [state key hash, owner address], ' +
    '[stream address, creation number u64, sequence number u64]',
  writtenBy: ['writer', 'pruner'],
  readBy: ['pruner', 'verify'],
});

export const BALANCES = column(15, 'balances', {
  partitionBytes: 32,
  orderBytes: 32,
  partition: 'owner',
  order: 'address of the asset’s metadata',
  value:
    'as of the newest version that changed it: version u64, flags u8 (1 coin, 2 fungible amount does not decode), ' +
    'amount in the coin store u64, amount in the primary store u64',
  writtenBy: ['writer'],
  readBy: ['writer', 'view', 'verify'],
});

export const PRUNING = column(16, 'pruning', {
  partitionBytes: 1,
  orderBytes: [0, 32],
  partition: 'row: 0 progress, 1 kept account',
  order: 'nothing for the progress; address of the kept account',
  value:
    'progress: version that nothing is left below u64, frozen roots before it [hash]; ' +
    'kept account: version from which its history is whole u64',
  writtenBy: ['pruner'],
  readBy: ['pruner', 'view', 'verify'],
});

export const PRIMARY_STORES = column(17, 'primary_stores', {
  partitionBytes: 32,
  orderBytes: 0,
  partition: 'address of the primary store of a row of balances',
  value: 'owner, address of the asset’s metadata',
  writtenBy: ['writer'],
  readBy: ['writer', 'verify'],
});

/** All columns, by number. */
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

/** Numbers that no column has: retired for ever, or set aside. */
export const UNUSED_COLUMN_NUMBERS: readonly {
  readonly number: number;
  readonly name: string;
  readonly why: string;
}[] = [];
