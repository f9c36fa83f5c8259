/** Functions and files in ARCHITECTURE.md and in the table of CONTRIBUTING.md exist. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, ROOT } from './source-tree.ts';

const TEXT = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
/** Matches `Class.method`, `#method` or `function`, the last of them after an arrow, then the file of the last one. */
const STEP = /^ *((?:#?[\w.]+ → )?#?[\w.]+) {2,}(src\/[\w/-]+\.ts)/;
const drawings = [...TEXT.matchAll(/```text\n([\s\S]*?)```/g)].map((match) =>
  match[1]!.trimEnd().split('\n'),
);

describe('ARCHITECTURE.md', () => {
  it('has drawings that fit a screen', () => {
    expect(drawings).toHaveLength(3);
    for (const lines of drawings) expect(lines.length).toBeLessThanOrEqual(24);
  });

  it.each(drawings.flat())('%s', (line) => {
    const [, names, file] = STEP.exec(line)!;
    const text = readFileSync(join(ROOT, file!), 'utf8');
    const name = names!.split(' → ').at(-1)!;
    for (const part of name.split('.')) {
      expect(text).toMatch(new RegExp(`(?<![\\w])${part}\\b`));
    }
  });

  it('names files that exist', () => {
    const files = [...TEXT.matchAll(/`((?:src|docs|web)\/[\w./-]+)`/g)].map((match) => match[1]!);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

describe('CONTRIBUTING.md, where things go', () => {
  const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith('Where things go'))!;
  const table = section.split('\n').filter((line) => line.startsWith('|'));
  const quoted = [...table.join('\n').matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
  const names = quoted.filter((text) => /^[A-Za-z_]\w*$/.test(text));

  it('names files that exist', () => {
    // NAME is the reader's to choose, `*` stands for any text.
    const paths = quoted.filter((text) => /^[\w./*-]+\/[\w./*-]*$|\.(ts|md)$/.test(text));
    expect(paths.length).toBeGreaterThan(30);
    const missing = paths.filter((path) => {
      const known = path.replace(/[^/]*NAME[^/]*$/, '');
      if (!known.includes('*')) return !existsSync(join(ROOT, known));
      const [start, end] = known.split('*') as [string, string];
      const folder = filesBelow(dirname(known), [end]);
      return !folder.some((file) => file.path.startsWith(start));
    });
    expect(missing).toEqual([]);
  });

  it('names code that exists', () => {
    expect(names.length).toBeGreaterThan(10);
    const code = [...filesBelow('src', ['.ts']), ...filesBelow('test/store', ['.ts'])];
    const isUsed = (name: string): boolean => {
      const word = new RegExp(`\\b${name}\\b`);
      return code.some((file) => word.test(file.text));
    };
    expect(names.filter((name) => !isUsed(name))).toEqual([]);
  });
});
