/**
 * No file, and no folder except those listed, imports itself through others, types included: each can be read alone.
 */
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

/** Folders that currently import themselves through others. The list must only shrink. */
const NOT_YET_MENDED: readonly string[] = [
  'src/ledger',
  'src/ledger/accounts',
  'src/ledger/events',
  'src/ledger/transactions',
  'src/move/bcs',
  'src/move/crypto',
  'src/move/modules',
  'src/move/types',
  'src/node',
  'src/node/locations',
  'src/node/serve',
  'src/node/serve/cluster',
  'src/node/serve/metrics',
  'src/node/settings',
  'src/store',
  'src/store/columns',
  'src/store/sqlite',
  'src/store/sqlite/runs',
  'src/vm',
  'src/vm/code',
  'src/vm/gas',
  'src/vm/machine',
  'src/vm/natives',
  'src/vm/natives/crypto',
  'src/vm/program',
];

/**
 * The folders that import themselves through others. The root of `src` is left out, because all may import its files.
 */
function foldersInCircles(sources: readonly SourceFile[]): string[] {
  const imports = new Map<string, Set<string>>();
  for (const { path, text } of sources) {
    const from = dirname(path);
    const targets = imports.get(from) ?? new Set();
    imports.set(from, targets);
    for (const match of text.matchAll(IMPORT)) {
      const to = dirname(join(from, match[1]!));
      if (to !== from && from !== 'src' && to !== 'src') targets.add(to);
    }
  }
  const isInCircle = (folder: string): boolean => {
    const reached = new Set(imports.get(folder));
    for (const next of reached) for (const further of imports.get(next) ?? []) reached.add(further);
    return reached.has(folder);
  };
  return [...imports.keys()].filter(isInCircle).toSorted();
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

  it('between folders are noticed, types included', () => {
    const text = (target: string) => `import type { X } from '../${target}/x.ts';`;
    const files = ['a', 'b', 'c', 'd'].map((name, index) => ({
      path: `src/${name}/y.ts`,
      text: text(['b', 'c', 'a', 'a'][index]!),
    }));
    expect(foldersInCircles(files)).toEqual(['src/a', 'src/b', 'src/c']);
    expect(foldersInCircles(files.slice(0, 2))).toEqual([]);
  });

  it('exist between the folders that are not yet mended, and no others', () => {
    expect(foldersInCircles(filesBelow('src', ['.ts']))).toEqual(NOT_YET_MENDED);
  });

  it('do not exist', () => {
    expect(circles(filesBelow('src', ['.ts']))).toEqual([]);
  });
});
