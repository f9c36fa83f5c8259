/** The table of columns: its numbers, and docs/data-layout.md, which has the same columns with the same keys. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { COLUMNS, type Column, STORE_FORMAT_VERSION } from '../../src/store/columns/columns.ts';

const page = readFileSync(new URL('../../docs/data-layout.md', import.meta.url), 'utf8');

/** Rows of the first table under a heading, as cells. */
function table(heading: string): string[][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading));
  const lines = (section ?? '').split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Number, name, and the lengths of both parts of the key, as the page has them. */
function cells({ number, name, partitionBytes, orderBytes: [least, most] }: Column): string[] {
  const range = least === most ? `${most}` : `${least}–${most}`;
  return [`${number}`, `\`${name}\``, `${partitionBytes}`, most === 0 ? '–' : range];
}

describe('columns', () => {
  test('numbers are one byte, unique, in order', () => {
    const numbers = COLUMNS.map(({ number }) => number);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const number of numbers) {
      expect(Number.isInteger(number) && number >= 1 && number <= 255).toBe(true);
    }
    const names = COLUMNS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test('numbers that were given out once mean the same for ever', () => {
    // A change here changes the store's format.
    expect(STORE_FORMAT_VERSION).toBe(1);
    expect(COLUMNS.map(({ number, name }) => `${number} ${name}`)).toEqual([
      '1 identity',
      '2 head',
      '3 state',
      '4 account_keys',
      '5 account_key_tails',
      '6 state_keys',
      '7 events',
      '8 module_events',
      '10 transaction_infos',
      '11 blocks_by_height',
      '12 blocks_by_version',
      '13 epochs',
      '14 version_writes',
      '15 balances',
      '16 pruning',
      '17 primary_stores',
      '18 transaction_hashes',
      '19 account_transactions',
      '20 transactions',
      '21 event_types',
    ]);
  });

  test('the page for people has the same table', () => {
    const rows = table('Columns').map(([number, name, partition, order, ...contents]) => {
      // Only the page has values, writers and readers.
      expect(contents.length === 3 && contents.every((text) => text !== '')).toBe(true);
      return [number, name, ...[partition, order].map((text) => text!.split(':')[0])];
    });
    expect(rows).toEqual(COLUMNS.map(cells));
    expect(page).toContain(`Format version: ${STORE_FORMAT_VERSION}.`);
  });
});
