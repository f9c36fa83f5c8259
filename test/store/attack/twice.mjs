/**
 * One process that has a folder open more than once: `node --expose-gc twice.mjs WHAT FOLDER ACKNOWLEDGED`. The
 * operating system drops a process's locks on a file as soon as the process closes that file anywhere. Ends with
 * `fault` if something is wrong.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync, writeSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import {
  makeSqliteStore,
  openSqliteReader,
  openSqliteSnapshot,
  openSqliteStore,
} from '../../../src/store/sqlite/sqlite-store.ts';
import { batchOf, checkAll, checkSome, headIn } from './model.mjs';

const [what, directory, acknowledged, stops] = isMainThread ? process.argv.slice(2) : workerData;
const OTHER = fileURLToPath(new URL('process.js', import.meta.url));
const FIRST_COMMITS = 50;

function expect(isRight, text) {
  if (!isRight) throw new Error(text);
}

/** Runs another process and returns its last line. */
async function other(role) {
  const args = [OTHER, role, directory, acknowledged, '1'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

/** SQLite closes files once its statements have been garbage collected. */
async function collect() {
  for (let time = 0; time < 3; time += 1) {
    globalThis.gc?.();
    await nextTurn();
  }
}

async function commit(store, count) {
  const head = headIn(store);
  for (let n = head + 1; n <= head + count; n += 1) await store.commit(batchOf(n));
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(head + count));
  writeFileSync(acknowledged, bytes);
  return head + count;
}

async function refusedHere() {
  try {
    await (await openSqliteStore({ directory })).close();
    return false;
  } catch (error) {
    if (error.code === 'store_locked') return true;
    throw error;
  }
}

async function make() {
  await makeSqliteStore({ directory }, (store) => commit(store, FIRST_COMMITS));
}

/** Starts another process that reads all the time. @returns a function that ends it */
async function otherReader() {
  const child = spawn(process.execPath, [OTHER, 'stay', directory, acknowledged, '1']);
  let said = '';
  child.stdout.on('data', (text) => {
    said += text;
  });
  await once(child.stdout, 'data');
  return () => {
    child.kill('SIGKILL');
    expect(!said.includes('fault'), said);
  };
}

/** Checks the store beside readers that open and close. */
async function storeAndReaders(store) {
  const endOther = await otherReader();
  for (let round = 0; round < 3; round += 1) {
    const [one, two] = [openSqliteReader({ directory }), openSqliteReader({ directory })];
    expect(await refusedHere(), 'it was opened for writing twice');
    const head = await commit(store, 20);
    for (const reader of [one, two, store]) expect(headIn(reader) === head, 'a commit is missing');
    await one.close();
    await collect();
    expect((await other('writeOnce')).locked === true, 'another process could write too');
    expect((await other('check')).head === head, 'another process reads an older head');
    checkSome(two, headIn(two), Math.random);
    await two.close();
    await collect();
  }
  expect((await other('writeOnce')).locked === true, 'another process could write at last');
  endOther();
}

const scenarios = {
  async store() {
    await make();
    const store = await openSqliteStore({ directory });
    await storeAndReaders(store);
    await store.close();
    expect((await other('writeOnce')).head > 0, 'nobody could write afterwards');
  },

  /** Creates the store itself, and continues with it. */
  async created() {
    const store = await openSqliteStore({ directory });
    await commit(store, FIRST_COMMITS);
    await storeAndReaders(store);
    await store.close();
    expect((await other('writeOnce')).head > 0, 'nobody could write afterwards');
  },

  async readers() {
    await make();
    const [one, two] = [openSqliteReader({ directory }), openSqliteReader({ directory })];
    const snapshot = openSqliteSnapshot({ directory });
    const head = headIn(one);
    expect((await checkAll(snapshot)).head === head, 'the snapshot is another');
    await two.close();
    await collect();
    // A writer checkpoints the log into the file, closes, and removes unused files.
    let newest = head;
    for (let time = 0; time < 4; time += 1) {
      newest = (await other('writeOnce')).head;
      expect(headIn(one) === newest, `the reader is at ${headIn(one)}, not at ${newest}`);
      checkSome(one, newest, Math.random);
      expect((await checkAll(snapshot)).head === head, 'the snapshot has changed');
      const third = openSqliteReader({ directory });
      expect(headIn(third) === newest, 'a new reader is older');
      await third.close();
      await collect();
    }
    await snapshot.close();
    await one.close();
  },

  async threads() {
    await make();
    const faults = [];
    const start = (role) => {
      // Stopped through a flag: terminating the thread during a call of SQLite makes the package (1.2.1) end the
      // process.
      const stop = new Int32Array(new SharedArrayBuffer(4));
      const thread = new Worker(new URL(import.meta.url), {
        workerData: [role, directory, acknowledged, stop],
      });
      thread.on('message', (fault) => faults.push(fault));
      thread.on('error', (error) => faults.push(error.stack));
      const ended = once(thread, 'exit');
      return async () => {
        stop[0] = 1;
        await ended;
      };
    };
    const endWriter = start('writes');
    const [endReader, endOther] = [start('reads'), start('reads')];
    await sleep(1_500);
    expect((await other('writeOnce')).locked === true, 'another process could write');
    await endReader();
    expect((await other('writeOnce')).locked === true, 'another process could write afterwards');
    await other('check');
    await endWriter();
    await other('check');
    await endOther();
    expect((await other('writeOnce')).head > 0, 'nobody could write afterwards');
    expect(faults.length === 0, faults.join('\n'));
  },
};

/** Roles of worker threads. */
const works = {
  async writes() {
    const store = await openSqliteStore({ directory });
    while (Atomics.load(stops, 0) === 0) {
      const head = await commit(store, 5);
      expect(headIn(store) === head, 'its own commit is missing');
    }
    await store.close();
  },
  async reads() {
    for (let seen = -1; Atomics.load(stops, 0) === 0; ) {
      const reader = openSqliteReader({ directory });
      const head = headIn(reader);
      expect(head >= seen, `head ${head} after ${seen}`);
      seen = head;
      checkSome(reader, head, Math.random);
      await reader.close();
      // Succeeds in opening for a moment if the other thread has closed.
      if (seen % 10 === 4) await refusedHere();
      await nextTurn();
    }
  },
};

try {
  if (isMainThread) await scenarios[what]();
  else await works[what]();
} catch (error) {
  if (isMainThread) {
    writeSync(1, `fault ${what}: ${error.stack}\n`);
    process.exit(3);
  } else parentPort.postMessage(`${what}: ${error.stack}`);
}
