/** Links with an anchor, in documents and in the runbooks of alerts, lead to a heading. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { filesBelow, ROOT } from './source-tree.ts';

/** The anchors of a document, as GitHub generates them. */
function anchorsOf(path: string): string[] {
  if (!existsSync(join(ROOT, path))) return [];
  const text = readFileSync(join(ROOT, path), 'utf8');
  return [...text.matchAll(/^#+ (.*)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('links to headings', () => {
  const atRoot = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map(
    (path) => ({
      path,
      text: readFileSync(join(ROOT, path), 'utf8'),
    }),
  );
  const documents = [...atRoot, ...filesBelow('docs', ['.md'])];
  const links = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([\w./-]*)#([\w-]+)\)/g)].map(([, to, anchor]) => ({
      path,
      target: to === '' ? path : join(dirname(path), to!),
      anchor: anchor!,
    })),
  );

  it('are there', () => {
    expect(links.length).toBeGreaterThan(8);
  });

  it.each(links)('$path: $target#$anchor', ({ target, anchor }) => {
    expect(anchorsOf(target)).toContain(anchor);
  });
});

describe('every alert says what to do, and where to read on', () => {
  interface Rule {
    readonly alert: string;
    readonly annotations: Readonly<Record<'summary' | 'runbook', string>>;
  }
  const text = readFileSync(join(ROOT, 'docs/monitoring/prometheus-alerts.yaml'), 'utf8');
  const { groups } = parse(text) as { readonly groups: readonly { readonly rules: Rule[] }[] };

  it.each(groups.flatMap(({ rules }) => rules))('$alert', ({ annotations }) => {
    const [, what, path, anchor] = /^(.{20,}): (docs\/\S+\.md)(?:#(\S+))?$/.exec(
      annotations.runbook,
    )!;
    expect(annotations.summary).not.toContain(what!);
    const anchors = anchorsOf(path!);
    expect(anchors.length).toBeGreaterThan(0);
    if (anchor !== undefined) expect(anchors).toContain(anchor);
  });
});
