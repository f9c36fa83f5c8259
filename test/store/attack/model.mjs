/**
 * The contents of a store after commit `head`, as a function of that number alone, so that every process can check what
 * it reads. Commit n puts some rows into most columns and deletes those that commit n - WINDOW has put.
 */
import { createHash } from 'node:crypto';
import { Batch } from '../../../src/store/batch.ts';
import * as columns from '../../../src/store/columns/columns.ts';
import { HEAD_KEY, HEAD_ROW } from '../../../src/store/columns/head.ts';
import { LEDGER_IDENTITY, LEDGER_KEY } from '../../../src/store/columns/identity-column.ts';
import { NO_ORDER } from '../../../src/store/columns/order-key.ts';

const { ACCOUNT_KEYS, BALANCES, EPOCHS, EVENTS, HEAD, IDENTITY, MODULE_EVENTS, STATE } = columns;
const { TRANSACTIONS, TRANSACTION_HASHES, TRANSACTION_INFOS, VERSION_WRITES } = columns;
const VERSION_COLUMNS = [TRANSACTION_INFOS, TRANSACTIONS, VERSION_WRITES, MODULE_EVENTS];

/** Rows of older commits are deleted, except in columns that keep all rows. */
const WINDOW = 5_000;
/** Prime, so that the keys of one commit differ. */
const STATE_KEYS = 20_011;
const KEY_STEP = 7_919;
const STREAMS = 97;
const ACCOUNTS = 1_009;
/** Rows of balances: each is put again after this many commits. */
const BALANCE_ROWS = 7 * ACCOUNTS;
/** Number of commits between the put of a balance and its deletion, which happens to one in eleven. */
const BALANCE_AGE = 4_063;
const DELETES_BALANCE = 11;
const KEEPS_EPOCH = 64;
const MARK_BYTES = 8;
const MAX_HASHES = 50_000;
const FILLING = Buffer.alloc(1 << 20);
for (let at = 0, state = 7; at < FILLING.length; at += 1) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  // Half of it is compressible.
  FILLING[at] = at & 64 ? state >>> 24 : at >>> 8;
}

