/** The reference tables of docs/ name exactly what the source has: operations, statuses, error codes, metrics. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/api/endpoints/endpoint-list.ts';
import { ERROR_CODES } from '../../src/api/http/error-table.ts';
import { filesBelow, ROOT } from '../repo/source-tree.ts';

const rowsOf = (file: string): string[] =>
  readFileSync(join(ROOT, 'docs', file), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '));

describe('docs/api.md', () => {
  const rows = rowsOf('api.md');
  it.each(ENDPOINTS)('has a row for $method $path', ({ method, path }) => {
    expect(rows.filter((row) => row.includes(`\`${method} ${path}\``))).toHaveLength(1);
  });

  it('has a row for nothing else', () => {
    expect(rows.filter((row) => /`(GET|POST) /.test(row))).toHaveLength(ENDPOINTS.length);
  });
});

it('docs/errors.md has a row for every status of every operation', () => {
  const statuses = new Set(ENDPOINTS.flatMap(({ failures }) => failures));
  const text = rowsOf('errors.md').join('\n');
  for (const status of statuses) expect(text).toContain(`\n| ${status} |`);
});

it('docs/errors.md names every error code', () => {
  const text = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
  for (const code of ERROR_CODES) expect(text).toContain(`\`${code}\``);
});

it('docs/metrics.md has a row for every metric, and for nothing else', () => {
  const named = (texts: readonly string[], pattern: RegExp): string[] =>
    [
      ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1]!))),
    ].sort();
  const source = filesBelow('src/node', ['.ts']).map(({ text }) => text);
  expect(named(rowsOf('metrics.md'), /`(daybook_\w+)`/g)).toEqual(
    named(source, /'(daybook_\w+)'/g),
  );
});
