/** The reference tables of docs/ have exactly the names in the source: operations, statuses, error codes, metrics. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import promClient from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ERROR_CODES } from '../../src/api/error-table.ts';
import { ENDPOINTS } from '../../src/api/http/endpoint-list.ts';
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

const named = (texts: readonly string[], pattern: RegExp): string[] =>
  [
    ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1]!))),
  ].sort();

describe('docs/metrics.md', () => {
  const ownMetrics = named(
    filesBelow('src/node', ['.ts']).map(({ text }) => text),
    /'(daybook_\w+)'/g,
  );
  const register = new promClient.Registry();
  promClient.collectDefaultMetrics({ register });
  const standardMetrics = register.getMetricsAsArray().map(({ name }) => name);

  it('has a row for every metric, and for nothing else', () => {
    expect(named(rowsOf('metrics.md'), /`(daybook_\w+)`/g)).toEqual(ownMetrics);
    const others = named(rowsOf('metrics.md'), /`((?:process|nodejs)_\w+)`/g);
    expect(others.length).toBeGreaterThanOrEqual(8);
    for (const name of others) expect(standardMetrics).toContain(name);
  });

  it.each([
    ['grafana-dashboard.json', 25],
    ['prometheus-alerts.yaml', 10],
  ])('names the metrics of docs/monitoring/%s', (file, fewest) => {
    const text = readFileSync(join(ROOT, 'docs/monitoring', file), 'utf8');
    const content: unknown = file.endsWith('.json') ? JSON.parse(text) : parse(text);
    const expressions = textsOf(content, /^(?:expr|query)$/);
    const metrics = named(expressions, /\b((?:daybook|process|nodejs)_\w+)/g);
    expect(expressions.length).toBeGreaterThanOrEqual(fewest);
    for (const name of metrics) {
      const family = name.replace(/_(?:bucket|sum|count)$/, '');
      expect([...ownMetrics, ...standardMetrics], name).toContain(family);
    }
  });
});

/** All texts of members with matching names, at any depth. */
function textsOf(value: unknown, names: RegExp): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'string' && names.test(name) ? [member] : textsOf(member, names),
  );
}
