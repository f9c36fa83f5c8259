/** Every export has a user: names used only in their own file are not exported. */
import { expect, it } from 'vitest';
import { filesBelow } from './source-tree.ts';

const EXPORT =
  /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) ([\w$]+)/gm;
/** The library's public files. */
const PUBLIC = ['src/index.ts', 'src/encoding.ts'];

it('every export is named by another file', () => {
  const sources = filesBelow('src', ['.ts']);
  const users = [
    ...sources,
    ...['web', 'test', 'bench', 'fuzz', 'scripts'].flatMap((folder) =>
      filesBelow(folder, ['.ts', '.mjs']),
    ),
    ...filesBelow('bin', ['']),
  ];
  const wordsOf = new Map(users.map(({ path, text }) => [path, new Set(text.match(/[\w$]+/g))]));
  const unused = sources
    .filter(({ path }) => !PUBLIC.includes(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(EXPORT)]
        .map(([, name]) => name!)
        .filter(
          (name) => !users.some((user) => user.path !== path && wordsOf.get(user.path)!.has(name)),
        )
        .map((name) => `${path}: ${name}`),
    );
  expect(sources.length).toBeGreaterThan(100);
  expect(unused).toEqual([]);
});
