/** Checks the import rule of CONTRIBUTING.md. */
import { dirname, join } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { filesBelow } from './source-tree.ts';

const MAY_IMPORT: Record<string, readonly string[]> = {
  move: ['move'],
  remote: ['remote', 'move'],
  store: ['store', 'move'],
  ingest: ['ingest', 'remote', 'store', 'move'],
  chain: ['chain', 'ledger', 'execution', 'submission', 'state', 'vm', 'ingest', 'store', 'move'],
  sample: ['sample', 'chain', 'execution', 'ingest', 'store', 'move'],
  verify: ['verify', 'execution', 'state', 'vm', 'ingest', 'remote', 'store', 'move'],
  vm: ['vm', 'move'],
  state: ['state', 'store', 'move'],
  'state/fork': ['state', 'ingest', 'remote', 'store', 'move'],
  submission: ['submission', 'state', 'move'],
  execution: ['execution', 'submission', 'state', 'vm', 'store', 'move'],
  ledger: ['ledger', 'execution', 'submission', 'state', 'vm', 'store', 'move'],
  api: ['api', 'ledger', 'chain', 'execution', 'submission', 'state', 'move'],
  indexer: ['indexer', 'ledger', 'store', 'move'],
  node: [
    'node',
    'indexer',
    'api',
    'ledger',
    'execution',
    'submission',
    'state',
    'vm',
    'chain',
    'sample',
    'verify',
    'ingest',
    'remote',
    'store',
    'move',
  ],
  cli: ['cli', 'node'],
};
/** Folders within a folder, and which of its other folders each may import; `.` means its own files. */
const WITHIN: Record<string, readonly string[]> = {
  store: ['columns'],
  'store/columns': ['.'],
  node: ['locations', 'settings'],
  'node/locations': ['.'],
  'node/settings': ['.'],
  'node/serve': ['.', 'settings', 'locations', 'indexer', 'serve'],
  api: [],
  'api/schemas': ['.'],
  'api/load': ['.'],
  'api/push': ['.'],
  'api/endpoints': ['.', 'schemas', 'load', 'push'],
  'api/endpoints/extensions': ['.', 'schemas', 'load', 'push', 'endpoints'],
  'api/http': ['.', 'schemas', 'load', 'push', 'endpoints'],
  'store/sqlite': ['.', 'columns', 'sqlite'],
  'store/read': ['.', 'columns'],
  'store/write': ['.', 'columns', 'read'],
  'store/pruning': ['.', 'columns', 'read', 'write'],
  'move/bcs': ['.', 'crypto', 'types'],
  'move/crypto': ['.', 'bcs', 'types'],
  'move/json': ['.', 'bcs'],
  'move/types': ['.', 'bcs', 'crypto', 'modules'],
  'move/modules': ['.', 'bcs', 'crypto', 'types'],
};
/** Root files that every folder may import. */
const FOR_ALL = [
  'src/built.ts',
  'src/cache.ts',
  'src/maybe-promise.ts',
  'src/thread.ts',
  'src/yield-budget.ts',
];

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/** Folder pairs `importer → imported` that the rule forbids, with the file. */
function violations(path: string, text: string): string[] {
  const folder = path.split('/')[1]!;
  const allowed = MAY_IMPORT[dirname(path).slice('src/'.length)] ?? MAY_IMPORT[folder];
  if (allowed === undefined) return path.split('/').length === 2 ? [] : [`${path}: unknown folder`];
  const found: string[] = [];
  for (const match of text.matchAll(IMPORT)) {
    const target = join(dirname(path), match[1]!);
    if (FOR_ALL.includes(target)) continue;
    const targetFolder = target.startsWith('src/') ? target.split('/')[1]! : target;
    const isWithin = targetFolder !== folder || mayImportWithin(dirname(path), dirname(target));
    if (!allowed.includes(targetFolder) || !isWithin) found.push(`${path} imports ${target}`);
  }
  return found;
}

/** Whether a folder within a folder may import another, both as `src/room/inner`. */
function mayImportWithin(from: string, to: string): boolean {
  const allowed = WITHIN[from.slice('src/'.length)];
  return allowed === undefined || from === to || allowed.includes(to.split('/')[2] ?? '.');
}

describe('import rule', () => {
  const sources = filesBelow('src', ['.ts']);

  it('sees the source tree', () => {
    expect(sources.length).toBeGreaterThan(10);
  });

  it('notices a forbidden import', () => {
    const text = "import { x } from '../ledger/open.ts';\nawait import('../../bench/x.mjs');";
    expect(violations('src/move/x.ts', text)).toHaveLength(2);
    const within =
      "import { x } from '../sqlite/sqlite-store.ts';\nimport { y } from '../store.ts';";
    expect(violations('src/store/columns/x.ts', within)).toHaveLength(1);
  });

  it('holds in every file', () => {
    expect(sources.flatMap((file) => violations(file.path, file.text))).toEqual([]);
  });

  it('has no file without a subject', () => {
    // `move/types/` is about the types of Move.
    const vague = /(?:^|[-/])(?:(?:utils?|helpers?|common)(?:[-./]|$)|types(?:[-.]|$))/;
    expect(sources.map((file) => file.path).filter((path) => vague.test(path))).toEqual([]);
  });
});