function mix(number, salt) {
  let mixed = Math.imul(number ^ (salt * 0x9e37_79b1), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function u64(number) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  return bytes;
}

const hashes = new Map();
/** The same bytes for the same name; most names are used repeatedly. */
function hash32(name) {
  let hash = hashes.get(name);
  if (hash === undefined) {
    hash = createHash('sha256').update(name).digest();
    if (hashes.size > MAX_HASHES) hashes.clear();
    hashes.set(name, hash);
  }
  return hash;
}

function bytesOf(number, tag, length) {
  const value = Buffer.allocUnsafe(MARK_BYTES + length);
  value.writeUIntBE(number, 0, 6);
  value.writeUInt16BE(tag, 6);
  const from = mix(number, tag) % (FILLING.length - length);
  FILLING.copy(value, MARK_BYTES, from, from + length);
  return value;
}

function versionKey(number) {
  const bytes = u64(number);
  return [bytes.subarray(0, 6), bytes.subarray(6)];
}

function stateLength(number, index) {
  if (number % 97 === 0) return 6_000;
  return [30, 200, 500, 60][(number + index) % 4];
}

function transactionLength(number) {
  if (number % 5_003 === 0) return 300_000;
  if (number % 301 === 0) return 60_000;
  return 100 + (mix(number, 5) % 700);
}

/** The rows of each column that commit n puts. */
const PUTS = new Map([
  [TRANSACTION_INFOS, (n) => [[...versionKey(n), bytesOf(n, 1, 110)]]],
  [TRANSACTIONS, (n) => [[...versionKey(n), bytesOf(n, 2, transactionLength(n))]]],
  [VERSION_WRITES, (n) => [[...versionKey(n), bytesOf(n, 3, 40)]]],
  [
    MODULE_EVENTS,
    (n) =>
      Array.from({ length: n % 3 }, (_, index) => {
        const [partition, order] = versionKey(n);
        return [
          partition,
          Buffer.concat([order, Buffer.of(0, 0, 0, index)]),
          bytesOf(n, index, 60),
        ];
      }),
  ],
  [
    STATE,
    (n) =>
      Array.from({ length: n % 4 }, (_, index) => {
        const key = (mix(n, 9) + index * KEY_STEP) % STATE_KEYS;
        return [hash32(`state ${key}`), u64(n), bytesOf(n, index, stateLength(n, index))];
      }),
  ],
  [EVENTS, (n) => [[streamOf(n), u64(n), bytesOf(n, 4, 12)]]],
  [BALANCES, (n) => [[...balanceKey(n % BALANCE_ROWS), bytesOf(n, 5, 16)]]],
  [TRANSACTION_HASHES, (n) => [[u64(mix(n, 11) * 2 ** 20), u64(n), bytesOf(n, 6, 0)]]],
  [
    ACCOUNT_KEYS,
    (n) => {
      const order = Buffer.alloc(8 + (n % 500 === 0 ? 1_000 : n % 40), 0x6b);
      order.writeBigUInt64BE(BigInt(n));
      return [[hash32(`account ${n % ACCOUNTS}`), order, bytesOf(n, 7, 0)]];
    },
  ],
  [EPOCHS, (n) => (n % KEEPS_EPOCH === 0 ? [[Buffer.of(0), u64(n), bytesOf(n, 8, 24)]] : [])],
]);

function streamOf(n) {
  return Buffer.concat([hash32(`stream ${n % STREAMS}`), u64(n % STREAMS)]);
}

function balanceKey(row) {
  return [hash32(`account ${row % ACCOUNTS}`), hash32(`asset ${row % 7}`)];
}

/** Whether the row that commit n put exists after commit `head`. */
function isThere(column, n, head) {
  if (n > head) return false;
  if (column === EPOCHS) return true;
  if (column !== BALANCES) return n + WINDOW > head;
  const deletion = n + BALANCE_AGE;
  return n + BALANCE_ROWS > head && !(deletion <= head && deletion % DELETES_BALANCE === 0);
}

function headOf(n) {
  const number = BigInt(n);
  let roots = 0;
  for (let rest = number + 1n; rest > 0n; rest >>= 1n) roots += Number(rest & 1n);
  return {
    ...{ version: number, timestampUsecs: number, epoch: 1n, blockHeight: number },
    ...{ oldestVersion: 0n, oldestBlockHeight: 0n },
    frozenRoots: Array.from({ length: roots }, (_, index) => hash32(`root ${index}`)),
  };
}

const IDENTITY_VALUE = {
  chainId: 4,
  genesisWaypointHash: hash32('waypoint'),
  keepsTransactions: true,
};

/** The changes of commit n. */
export function batchOf(n) {
  const batch = new Batch();
  for (const [column, rowsOf] of PUTS) {
    for (const [partition, order, value] of rowsOf(n)) batch.put(column, partition, order, value);
  }
  if (n === 0) LEDGER_IDENTITY.put(batch, undefined, IDENTITY_VALUE);
  if (n % DELETES_BALANCE === 0 && n >= BALANCE_AGE) {
    batch.delete(BALANCES, ...balanceKey((n - BALANCE_AGE) % BALANCE_ROWS));
  }
  const old = n - WINDOW;
  if (old >= 0) {
    const [partition, order] = versionKey(old);
    batch.clearVersion({ partition, order });
    for (const [column, rowsOf] of PUTS) {
      if (VERSION_COLUMNS.includes(column) || column === BALANCES || column === EPOCHS) continue;
      for (const [partition, order] of rowsOf(old)) {
        if (column === EVENTS) batch.deleteRange(column, partition, { to: order });
        else batch.delete(column, partition, order);
      }
    }
  }
  HEAD_ROW.publish(batch, undefined, headOf(n));
  return batch;
}

/** The number of the last commit; -1 if there is none. */
export function headIn(store) {
  const bytes = store.get(HEAD, HEAD_KEY.partition, NO_ORDER);
  return bytes === undefined ? -1 : Number(HEAD_ROW.decode(HEAD_KEY, bytes).version);
}

class Fault extends Error {}

function expectSame(what, found, expected) {
  const isSame =
    found === undefined || expected === undefined
      ? found === expected
      : Buffer.compare(found, expected) === 0;
  if (isSame) return;
  const shown = (bytes) => bytes?.subarray(0, 24).toString('hex') ?? 'nothing';
  throw new Fault(`${what}: ${shown(found)}, expected ${shown(expected)}`);
}

/** Checks that some rows are those after commit `head`, all in one turn of the event loop. */
export function checkSome(store, head, random) {
  const low = Math.max(0, head - WINDOW - 40);
  for (let left = 4; left > 0; left -= 1) {
    const n = low + Math.floor(random() * (head + 8 - low));
    for (const [column, rowsOf] of PUTS) {
      // Another value may exist for the balance that commit n put.
      if (column === BALANCES && !isThere(column, n, head)) continue;
      for (const [partition, order, value] of rowsOf(n)) {
        const expected = isThere(column, n, head) ? value : undefined;
        const what = `${column.name} of commit ${n} at head ${head}`;
        expectSame(what, store.get(column, partition, order), expected);
        if (expected === undefined || column === ACCOUNT_KEYS) continue;
        expectSame(`last ${what}`, store.seekLast(column, partition, order)?.value, expected);
      }
    }
  }
  checkStream(store, head, Math.floor(random() * STREAMS), random() < 0.5);
}

/** A stream has an event of every 97th commit. */
function checkStream(store, head, stream, reverse) {
  const newest = head - ((head - stream + STREAMS) % STREAMS);
  const expected = [];
  for (let n = newest; n >= 0 && isThere(EVENTS, n, head); n -= STREAMS) expected.push(n);
  if (!reverse) expected.reverse();
  const rows = store.range(EVENTS, streamOf(stream), { limit: 10_000, reverse });
  const found = rows.map(({ order }) => Number(order.readBigUInt64BE()));
  if (found.join() === expected.join()) return;
  throw new Fault(`stream ${stream} at head ${head}: ${found.join()}, expected ${expected.join()}`);
}

/** Checks every row of a snapshot. @returns the number of its last commit, and its rows */
export async function checkAll(snapshot) {
  const counts = new Map();
  let head = -1;
  let rows = 0;
  for await (const row of rowsOf(snapshot, HEAD)) head = numberOfHead(row);
  for await (const row of rowsOf(snapshot, IDENTITY)) {
    const isLedger = Buffer.compare(row.partition, LEDGER_KEY.partition) === 0;
    if (isLedger) expectSame('identity', row.value, LEDGER_IDENTITY.encode(IDENTITY_VALUE));
  }
  for (const [column, putsOf] of PUTS) {
    for await (const { partition, order, value } of rowsOf(snapshot, column)) {
      const n = value.readUIntBE(0, 6);
      const put = putsOf(n).find(
        ([p, o]) => Buffer.compare(p, partition) === 0 && Buffer.compare(o, order) === 0,
      );
      expectSame(`${column.name} of commit ${n} at head ${head}`, value, put?.[2]);
      if (!isThere(column, n, head)) {
        throw new Fault(`${column.name} of commit ${n} is there at head ${head}`);
      }
      counts.set(column, (counts.get(column) ?? 0) + 1);
      rows += 1;
    }
  }
  for (const [column, putsOf] of PUTS) {
    let expected = 0;
    const low = column === EPOCHS ? 0 : Math.max(0, head - BALANCE_ROWS);
    for (let n = low; n <= head; n += 1) {
      if (isThere(column, n, head)) expected += putsOf(n).length;
    }
    const found = counts.get(column) ?? 0;
    if (found === expected) continue;
    throw new Fault(`${column.name} has ${found} rows, expected ${expected}, at head ${head}`);
  }
  return { head, rows };
}

function numberOfHead({ partition, order, value }) {
  return Number(HEAD_ROW.decode({ partition, order }, value).version);
}

/** The rows of a column; each key must be greater than the previous one. */
async function* rowsOf(snapshot, column) {
  let last;
  for (;;) {
    const page = await snapshot.scan(column, { after: last, maxRows: 2_000, maxBytes: 1 << 22 });
    if (page.length === 0) return;
    for (const row of page) {
      if (last !== undefined && compareKeys(last, row) >= 0) {
        throw new Fault(`${column.name} is out of order`);
      }
      last = row;
      yield row;
    }
  }
}

function compareKeys(a, b) {
  return Buffer.compare(a.partition, b.partition) || Buffer.compare(a.order, b.order);
}
