/** Rows of forks: both directions, bytes that must be refused, and the table of docs/data-layout.md. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sha3 } from '../../src/move/crypto/hash.ts';
import { COLUMNS, MAX_ORDER_BYTES } from '../../src/store/columns/columns.ts';
import {
  answerKey,
  FORK_LAYOUT,
  FORK_ORIGIN,
  isForkFormat,
  LEDGER_LAYOUT,
} from '../../src/store/columns/fork-columns.ts';
import { RowDamagedError } from '../../src/store/store-error.ts';

const HASH = Buffer.alloc(32, 7);

test('an answer is keyed by the hash of its operation and arguments, a page by its beginning too', () => {
  const name = Buffer.from(
    `0c${Buffer.from('end of block').toString('hex')}010500000000000000`,
    'hex',
  );
  expect(answerKey(['end of block', 5n])).toEqual({
    partition: sha3(name),
    order: new Uint8Array(0),
  });
  const { order, partition } = answerKey(
    ['end of block', 5n],
    Buffer.alloc(MAX_ORDER_BYTES + 1, 7),
  );
  expect(partition).toEqual(sha3(name));
  expect(order).toEqual(Buffer.alloc(MAX_ORDER_BYTES, 7));
});

test('origin, both ways', () => {
  const origin = { url: 'http://a/v1', rootHash: HASH };
  const key = FORK_ORIGIN.keyOf();
  const bytes = FORK_ORIGIN.encode(origin);
  expect(FORK_ORIGIN.decode(key, bytes)).toEqual(origin);
  expect(() => FORK_ORIGIN.decode(key, bytes.subarray(0, -1))).toThrow(RowDamagedError);
});

describe('the layout', () => {
  test('has a format that no ledger has, and columns that no ledger gets', () => {
    expect([FORK_LAYOUT.format, LEDGER_LAYOUT.format].map(isForkFormat)).toEqual([true, false]);
    const own = FORK_LAYOUT.columns.filter((column) => !COLUMNS.includes(column));
    expect(own.map(({ number, name }) => `${number} ${name}`)).toEqual([
      '90 fork_state',
      '91 fork_answers',
    ]);
    expect(COLUMNS.some(({ number }) => own.some((one) => one.number === number))).toBe(false);
  });

  test('is that of docs/data-layout.md', () => {
    const page = readFileSync(new URL('../../docs/data-layout.md', import.meta.url), 'utf8');
    expect(page).toContain(`has its own format, ${FORK_LAYOUT.format}:`);
    const section = page.split(/^## /m).find((part) => part.startsWith('Columns of a fork'))!;
    for (const { name, number } of FORK_LAYOUT.columns) {
      expect(section).toContain(number < 90 ? `\`${name}\`` : `| ${number} | \`${name}\` |`);
    }
  });
});
