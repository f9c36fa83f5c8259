/** Reads of every row of a sound store, with their results: another store returns the same, or an error. */
import { crc32 } from 'node:zlib';
import { COLUMNS } from '../../../src/store/columns/columns.ts';
import { placeOf } from '../../../src/store/sqlite/version-record.ts';
import { StoreError } from '../../../src/store/store-error.ts';

const PAGE = { maxRows: 1_000, maxBytes: 1 << 22 };
const RANGE_ROWS = 30;
const MAX_WRONG = 5;
/** Share of single reads in columns by version. It is small because their rows are in few large records. */
const SOUGHT_BY_VERSION = 0.05;

/** All rows of a column. */
export function rowsOf(store, column) {
  const rows = [];
  for (;;) {
    const page = store.scan(column, { ...PAGE, after: rows[rows.length - 1] });
    if (page.length === 0) return rows;
    for (const row of page) rows.push(row);
  }
}

/** A checksum of rows. */
function digestOf(rows) {
  let digest = rows.length;
  for (const { partition, order, value } of rows) {
    if (partition !== undefined) digest = crc32(partition, digest);
    digest = crc32(value, crc32(order, digest));
  }
  return digest;
}

const digestOfValue = (value) => (value === undefined ? -1 : crc32(value));
const digestOfRow = (row) => (row === undefined ? -1 : digestOf([row]));

/** The order key one step up or down; `undefined` for a key without order. */
function near(order, step) {
  if (order.length === 0) return undefined;
  const other = Buffer.from(order);
  for (let at = other.length - 1; at >= 0; at -= 1) {
    other[at] = (other[at] + step) & 0xff;
    if (other[at] !== (step > 0 ? 0 : 0xff)) break;
  }
  return other;
}

export class Questions {
  #questions = [];
  #rows = new Map();

  /** @param part share of the rows that are read one by one */
  constructor(store, part) {
    for (const column of COLUMNS) {
      const rows = rowsOf(store, column);
      const keys = rows.map(({ partition, order }) => nameOf(partition, order));
      this.#rows.set(column, new Map(rows.map((row, at) => [keys[at], digestOf([row])])));
      let last;
      rows.forEach((row, at) => {
        const isNew = last === undefined || !row.partition.equals(last);
        last = row.partition;
        const chance = (Math.imul(at, 0x9e37_79b1) >>> 0) / 2 ** 32;
        const isSought = placeOf(column) === undefined || chance < part * SOUGHT_BY_VERSION;
        if (chance < part) this.#ofRow(column, row, isSought);
        if (isNew && (Math.imul(at, 0x85eb_ca6b) >>> 0) / 2 ** 32 < part) {
          this.#ofPartition(column, row);
        }
      });
      this.#ofPartition(column, {
        partition: Buffer.alloc(column.partitionBytes, 0x5a),
        order: Buffer.alloc(column.orderBytes[0], 0x5a),
      });
    }
    for (const question of this.#questions) question.answer = question.ask(store);
  }

  get count() {
    return this.#questions.length;
  }

  #ofRow(column, { partition, order }, isSought) {
    const get = (what, key) =>
      this.#add(`get ${what}`, column, partition, key, (store) =>
        digestOfValue(store.get(column, partition, key)),
      );
    const seek = (what, key) =>
      isSought &&
      this.#add(`seek ${what}`, column, partition, key, (store) =>
        digestOfRow(store.seekLast(column, partition, key)),
      );
    get('row', order);
    seek('row', order);
    for (const step of [1, -1]) {
      const key = near(order, step);
      if (key === undefined) continue;
      get(`${step}`, key);
      seek(`${step}`, key);
    }
    const other = near(partition, 1);
    this.#add('get other', column, other, order, (store) =>
      digestOfValue(store.get(column, other, order)),
    );
  }

  #ofPartition(column, { partition, order }) {
    const range = (what, query) =>
      this.#add(`range ${what}`, column, partition, order, (store) =>
        digestOf(store.range(column, partition, { limit: RANGE_ROWS, ...query })),
      );
    range('up', {});
    range('down', { reverse: true });
    range('from', { from: order });
    range('to', { to: order, reverse: true });
  }

  #add(what, column, partition, order, ask) {
    const name = () => `${what} ${column.name} ${nameOf(partition, order)}`;
    this.#questions.push({ name, ask, answer: undefined });
  }

  /** Records wrong results, and the codes of errors. */
  ask(store, found) {
    for (const { name, ask, answer } of this.#questions) {
      const given = attempt(found, name, () => ask(store));
      if (given !== undefined && given !== answer) note(found, `${name()}: ${given} for ${answer}`);
    }
    for (const column of COLUMNS) this.#scan(store, column, found);
    attempt(
      found,
      () => 'statistics',
      () => store.statistics(),
    );
  }

  /** Every row that is read is right. All rows are read unless there was an error. */
  #scan(store, column, found) {
    const expected = this.#rows.get(column);
    let after;
    let count = 0;
    let errors = 0;
    for (;;) {
      let page;
      try {
        page = store.scan(column, { ...PAGE, after });
      } catch (error) {
        errors += 1;
        countCode(found, error);
        if (!(error instanceof StoreError)) {
          note(found, `scan ${column.name}: ${error.stack}`);
          return;
        }
        // Resumes after the damaged row, as verify does.
        const row = error.row;
        const isKnown = row?.partition.length === column.partitionBytes;
        if (!isKnown || (after !== undefined && compare(after, row) >= 0)) return;
        after = row;
        continue;
      }
      if (page.length === 0) break;
      for (const row of page) {
        const name = nameOf(row.partition, row.order);
        if (expected.get(name) !== digestOf([row])) note(found, `scan ${column.name}: ${name}`);
        if (after !== undefined && compare(after, row) >= 0) {
          note(found, `scan ${column.name}: ${name} is out of order`);
          return;
        }
        after = row;
        count += 1;
      }
    }
    if (errors > 0 || count === expected.size) return;
    note(found, `scan ${column.name}: ${count} rows of ${expected.size}`);
  }
}

function nameOf(partition, order) {
  return `${partition.toString('hex')}/${Buffer.from(order).toString('hex')}`;
}

function compare(a, b) {
  return Buffer.compare(a.partition, b.partition) || Buffer.compare(a.order, b.order);
}

function attempt(found, name, ask) {
  try {
    return ask();
  } catch (error) {
    countCode(found, error);
    if (!(error instanceof StoreError)) note(found, `${name()}: ${error.stack}`);
    return undefined;
  }
}

function countCode(found, { code }) {
  found.codes[code] = (found.codes[code] ?? 0) + 1;
}

export function note(found, text) {
  found.wrongCount = (found.wrongCount ?? 0) + 1;
  if (found.wrong.length < MAX_WRONG) found.wrong.push(text);
}
