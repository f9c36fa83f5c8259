/** The tables of docs/api.md and docs/errors.md name what the interface has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/api/endpoints/endpoint-list.ts';
import { ROOT } from '../repo/source-tree.ts';

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
