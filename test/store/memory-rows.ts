/** The tables of a store's file in memory, for tests of sorted runs. */
import { expect } from 'vitest';
import type { Entry } from '../../src/store/sqlite/runs/block.ts';
import { EMPTY_MANIFEST, encodeManifest } from '../../src/store/sqlite/runs/manifest.ts';
import type { Table, WritableRows } from '../../src/store/sqlite/stored-value.ts';

export class MemoryRows implements WritableRows {
  readonly #tables = new Map<Table, Map<number, Buffer>>();

  constructor() {
    this.write('manifest', 0, encodeManifest(EMPTY_MANIFEST));
  }

  get blocks(): Map<number, Buffer> {
    return this.#table('blocks');
  }

  read = (table: Table, id: number) => this.#table(table).get(id);

  write(table: Table, id: number, bytes: Buffer): void {
    if (table === 'log') expect(this.#table(table).has(id)).toBe(false);
    this.#table(table).set(id, Buffer.from(bytes));
  }

  remove(table: Table, from: number, to: number): number {
    const removed = [...this.#table(table).keys()].filter((id) => id >= from && id < to);
    for (const id of removed) this.#table(table).delete(id);
    return removed.length;
  }

  next(table: Table, from: number): number | undefined {
    let next: number | undefined;
    for (const id of this.#table(table).keys()) {
      if (id >= from && (next === undefined || id < next)) next = id;
    }
    return next;
  }

  #table(name: Table): Map<number, Buffer> {
    const table = this.#tables.get(name) ?? new Map<number, Buffer>();
    this.#tables.set(name, table);
    return table;
  }
}

/** As text, which is compared faster than lists. */
export function shown(rows: Iterable<Entry>): string {
  let text = '';
  for (const { key, value } of rows) text += `${key.toString('hex')} ${value!.toString('hex')}\n`;
  return text;
}
