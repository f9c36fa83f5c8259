// Commits to a growing store: processor time of the main thread and of the other threads, and bytes that the system
// counts as written to disk, per transaction. The rows are those of a commit of 2,500 transactions with random keys and
// bytes, so that a large store takes minutes to fill. BENCH_TRANSACTIONS sets how many. BENCH_OTHER names the folder of
// another build, whose store grows after this one's.
import { randomFillSync } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { bundleForNow } from '../scripts/bundle.mjs';
import { temporaryFolder } from './ledgers.mjs';
import { randomSource } from './random-keys.mjs';

/** The modules used here, then the store's thread. */
const STORE_SOURCES = [
  ...['columns/columns', 'columns/order-key', 'sqlite/sqlite-store', 'sqlite/files', 'batch'],
  'sqlite/commit-worker',
];

export const name = 'commits';
export const title = 'Commits: processor time and written bytes while a store grows';

const TRANSACTIONS = Number(process.env.BENCH_TRANSACTIONS ?? 100_000);
const COMMIT_TRANSACTIONS = 2_500;
const PARTS = 10;
const STATE_KEYS = 400_000;
const SENDERS = 200_000;
const HASH_BYTES = 32;
/** Bytes unique to a transaction; its info, its writes and its state repeat them. */
const OWN_BYTES = 700;
/** Start and end of the info within a transaction's own bytes. */
const INFO = [0, 150];
const STATE_AT = 150;
const STATE_BYTES = 180;
const WRITES = 3;

function rowsOfTransaction({ columns, orderKey }, batch, version, own, keys, random) {
  const { partition, order } = orderKey.encodeBucketKey(BigInt(version));
  const at = orderKey.encodeU64Key(BigInt(version));
  const repeated = [own, own.subarray(0, 400), own.subarray(100, 600)];
  batch.put(columns.TRANSACTION_INFOS, partition, order, own.subarray(...INFO));
  batch.put(columns.TRANSACTIONS, partition, order, Buffer.concat(repeated));
  batch.put(columns.TRANSACTION_HASHES, own.subarray(0, 8), at, Buffer.alloc(0));
  const sender = random(SENDERS);
  const sequence = Buffer.alloc(9);
  sequence[0] = 1;
  sequence.writeUInt32BE(keys.sequence[sender]++, 5);
  const senderAt = sender * HASH_BYTES;
  const address = keys.senders.subarray(senderAt, senderAt + HASH_BYTES);
  batch.put(columns.ACCOUNT_TRANSACTIONS, address, sequence, at);
  for (let write = 0; write < WRITES; write += 1) {
    const keyAt = random(STATE_KEYS) * HASH_BYTES;
    const from = STATE_AT + write * STATE_BYTES;
    const value = own.subarray(from, from + STATE_BYTES);
    batch.put(columns.STATE, keys.state.subarray(keyAt, keyAt + HASH_BYTES), at, value);
  }
  // A state key that two of five transactions write.
  if (version % 5 < 2) {
    batch.put(columns.STATE, keys.state.subarray(0, HASH_BYTES), at, own.subarray(0, 100));
  }
}

/** Processor time of the main thread, and of all others: the committing thread and the garbage collector's threads. */
function processorMs() {
  let [main, engine] = [0, 0];
  for (const thread of readdirSync('/proc/self/task')) {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ms = (Number(fields[11]) + Number(fields[12])) * 10;
    if (Number(thread) === process.pid) main += ms;
    else engine += ms;
  }
  return { main, engine };
}

function writtenBytes() {
  return Number(/write_bytes: (\d+)/.exec(readFileSync('/proc/self/io', 'latin1'))[1]);
}

async function grow(build, directory, log) {
  const fileOf = await bundleForNow(
    resolve(build),
    STORE_SOURCES.map((path) => `store/${path}.ts`),
  );
  const [columns, orderKey, { openSqliteStore }, { storeFileBytes }, { Batch }] = await Promise.all(
    STORE_SOURCES.slice(0, -1).map((path) => import(fileOf(basename(path)))),
  );
  const source = randomSource(5);
  const random = (below) => Math.floor((source() / 2 ** 32) * below);
  const keys = {
    state: randomFillSync(Buffer.allocUnsafe(STATE_KEYS * HASH_BYTES)),
    senders: randomFillSync(Buffer.allocUnsafe(SENDERS * HASH_BYTES)),
    sequence: new Uint32Array(SENDERS),
  };
  const store = await openSqliteStore({ directory });
  const rows = [];
  try {
    const every = Math.ceil(TRANSACTIONS / PARTS / COMMIT_TRANSACTIONS) * COMMIT_TRANSACTIONS;
    let before = { ...processorMs(), written: writtenBytes() };
    for (let version = 0; version < every * PARTS; ) {
      const batch = new Batch();
      const bytes = randomFillSync(Buffer.allocUnsafe(COMMIT_TRANSACTIONS * OWN_BYTES));
      for (let at = 0; at < bytes.length; at += OWN_BYTES, version += 1) {
        const own = bytes.subarray(at, at + OWN_BYTES);
        rowsOfTransaction({ columns, orderKey }, batch, version, own, keys, random);
      }
      await store.commit(batch);
      if (version % every > 0) continue;
      const after = { ...processorMs(), written: writtenBytes() };
      const row = {
        version,
        mainMicros: ((after.main - before.main) * 1_000) / every,
        engineMicros: ((after.engine - before.engine) * 1_000) / every,
        writtenBytes: (after.written - before.written) / every,
        fileBytes: storeFileBytes(directory),
      };
      const figures = [row.mainMicros, row.engineMicros].map((micros) => `${micros.toFixed(1)} µs`);
      log(
        `up to ${version}: main thread ${figures[0]}, other threads ${figures[1]}, ` +
          `${row.writtenBytes.toFixed(0)} bytes a transaction`,
      );
      rows.push(row);
      before = after;
    }
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
  return rows;
}

/** @param {{log: (line: string) => void}} options */
export async function run({ log }) {
  const folder = temporaryFolder();
  const builds = { this: '.', ...(process.env.BENCH_OTHER && { other: process.env.BENCH_OTHER }) };
  const results = {};
  for (const [build, path] of Object.entries(builds)) {
    log(`${build} build`);
    results[build] = await grow(path, join(folder, build), log);
  }
  return results;
}
