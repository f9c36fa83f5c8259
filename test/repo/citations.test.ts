/**
 * Checks every citation of a file and a heading of this repository: `docs/spec/http.md §5.3`, `docs/spec/decisions.md
 * D9`, `state/eras.ts`, `eras.ts`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { filesBelow, ROOT, type SourceFile } from './source-tree.ts';

/** A document's name; in quotes it is a file that a test reads, not a citation. */
const DOCUMENT = /(?<!['\w/.-])(?:\.\.?\/)*(?:[\w-]+\/)*[\w-]+\.md(?![\w-])/g;
/** A source file's name, with or without its folders. */
const SOURCE = /(?<![-*'"$\w/.])(?:\.\.?\/)*(?:[\w-]+\/)*[\w-]+(?:\.\w+)*\.(?:tsx?|mjs)(?![\w-])/g;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<!['":\w])\/\/.*/g;
/**
 * The part after a document's name that still belongs to it: up to the sentence's end, a bracket or the next document.
 */
const CITED_PART = /^[`)]{0,2}(?:(?!\.\s|\.$|[\w/-]+\.md|RFC)[^()'|;])*/;
/** `§5.3`, `§A4`, `§6–8`, `§A0 to A4`. */
const SECTIONS = /(?<!RFC \d+ )§([A-Z]?\d+(?:\.\d+)*|[A-Z]\b)(?:(?:–| to )([A-Z]?\d+(?:\.\d+)*))?/g;
const DECISIONS = /\b(D\d+)()\b/g;
const HEADINGS = /^#+ ([A-Z]?\d+(?:\.\d+)*|[A-Z])(?:\.?\s|\.?$)/gm;

/** Citations of things that readers of the repository do not have, and sections without their sign. */
const NOT_HERE = [
  /(?<!docs\/)\bspec\/[\w-]+\.md/g,
  /\bdesign[\s*/]+(?:§|D\d)/g,
  /(?<!aptos-core )\bissue #?\d+/g,
  /\bshared\/(?:design|spec|style|research)\b/g,
  /docs\/spec\/(?!decisions)[\w-]+\.md[\s*/]+[A-Z]?\d/g,
];

const documents = new Map<string, ReadonlySet<string> | undefined>();

/** The numbers at the beginning of a document's headings; undefined if there is no such file. */
function headingsOf(path: string): ReadonlySet<string> | undefined {
  if (!documents.has(path)) {
    const file = join(ROOT, path);
    const numbers = (text: string) => [...text.matchAll(HEADINGS)].map((match) => match[1]!);
    documents.set(
      path,
      existsSync(file) ? new Set(numbers(readFileSync(file, 'utf8'))) : undefined,
    );
  }
  return documents.get(path);
}

/** Citations in `file` with a missing target, as `path:line: citation`. */
function brokenCitations({ path, text }: SourceFile): string[] {
  const broken: string[] = [];
  const report = (at: number, citation: string): void => {
    broken.push(`${path}:${text.slice(0, at).split('\n').length}: ${citation}`);
  };
  const checkSections = (start: number, part: string, document: string): void => {
    const pattern = document.endsWith('/decisions.md') ? DECISIONS : SECTIONS;
    for (const match of part.matchAll(pattern)) {
      for (const section of match.slice(1)) {
        if (section && !headingsOf(document)!.has(section)) {
          report(start + match.index, `${document} ${section}`);
        }
      }
    }
  };
  // References to the document's own sections, between citations of other documents.
  let ownStart = 0;
  const checkOwn = (end: number): void => {
    if (path.startsWith('docs/spec/')) checkSections(ownStart, text.slice(ownStart, end), path);
  };
  for (const { 0: name, index } of text.matchAll(DOCUMENT)) {
    const inMarkdown = path.endsWith('.md') ? join(dirname(path), name) : name;
    const document = [inMarkdown, name].find((one) => headingsOf(one) !== undefined);
    const part = CITED_PART.exec(text.slice(index + name.length))![0];
    checkOwn(index);
    ownStart = index + name.length + part.length;
    if (document === undefined) report(index, name);
    else checkSections(index + name.length, part, document);
  }
  checkOwn(text.length);
  for (const pattern of NOT_HERE) {
    for (const match of text.matchAll(pattern))
      report(match.index, match[0].replace(/[\s*]+/g, ' '));
  }
  return broken;
}

const SOURCES = ['src', 'test', 'web', 'bench', 'fuzz', 'scripts'].flatMap((folder) =>
  filesBelow(folder, ['.ts', '.tsx', '.mjs']),
);
/** Every suffix of a source file's path that begins with a name. */
const SOURCE_ENDS = new Set(
  [...SOURCES.map(({ path }) => path), 'vitest.config.ts'].flatMap((path) => {
    const names = path.split('/');
    return names.map((_, at) => names.slice(at).join('/'));
  }),
);

/** Names of source files that do not exist, in comments of code and anywhere in documents. */
function brokenNames({ path, text }: SourceFile): string[] {
  const comments = path.endsWith('.md') ? [text] : (text.match(COMMENT) ?? []);
  return comments
    .flatMap((comment) => comment.match(SOURCE) ?? [])
    .filter((name) => !name.includes('NAME') && !SOURCE_ENDS.has(name.replace(/^(?:\.\.?\/)+/, '')))
    .map((name) => `${path}: ${name}`);
}

describe('citations', () => {
  const sources = [
    ...filesBelow('src', ['.ts', '.js', '.css', '.html']),
    ...filesBelow('test', ['.ts', '.mjs']),
    ...filesBelow('web', ['.ts', '.mjs', '.css', '.html']),
    ...filesBelow('bench', ['.mjs', '.ts']),
    ...filesBelow('docs', ['.md']),
    ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'].map((path) => ({
      path,
      text: readFileSync(join(ROOT, path), 'utf8'),
    })),
  ].filter((file) => file.path !== 'test/repo/citations.test.ts');

  const broken = (text: string, path = 'src/x.ts') => brokenCitations({ path, text });

  it('are found in comments, over the ends of lines', () => {
    expect(sources.filter((file) => file.text.includes('docs/spec/')).length).toBeGreaterThan(50);
    expect(broken('/** Rules (docs/spec/http.md\n * §5.3, §5.99). */')).toEqual([
      'src/x.ts:2: docs/spec/http.md 5.99',
    ]);
    expect(broken('// docs/spec/encode.md §A4 step 5, §A9; docs/spec/decisions.md D5–D99')).toEqual(
      ['src/x.ts:1: docs/spec/encode.md A9', 'src/x.ts:1: docs/spec/decisions.md D99'],
    );
    expect(broken('\n// docs/spec/none.md, docs/errors.md')).toEqual([
      'src/x.ts:2: docs/spec/none.md',
    ]);
    expect(broken('docs/spec/http.md §12–14')).toEqual(['src/x.ts:1: docs/spec/http.md 14']);
    expect(broken('[x](http.md) §5.1, (§A5), §A9', 'docs/spec/encode.md')).toEqual([
      'docs/spec/encode.md:1: docs/spec/encode.md A9',
    ]);
  });

  it('name nothing outside the repository', () => {
    expect(broken('// spec/http.md §5')).toContain('src/x.ts:1: spec/http.md');
    expect(broken('// design §4, design D2, issue 3')).toHaveLength(3);
    expect(broken('// see ../shared/spec/http.md')).not.toEqual([]);
    expect(broken('// docs/spec/encode.md A4')).toHaveLength(1);
  });

  it('of source files are found in comments, not in code', () => {
    const names = (text: string) => brokenNames({ path: 'src/x.ts', text });
    expect(names('/** As repo/citations.test.ts, repo/none.ts and\n * none.mjs say. */')).toEqual([
      'src/x.ts: repo/none.ts',
      'src/x.ts: none.mjs',
    ]);
    expect(names("import './none.ts'; // src/none.ts, *-none.ts")).toEqual([
      'src/x.ts: src/none.ts',
    ]);
  });

  it('lead to a file and a heading that exist', () => {
    const named = [...sources, ...SOURCES].filter(
      ({ path }) => !path.endsWith('/citations.test.ts'),
    );
    expect(named.flatMap(brokenNames)).toEqual([]);
    expect(sources.flatMap(brokenCitations)).toEqual([]);
  });
});
