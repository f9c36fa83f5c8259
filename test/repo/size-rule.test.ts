/** Checks the size rule of CONTRIBUTING.md: files, functions and lines stay small enough to read. */
import { describe, expect, it } from 'vitest';
import { filesBelow, type SourceFile } from './source-tree.ts';

const MAX_FILE_LINES = 500;
const MAX_FUNCTION_LINES = 70;
const MAX_LINE_COLUMNS = 100;
const MAX_COMMENT_COLUMNS = 120;

const FUNCTION_START =
  /^(\s*)(?:export )?(?:default )?(?:(?:async )?function\b|(?:(?:public|private|static|async|override|get|set|readonly) )*[#\w]+\s*(?:<[^>]*>)?\(.*\{$|(?:const|let) \w+ = (?:async )?(?:\([^)]*\)|\w+)(?:: [^=]+)? => \{$)/;
const CONTROL = /^\s*(?:if|for|while|switch|catch|else|do|try|return|super)\b/;

/** Functions longer than the limit, as `path:line (lines)`. Formatted code shows their end by its indentation. */
function longFunctions(file: SourceFile): string[] {
  const lines = file.text.split('\n');
  const found: string[] = [];
  lines.forEach((line, start) => {
    const match = FUNCTION_START.exec(line);
    if (match === null || CONTROL.test(line)) return;
    const end = lines.findIndex((other, at) => at > start && other.startsWith(`${match[1]}}`));
    const count = end - start + 1;
    if (end !== -1 && count > MAX_FUNCTION_LINES)
      found.push(`${file.path}:${start + 1} (${count})`);
  });
  return found;
}

describe('size rule', () => {
  const sources = [
    ...filesBelow('src', ['.ts', '.js', '.css', '.html']),
    ...filesBelow('test', ['.ts']),
    ...filesBelow('bench', ['.mjs', '.ts']),
    ...filesBelow('fuzz', ['.mjs', '.ts']),
    ...filesBelow('web', ['.ts', '.mjs', '.css', '.html']),
  ];

  it('notices a long function', () => {
    const body = '  x();\n'.repeat(MAX_FUNCTION_LINES - 1);
    expect(longFunctions({ path: 'x.ts', text: `function f() {\n${body}}\n` })).toHaveLength(1);
    expect(longFunctions({ path: 'x.ts', text: `function f() {\n${body.slice(7)}}\n` })).toEqual(
      [],
    );
  });

  it(`keeps files under ${MAX_FILE_LINES} lines`, () => {
    const long = sources.filter((file) => file.text.split('\n').length > MAX_FILE_LINES);
    expect(long.map((file) => `${file.path} (${file.text.split('\n').length})`)).toEqual([]);
  });

  it(`keeps functions under ${MAX_FUNCTION_LINES} lines`, () => {
    const inSources = sources.filter((file) => file.path.startsWith('src/'));
    expect(inSources.flatMap(longFunctions)).toEqual([]);
  });

  it(`keeps lines within ${MAX_LINE_COLUMNS} columns, but for texts that cannot be broken`, () => {
    const inSources = sources.filter((file) => file.path.startsWith('src/'));
    const long = inSources.flatMap((file) =>
      file.text
        .split('\n')
        .map((line, at) => ({ line, place: `${file.path}:${at + 1}` }))
        .filter(({ line }) =>
          /^\s*(?:\/\*\*|\*|\/\/)/.test(line)
            ? line.length > MAX_COMMENT_COLUMNS
            : line.length > MAX_LINE_COLUMNS && !/['"`/]/.test(line),
        )
        .map(({ place }) => place),
    );
    expect(long).toEqual([]);
  });
});
