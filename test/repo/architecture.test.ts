/** The drawings of ARCHITECTURE.md name functions and files that exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './source-tree.ts';

const TEXT = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
/** `Class.method`, `#method` or `function`, the last of them after an arrow, then the file of the last one. */
const STEP = /^ *((?:#?[\w.]+ → )?#?[\w.]+) {2,}(src\/[\w/-]+\.ts)/;
const drawings = [...TEXT.matchAll(/```text\n([\s\S]*?)```/g)].map((match) =>
  match[1]!.trimEnd().split('\n'),
);

describe('ARCHITECTURE.md', () => {
  it('has drawings that fit a screen', () => {
    expect(drawings).toHaveLength(2);
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
