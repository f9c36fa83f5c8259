/**
 * Damages a ledger in one place at a time and reads everything: `node flips.mjs ROLE SOUND DAMAGED PART`. The role
 * `remake` copies a ledger in many small commits, so that it has runs of several sizes, a log and long values of its
 * own. The role `flip` reads lines, `start` first, then `OFFSET MASK API`, and answers each with the result of that
 * flip. PART is the share of rows that are read one by one.
 */
import { createHash } from 'node:crypto';
import { cpSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Batch } from '../../../src/store/batch.ts';
import { COLUMNS, HEAD, IDENTITY, STATE_KEYS } from '../../../src/store/columns/columns.ts';
import { NO_ORDER } from '../../../src/store/columns/order-key.ts';
import { decodeManifest } from '../../../src/store/sqlite/runs/manifest.ts';
import { SqliteDatabase } from '../../../src/store/sqlite/sqlite-database.ts';
import { makeSqliteStore, openSqliteReader } from '../../../src/store/sqlite/sqlite-store.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { verifyLedger } from '../../../src/verify/ledger.ts';
import { Questions, rowsOf } from './questions.mjs';
import { Requests } from './requests.mjs';

const [role, sound, damaged, part] = process.argv.slice(2);
const ROWS_OF_COMMIT = 250;
/** Rows that are put and deleted again, and whose remains fill runs. */
const EXTRA_ROWS = 30_000;

const say = (answer) => console.log(JSON.stringify(answer));

async function remake() {
  const from = openSqliteReader({ directory: sound });
  const all = COLUMNS.flatMap((column) => rowsOf(from, column).map((row) => ({ ...row, column })));
  const isFixed = ({ column }) => column === IDENTITY || column === HEAD;
  const rows = all.filter((row) => !isFixed(row));
  const extra = Array.from({ length: EXTRA_ROWS }, (_, at) => {
    return createHash('sha256').update(`extra ${at}`).digest();
  });
  await makeSqliteStore({ directory: damaged }, async (store) => {
    const change = async (some, add) => {
      const batch = new Batch();
      for (const row of some) add(batch, row);
      await store.commit(batch);
    };
    const inParts = async (list, add) => {
      for (let at = 0; at < list.length; at += ROWS_OF_COMMIT) {
        await change(list.slice(at, at + ROWS_OF_COMMIT), add);
      }
    };
    const put = (batch, { column, partition, order, value }) =>
      batch.put(column, partition, order, value);
    await inParts(extra, (batch, key) => batch.put(STATE_KEYS, key, NO_ORDER, key));
    // One commit has all rows of a version together.
    await change(rows, put);
    await inParts(rows, put);
    await inParts(extra, (batch, key) => batch.delete(STATE_KEYS, key, NO_ORDER));
    await change(all.filter(isFixed), put);
  });
  const database = new SqliteDatabase(join(damaged, 'ledger.db'), { readOnly: true });
  const { runs, logFrom, logTo } = decodeManifest(database.read('manifest', 0));
  say({ runs: runs.map(({ entries }) => entries), logRows: logTo - logFrom + 1 });
}

class Damaging {
  #file;
  #questions;
  #requests;

  async start() {
    rmSync(damaged, { recursive: true, force: true });
    cpSync(sound, damaged, { recursive: true });
    // Never closed: closing it would release SQLite's locks.
    this.#file = openSync(join(damaged, 'ledger.db'), 'r+');
    const store = openSqliteReader({ directory: damaged });
    this.#questions = new Questions(store, Number(part));
    await store.close();
    this.#requests = await Requests.of(damaged);
    return { questions: this.#questions.count, requests: this.#requests.count };
  }

  async flip(offset, mask, asksApi) {
    this.#change(offset, mask);
    try {
      const found = { wrong: [], codes: {} };
      await this.#ask(found);
      if (asksApi) await this.#requests.ask(damaged, found);
      return { ...found, verify: await this.#verify() };
    } finally {
      this.#change(offset, mask);
    }
  }

  #change(offset, mask) {
    const byte = Buffer.alloc(1);
    readSync(this.#file, byte, 0, 1, offset);
    byte[0] ^= mask;
    writeSync(this.#file, byte, 0, 1, offset);
  }

  async #ask(found) {
    let store;
    try {
      store = openSqliteReader({ directory: damaged });
    } catch (error) {
      if (!(error instanceof StoreError)) found.wrong.push(`opening: ${error.stack}`);
      found.codes[`opening ${error.code}`] = 1;
      return;
    }
    this.#questions.ask(store, found);
    await store.close();
  }

  /** Verifies as `daybook verify` does. */
  async #verify() {
    let store;
    try {
      store = openSqliteReader({ directory: damaged });
      const { damageCount, damages } = await verifyLedger(store);
      return damageCount === 0 ? 'sound' : `found: ${damages[0].column} ${damages[0].detail}`;
    } catch (error) {
      return error instanceof StoreError ? `refused: ${error.code}` : `failed: ${error.stack}`;
    } finally {
      await store?.close();
    }
  }
}

if (role === 'remake') await remake();
else {
  const damaging = new Damaging();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'start') {
      say(await damaging.start());
      continue;
    }
    const [offset, mask, asksApi] = line.split(' ').map(Number);
    say(await damaging.flip(offset, mask, asksApi === 1));
  }
  process.exit();
}
