/**
 * A process that attacks a store, or uses it under attack: `node process.mjs ROLE FOLDER ACKNOWLEDGED SEED`. The file
 * ACKNOWLEDGED has the number of the last acknowledged commit; it survives every kill. A process runs until it is
 * killed and prints what it has done. If something is wrong, it ends with `fault` and exit code 3.
 */
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { FolderLocation } from '../../../src/node/locations/folder-location.ts';
import {
  openSqliteReader,
  openSqliteSnapshot,
  openSqliteStore,
} from '../../../src/store/sqlite/sqlite-store.ts';
import { batchOf, checkAll, checkSome, headIn } from './model.mjs';

const [role, directory, acknowledgedFile, seed] = process.argv.slice(2);
/** Maximum number of unacknowledged commits. */
const MAX_PENDING = 3;
const SAY_INTERVAL_MS = 100;
const COMMITS_AT_ONCE = 300;
/** Maximum pause between reads of everything. */
const MAX_PAUSE_MS = 4_000;

let state = Number(seed) >>> 0;
/** The same generator as in test/random.ts. */
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const below = (bound) => Math.floor(random() * bound);

const done = { opens: 0, refused: 0, commits: 0, checks: 0, copies: 0 };
let saidMs = 0;
function say(isLast = false) {
  const nowMs = performance.now();
  if (nowMs - saidMs < SAY_INTERVAL_MS && !isLast) return;
  saidMs = nowMs;
  writeSync(1, `${JSON.stringify(done)}\n`);
}

function acknowledged() {
  const file = openSync(acknowledgedFile, 'r');
  const bytes = Buffer.alloc(8);
  readSync(file, bytes, 0, 8, 0);
  closeSync(file);
  return Number(bytes.readBigInt64BE());
}

function expectNotOlder(head, least) {
  if (head < least) throw new Error(`head ${head} is older than commit ${least}`);
}

/** Makes up to `most` commits as fast as it can; then closes the store, or leaves it open for a while. */
async function writing(most) {
  const file = openSync(acknowledgedFile, 'r+');
  for (;;) {
    const store = await openOrRefused();
    if (store === undefined) {
      await sleep(most > 1_000 ? 5 : below(60));
      continue;
    }
    const head = headIn(store);
    expectNotOlder(head, acknowledged());
    await commitMany(store, head + 1, 1 + below(most), file);
    if (headIn(store) < head + 1) throw new Error('its own commit is missing');
    await store.close();
    done.opens += 1;
    say();
    // Gives others a turn.
    await sleep(below(20));
  }
}

async function openOrRefused() {
  try {
    return await openSqliteStore({ directory });
  } catch (error) {
    if (error.code !== 'store_locked') throw error;
    done.refused += 1;
    done.opens += 1;
    say();
    return undefined;
  }
}

async function commitMany(store, first, count, file) {
  const pending = [];
  const bytes = Buffer.alloc(8);
  const settle = async () => {
    const { n, settled } = pending.shift();
    await settled;
    bytes.writeBigInt64BE(BigInt(n));
    writeSync(file, bytes, 0, 8, 0);
    done.commits += 1;
    say();
  };
  for (let n = first; n < first + count; n += 1) {
    pending.push({ n, settled: store.commit(batchOf(n)) });
    if (pending.length > below(MAX_PENDING + 1)) await settle();
    if (n % 50 === 0) checkSome(store, headIn(store), random);
  }
  while (pending.length > 0) await settle();
}

async function reading() {
  for (;;) {
    let least = acknowledged();
    const store = openSqliteReader({ directory });
    for (let turns = below(4); turns >= 0; turns -= 1) {
      const head = headIn(store);
      expectNotOlder(head, least);
      checkSome(store, head, random);
      done.checks += 1;
      least = Math.max(head, acknowledged());
      if (below(20) === 0) await sleep(below(100));
      else await nextTurn();
    }
    await store.close();
    done.opens += 1;
    say();
    await sleep(below(8));
  }
}

/** A reader that stays open. */
async function staying() {
  const store = openSqliteReader({ directory });
  for (let least = acknowledged(); ; least = acknowledged()) {
    const head = headIn(store);
    expectNotOlder(head, least);
    checkSome(store, head, random);
    done.checks += 1;
    say(done.checks === 1);
    await sleep(5);
  }
}

/** Reads as `daybook status` does. */
async function status() {
  for (;;) {
    const least = acknowledged();
    const store = openSqliteReader({ directory });
    expectNotOlder(headIn(store), least);
    await store.statistics();
    await store.close();
    done.opens += 1;
    say();
    await sleep(below(20));
  }
}

/** Reads everything, as `daybook verify` does. */
async function examining() {
  for (;;) {
    const least = acknowledged();
    const reader = openSqliteReader({ directory });
    const damages = await reader.examine(() => undefined);
    await reader.close();
    if (damages.length > 0) throw new Error(JSON.stringify(damages));
    expectNotOlder((await checkSnapshot(directory)).head, least);
    done.opens += 2;
    done.checks += 1;
    say();
    await sleep(below(MAX_PAUSE_MS));
  }
}

async function checkSnapshot(of) {
  const snapshot = openSqliteSnapshot({ directory: of });
  try {
    return await checkAll(snapshot);
  } finally {
    await snapshot.close();
  }
}

async function copying() {
  for (;;) {
    const to = join(directory, '..', `copy-${process.pid}`);
    const least = acknowledged();
    await new FolderLocation(to).copyStore(
      directory,
      () => undefined,
      async () => undefined,
    );
    expectNotOlder((await checkSnapshot(to)).head, least);
    rmSync(to, { recursive: true });
    done.copies += 1;
    done.opens += 1;
    say();
    await sleep(below(MAX_PAUSE_MS));
  }
}

/** Checks after a kill that everything acknowledged exists. Ends. */
async function check() {
  const least = acknowledged();
  const reader = openSqliteReader({ directory });
  const damages = await reader.examine(() => undefined);
  await reader.close();
  if (damages.length > 0) throw new Error(JSON.stringify(damages));
  const { head } = await checkSnapshot(directory);
  expectNotOlder(head, least);
  writeSync(1, `${JSON.stringify({ head, acknowledged: least })}\n`);
}

/** Makes some commits unless there is another writer. Ends. */
async function writeOnce() {
  const store = await openOrRefused();
  if (store === undefined) {
    writeSync(1, '{"locked":true}\n');
    return;
  }
  const head = headIn(store);
  await commitMany(store, head + 1, COMMITS_AT_ONCE, openSync(acknowledgedFile, 'r+'));
  await store.close();
  writeSync(1, `${JSON.stringify({ head: head + COMMITS_AT_ONCE })}\n`);
}

/** Creates the store that the others attack. */
async function make() {
  const store = await openSqliteStore({ directory });
  const file = openSync(acknowledgedFile, 'w');
  await commitMany(store, 0, COMMITS_AT_ONCE, file);
  await store.close();
}

const roles = {
  make,
  check,
  writeOnce,
  write: () => writing(20_000),
  writeLittle: () => writing(60),
  read: reading,
  stay: staying,
  status,
  examine: examining,
  copy: copying,
};
try {
  await roles[role]();
} catch (error) {
  writeSync(1, `fault ${role}: ${error.code ?? ''} ${error.stack}\n`);
  process.exit(3);
}
