/** docs/settings.md lists every setting of the source. `UPDATE_DOCS=1 npx vitest run test/repo` writes the table. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allowedText, outsideNames } from '../../src/node/settings/setting-sources.ts';
import { NODE_SETTINGS } from '../../src/node/settings/settings.ts';
import { ROOT } from './source-tree.ts';

const FILE = join(ROOT, 'docs/settings.md');
const HEAD =
  '| Setting | Meaning | Allowed | Default | Environment variable |\n|---|---|---|---|---|\n';

function row(name: string): string {
  const setting = NODE_SETTINGS[name as keyof typeof NODE_SETTINGS];
  const { file, variable } = outsideNames(name);
  const cells = [
    `\`${file}\``,
    setting.description,
    allowedText(setting),
    `\`${JSON.stringify(setting.default)}\``,
    `\`${variable}\``,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

it('docs/settings.md has a row for every setting, as the source has it', () => {
  const table = HEAD + Object.keys(NODE_SETTINGS).map(row).join('');
  const text = readFileSync(FILE, 'utf8');
  const start = text.indexOf(HEAD);
  expect(start).toBeGreaterThan(0);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, text.slice(0, start) + table);
  else expect(text.slice(start)).toBe(table);
});
