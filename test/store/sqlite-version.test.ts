/** Versions of SQLite that can lose a commit are refused (docs/data-layout.md, "Transactions and locks"). */
import { expect, test } from 'vitest';
import { checkSqliteVersion, isSafeSqlite } from '../../src/store/sqlite/sqlite-database.ts';

test.each([
  ['3.45.3', false],
  ['3.51.2', false],
  ['3.51.3', true],
  ['3.51.10', true],
  ['3.52.0', true],
  ['4.0.0', true],
])('SQLite %s: %s', (version, isSafe) => {
  expect(isSafeSqlite(version)).toBe(isSafe);
});

test('the installed one is safe', () => {
  expect(checkSqliteVersion).not.toThrow();
});
