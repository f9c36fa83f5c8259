/** No file imports itself by way of others, types included: each can be read without the ones that use it. */
import { dirname, join } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { filesBelow, type SourceFile } from './source-tree.ts';

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/** For each circle, its files in the order of import. */
function circles(sources: readonly SourceFile[]): string[] {
  const imports = new Map<string, string[]>();
  for (const { path, text } of sources) {
    const targets = [...text.matchAll(IMPORT)].map((match) => join(dirname(path), match[1]!));
    imports.set(path, targets);
  }
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    const at = way.indexOf(path);
    if (at >= 0) found.push([...way.slice(at), path].join(' → '));
    if (at >= 0 || done.has(path)) return;
    for (const target of imports.get(path) ?? []) visit(target, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}

describe('circles of imports', () => {
  it('are noticed, types included', () => {
    const text = (target: string) => `import type { X } from './${target}.ts';`;
    const files = ['a', 'b', 'c'].map((name, index) => ({
      path: `src/${name}.ts`,
      text: text(['b', 'c', 'a'][index]!),
    }));
    expect(circles(files)).toEqual(['src/a.ts → src/b.ts → src/c.ts → src/a.ts']);
    expect(circles(files.slice(0, 2))).toEqual([]);
  });

  it('do not exist', () => {
    expect(circles(filesBelow('src', ['.ts']))).toEqual([]);
  });
});
