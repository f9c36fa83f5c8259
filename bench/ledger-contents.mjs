// Accounts, event streams and transactions that can be requested of a ledger, read from its store.

import { transactionHashIn } from '../src/move/transactions/transaction-info.ts';
import { parsePhysicalStateKey } from '../src/move/types/state-key.ts';
import { ACCOUNT_KEYS, EVENTS, TRANSACTION_INFOS } from '../src/store/columns/columns.ts';
import { openHead } from '../src/store/columns/head.ts';
import { encodeBucketKey } from '../src/store/columns/order-key.ts';
import { openSqliteReader } from '../src/store/sqlite/sqlite-store.ts';

const PAGE = { maxRows: 5_000, maxBytes: 8 * 1024 * 1024 };

/** Rows of a column, page by page. */
export async function* columnRows(store, column) {
  let after;
  for (;;) {
    const page = await store.scan(column, { ...PAGE, after });
    if (page.length === 0) return;
    yield* page;
    after = page.at(-1);
  }
}

/** The account whose resource `0x1::account::Account` a row of `account_keys` names; `undefined` for other rows. */
export function accountOf({ partition, order }) {
  const key = parsePhysicalStateKey(Buffer.concat([Buffer.of(0), partition, order]));
  const path = key.parsed;
  const isAccount =
    path?.kind === 'resource' && path.tag.module === 'account' && path.tag.name === 'Account';
  return isAccount ? key.address : undefined;
}

/**
 * Finds accounts with coins in a coin store or a fungible store; most have only the latter.
 * @returns {Promise<{addresses: string[], total: number}>} a uniform sample of at most `most` addresses (64 digits),
 *   and the total number
 */
export async function accountAddresses(dataFolder, most) {
  const store = openSqliteReader({ directory: dataFolder });
  const random = seededRandom(1);
  const addresses = [];
  let total = 0;
  for await (const row of columnRows(store, ACCOUNT_KEYS)) {
    const address = accountOf(row);
    if (address === undefined) continue;
    total += 1;
    if (addresses.length < most) addresses.push(address);
    else {
      // Reservoir sampling: the n-th address is kept with probability most / n and replaces a random one.
      const place = Math.floor(random() * total);
      if (place < most) addresses[place] = address;
    }
  }
  await store.close();
  return { addresses, total };
}

/**
 * Transactions in random order; none for a ledger that has few, such as a genesis.
 * @returns {Promise<{version: bigint, hash: string}[]>} at most `most`; hash with 0x
 */
export async function randomTransactions(dataFolder, most) {
  const store = openSqliteReader({ directory: dataFolder });
  const { version: newest, oldestVersion } = await openHead(store);
  const versions = Array.from({ length: Number(newest - oldestVersion) + 1 }, (_, at) => at);
  const found = [];
  if (versions.length > MIN_TRANSACTIONS) {
    for (const at of shuffled(versions, 2).slice(0, most)) {
      const version = oldestVersion + BigInt(at);
      const { partition, order } = encodeBucketKey(version);
      const info = await store.get(TRANSACTION_INFOS, partition, order);
      found.push({ version, hash: `0x${transactionHashIn(info).toString('hex')}` });
    }
  }
  await store.close();
  return found;
}

/** A smaller ledger is no basis for random reads. */
const MIN_TRANSACTIONS = 1_000;

/** @returns {Promise<{address: string, creationNumber: bigint, events: number}[]>} streams, the longest first */
export async function eventStreams(dataFolder, most) {
  const store = openSqliteReader({ directory: dataFolder });
  const counts = new Map();
  for await (const { partition } of columnRows(store, EVENTS)) {
    const key = partition.toString('hex');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  await store.close();
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, most)
    .map(([key, events]) => ({
      address: key.slice(0, 64),
      creationNumber: BigInt(`0x${key.slice(64)}`),
      events,
    }));
}

/** A seeded shuffle, so that two runs request the same things in the same order. */
export function shuffled(items, seed = 1) {
  const result = [...items];
  const random = seededRandom(seed);
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [result[at], result[other]] = [result[other], result[at]];
  }
  return result;
}

/** Numbers from 0 to below 1. */
function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
