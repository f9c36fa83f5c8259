/** Runs axe-core in a page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2 AA and best practices in dark; in light only contrast, because themes differ in nothing else. */
const RULES = {
  dark: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  light: { type: 'rule', values: ['color-contrast'] },
} as const;

/** Violations that axe-core finds, as `rule: element`. */
export async function axeViolations(page: Page, colorScheme: 'dark' | 'light'): Promise<string[]> {
  await page.emulateMedia({ colorScheme });
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(AXE);
  const options = JSON.stringify({ runOnly: RULES[colorScheme], resultTypes: ['violations'] });
  return page.evaluate(`axe.run(document, ${options}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))))`);
}
