/** Rows of forks: both ways, bytes to refuse, and the table of docs/data-layout.md. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sha3 } from '../../src/move/crypto/hash.ts';
import { COLUMNS } from '../../src/store/columns/columns.ts';
import {
  answerKey,
  decodeForkState,
  encodeForkState,
  FORK_LAYOUT,
  FORK_LOG_ENTRY,
  FORK_ORIGIN,
  forkStateKey,
  isForkFormat,
  LEDGER_LAYOUT,
} from '../../src/store/columns/fork-columns.ts';
import { RowDamagedError } from '../../src/store/store-error.ts';

const HASH = Buffer.alloc(32, 7);
const KEY = Buffer.from('physical key');
const VALUE = Buffer.from('value');

describe('state of a fork', () => {
  const row = forkStateKey(HASH, 258n);
  const metadata = { kind: 'v0', deposit: 1n, creationTimeUsecs: 2n } as const;

  test.each([
    ['no value', undefined, '00' + KEY.toString('hex')],
    ['a value', { bytes: VALUE, metadata: undefined }, '01' + VALUE.toString('hex')],
    [
      'a value with metadata',
      { bytes: VALUE, metadata },
      `0200${'0100000000000000'}${'0200000000000000'}${VALUE.toString('hex')}`,
    ],
    [
      'a value of unknown metadata',
      { bytes: VALUE, metadata: 'unknown' as const },
      `03${VALUE.toString('hex')}`,
    ],
  ])('%s', (_, value, hex) => {
    const bytes = encodeForkState(KEY, value);
    expect(bytes.toString('hex')).toBe(hex);
    const { entry, isMetadataKnown } = decodeForkState(row, bytes);
    expect(isMetadataKnown).toBe(value?.metadata !== 'unknown');
    if (value === undefined) expect(entry).toBeUndefined();
    else {
      expect(entry).toMatchObject({ version: 258n, bytes: VALUE });
      expect(entry?.metadata).toEqual(value.metadata === 'unknown' ? undefined : value.metadata);
    }
  });

  test.each(['', '04', '0205', '02000100'])('refuses %j', (hex) => {
    expect(() => decodeForkState(row, Buffer.from(hex, 'hex'))).toThrow(RowDamagedError);
  });

  test('is keyed by hash and exact version', () => {
    expect(row.partition).toBe(HASH);
    expect(Buffer.from(row.order).toString('hex')).toBe('0000000000000102');
  });
});

test('an answer is keyed by the hash of its question', () => {
  expect(answerKey('the end of block 5').partition).toEqual(
    sha3(Buffer.from('the end of block 5')),
  );
});

test('origin and log, both ways', () => {
  const origin = { url: 'http://a/v1', rootHash: HASH, madeAtUsecs: 5n };
  const key = FORK_ORIGIN.keyOf();
  const bytes = FORK_ORIGIN.encode(origin);
  expect(FORK_ORIGIN.decode(key, bytes)).toEqual(origin);
  expect(() => FORK_ORIGIN.decode(key, bytes.subarray(0, -1))).toThrow(RowDamagedError);
  const entry = { takenAtUsecs: 6n, url: 'http://a/v1', question: 'the end of block 5' };
  const logged = FORK_LOG_ENTRY.encode(entry);
  expect(FORK_LOG_ENTRY.decode(FORK_LOG_ENTRY.keyOf(6n), logged)).toEqual(entry);
});

describe('the layout', () => {
  test('has a format that no ledger has, and columns that no ledger gets', () => {
    expect([FORK_LAYOUT.format, LEDGER_LAYOUT.format].map(isForkFormat)).toEqual([true, false]);
    const own = FORK_LAYOUT.columns.filter((column) => !COLUMNS.includes(column));
    expect(own.map(({ number, name }) => `${number} ${name}`)).toEqual([
      '90 fork_state',
      '91 fork_answers',
      '92 fork_log',
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
