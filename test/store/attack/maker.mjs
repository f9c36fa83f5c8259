/**
 * A process that creates ledgers, or looks at folders in which others do: `node maker.mjs maker`. It reads lines, `WHAT
 * FOLDER SEED`, and answers each with a line. A ledger's contents follow from its seed.
 */
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batch } from '../../../src/store/batch.ts';
import { HEAD, STATE, TRANSACTION_INFOS } from '../../../src/store/columns/columns.ts';
import { HEAD_KEY } from '../../../src/store/columns/head.ts';
import { encodeU64Key, NO_ORDER } from '../../../src/store/columns/order-key.ts';
import {
  makeSqliteStore,
  openSqliteReader,
  openSqliteStore,
} from '../../../src/store/sqlite/sqlite-store.ts';

const COMMITS = 4;
const ROWS_OF_COMMIT = 8;
const ROWS = COMMITS * ROWS_OF_COMMIT;
/** How long a reader watches a folder, in milliseconds. */
const LOOK_MS = 60;

const rowsOf = (seed, index) => {
  const version = encodeU64Key(BigInt(index));
  return [
    [TRANSACTION_INFOS, version.subarray(0, 6), version.subarray(6), Buffer.from(`info ${seed}`)],
    [STATE, Buffer.alloc(32, index), version, Buffer.from(`state ${index} of ${seed} `.repeat(20))],
  ];
};

async function commit(store, seed, from, to) {
  const batch = new Batch();
  for (let index = from; index < to; index += 1) {
    for (const row of rowsOf(seed, index)) batch.put(...row);
  }
  await store.commit(
    batch.publish(HEAD, HEAD_KEY.partition, NO_ORDER, Buffer.from(`${seed} ${to}`)),
  );
}

/** The seed of a store's ledger; `undefined` without a ledger. */
function seedOf(store) {
  const head = store.get(HEAD, HEAD_KEY.partition, NO_ORDER);
  if (head === undefined) return undefined;
  const [seed, rows] = String(head).split(' ').map(Number);
  if (rows !== ROWS) throw new Error(`a ledger of ${rows} rows is there`);
  for (let index = 0; index < ROWS; index += 1) {
    for (const [column, partition, order, value] of rowsOf(seed, index)) {
      const found = store.get(column, partition, order);
      if (found?.equals(value) !== true) throw new Error(`row ${index} of ${seed} is ${found}`);
    }
  }
  return seed;
}

/** Creates a ledger as `daybook sample` and `daybook init` do. */
async function make(directory, seed) {
  await makeSqliteStore({ directory, resumes: false }, async (store) => {
    for (let done = 0; done < ROWS; done += ROWS_OF_COMMIT) {
      await commit(store, seed, done, done + ROWS_OF_COMMIT);
      if (seed % 3 === 0) await sleep(seed % 7);
    }
  });
  return { made: seed };
}

/** Creates a ledger as `daybook follow` does. */
async function create(directory, seed) {
  const store = await openSqliteStore({ directory });
  try {
    const found = seedOf(store);
    if (found !== undefined) return { error: 'store_exists', found };
    if (seed % 2 === 0) await sleep(seed % 11);
    await commit(store, seed, 0, ROWS);
    return { made: seed };
  } finally {
    await store.close();
  }
}

/** Returns the seed found, `null` for a store without a ledger, or an error. */
async function look(directory) {
  let store;
  try {
    store = openSqliteReader({ directory });
    return { found: seedOf(store) ?? null };
  } catch (error) {
    if (error.code === undefined) throw error;
    return { error: error.code };
  } finally {
    await store?.close();
  }
}

/** Looks again and again. A ledger that has appeared must stay. */
async function watch(directory) {
  let seen;
  let looks = 0;
  for (const endMs = performance.now() + LOOK_MS; performance.now() < endMs; looks += 1) {
    const { found, error } = await look(directory);
    if (error !== undefined && error !== 'store_not_found') throw new Error(`reading: ${error}`);
    if (seen !== undefined && found !== seen) throw new Error(`${seen} has become ${found}`);
    seen = found ?? undefined;
    await sleep(0);
  }
  return { looks };
}

/** Returns the result of `look`, and the names of the files. */
async function list(directory) {
  return { ...(await look(directory)), files: readdirSync(directory) };
}

const works = { make, create, look, watch, list };
for await (const line of createInterface({ input: process.stdin })) {
  const [what, directory, seed] = line.split(' ');
  try {
    console.log(JSON.stringify(await works[what](directory, Number(seed))));
  } catch (error) {
    if (error.code === undefined || what === 'watch') {
      console.log(`fault ${what}: ${error.stack}`);
      process.exit(3);
    }
    console.log(JSON.stringify({ error: error.code, message: error.message }));
  }
}
