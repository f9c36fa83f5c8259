// Random rows of a ledger of any size: each is found by seeking to a random key in its column, so that nothing of the
// column is kept in memory. Keys are hashes or addresses derived from hashes, so all parts of a column are equally
// likely.
import { ACCOUNT_KEYS, EVENTS } from '../src/store/columns/columns.ts';
import { accountOf } from './ledger-contents.mjs';

/** A seeded source of numbers below 2^32. */
export function randomSource(seed = 1) {
  let state = seed >>> 0;
  return () => {
    // xorshift32 never leaves zero, so it must not start there.
    state = state === 0 ? 0x9e3779b9 : state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
}

/** Rows read at one position before trying another. */
const ROWS_AT_A_PLACE = 64;
const MAX_BYTES_AT_A_PLACE = 1024 * 1024;
/** Consecutive positions without new rows before the search ends. */
const MAX_MISSES = 1_000;

/** Rows that follow a random position of a column. */
async function rowsSomewhere(store, column, random) {
  const partition = Buffer.alloc(column.partitionBytes);
  // Starts from the lowest stream or key of a random address.
  for (let at = 0; at < 32; at += 4) partition.writeUInt32BE(random(), at);
  const after = { partition, order: Buffer.alloc(column.orderBytes[0]) };
  const page = { after, maxRows: ROWS_AT_A_PLACE, maxBytes: MAX_BYTES_AT_A_PLACE };
  return store.scan(column, page);
}

/** Up to `most` different things found at random positions. */
async function sampled(store, column, most, pick, seed = 1) {
  const random = randomSource(seed);
  const found = new Map();
  for (let misses = 0; misses < MAX_MISSES && found.size < most; misses += 1) {
    const rows = await rowsSomewhere(store, column, random);
    // Not always the first row, which would be the oldest version of a key.
    const first = rows.length === 0 ? 0 : random() % rows.length;
    for (const row of [...rows.slice(first), ...rows.slice(0, first)]) {
      const picked = pick(row);
      if (picked === undefined || found.has(picked.key)) continue;
      found.set(picked.key, picked.value);
      misses = 0;
      break;
    }
  }
  return [...found.values()];
}

/** @returns {Promise<string[]>} addresses (64 digits) of accounts */
export function randomAccounts(store, most) {
  return sampled(store, ACCOUNT_KEYS, most, (row) => {
    const address = accountOf(row);
    return address === undefined ? undefined : { key: address, value: address };
  });
}

/** @returns {Promise<{partition: Buffer, address: string, creationNumber: bigint}[]>} event streams with events */
export function randomStreams(store, most) {
  return sampled(store, EVENTS, most, ({ partition }) => {
    const key = partition.toString('hex');
    const address = key.slice(0, 64);
    return { key, value: { partition, address, creationNumber: partition.readBigUInt64BE(32) } };
  });
}
