/** The page for everybody: contrast, width, names, keyboard, motion. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/model/publishers.ts';
import {
  BROKEN_IDS,
  LOW_CONTRAST_TEXTS,
  NAMELESS_ELEMENTS,
  SIDEWAYS_OVERFLOW,
} from './page-measures.ts';
import { describePage } from './page-suite.ts';

const REQUEST = {
  sender: '0x1',
  ...{ sequence_number: '0', max_gas_amount: '1', gas_unit_price: '1' },
  expiration_timestamp_secs: '9',
  payload: {
    type: 'entry_function_payload',
    function: '0x1::coin::transfer',
    type_arguments: ['0x1::aptos_coin::AptosCoin'],
    arguments: ['0x2', '3'],
  },
};

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Hash, and what is there when the view is complete. */
const VIEWS: readonly (readonly [hash: string, ready: string])[] = [
  ['#/overview', 'dl.figures'],
  [`#/balance?account=${CAFE_HEX}&from=1500`, '.sample-control'],
  ['#/balance?account=xyz', '[role=alert]'],
  ['#/transactions', 'table.transactions time'],
  ['#/transaction?id=1000', 'section[aria-label=Changes] article'],
  ['#/transaction?id=0x12', '[role=alert]'],
  ['#/blocks', 'table.blocks time'],
  ['#/block?height=20', 'table.transactions time'],
  [`#/account?address=${CAFE_HEX}`, 'table.assets td.number span'],
  [`#/account?address=${CAFE_HEX}&show=transactions`, 'table.transactions time'],
  [`#/account?address=${CAFE_HEX}&show=resources&version=1000`, 'details.resource'],
  [`#/account?address=${CAFE_HEX}&show=modules`, '.links a'],
  [`#/account?address=${CAFE_HEX}&show=events`, 'table.streams'],
  ['#/account?address=0x77', '.note.warning'],
  ['#/search?q=20', '.hit.exists'],
  [`#/search?q=${'ab'.repeat(32)}`, '.note'],
  [`#/events?account=${CAFE_HEX}&stream=2`, 'table.events tbody tr'],
  ['#/module?account=0x1&name=coin&item=CoinStore', 'article'],
  ['#/encode?example=script', '.note:not([hidden])'],
  [`#/encode?request=${encodeURIComponent(JSON.stringify(REQUEST))}`, 'table.parts'],
];

/** What axe-core finds against WCAG 2.2 AA, as `rule: element`. */
async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(`axe
    .run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
    .then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))),
    )`);
}

async function check(page: Page): Promise<void> {
  await page.evaluate(
    "document.querySelectorAll('details').forEach((node) => { node.open = true })",
  );
  expect(await page.evaluate(SIDEWAYS_OVERFLOW)).toEqual([]);
  expect(await page.evaluate(LOW_CONTRAST_TEXTS)).toEqual([]);
  expect(await page.evaluate(NAMELESS_ELEMENTS)).toEqual([]);
  expect(await page.evaluate(BROKEN_IDS)).toEqual([]);
  expect(await axeViolations(page)).toEqual([]);
  const headings = await page.evaluate(
    "[...document.querySelectorAll('main :is(h1, h2, h3)')].map((node) => Number(node.tagName[1]))",
  );
  (headings as number[]).forEach((level, at, all) => {
    expect(level).toBeLessThanOrEqual((all[at - 1] ?? 0) + 1);
  });
}

describePage('page: frame', ({ open, go }) => {
  describe.each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
    [2560, 'light'],
  ] as const)('at %i px, %s', (widthPx, colorScheme) => {
    it('has enough contrast, fits the width, and names everything, in every view', async () => {
      const page = await open('/', { widthPx, colorScheme });
      for (const [hash, ready] of VIEWS) {
        await go(page, hash);
        await page.locator(ready).first().waitFor();
        await check(page);
      }
    });
  });

  it('fits 320 px, the width of a page magnified four times', async () => {
    const page = await open('/', { widthPx: 320 });
    for (const [hash, ready] of VIEWS) {
      await go(page, hash);
      await page.locator(ready).first().waitFor();
      expect(await page.evaluate(SIDEWAYS_OVERFLOW)).toEqual([]);
    }
  });

  it('the measurement of contrast can fail', async () => {
    const page = await open('/');
    await page.addStyleTag({ url: '/page/base.css' });
    await page.evaluate("document.querySelector('footer p').style.color = '#999'");
    expect(await page.evaluate(LOW_CONTRAST_TEXTS)).not.toEqual([]);
  });

  it('has one main, one first heading, a title and a current link for each view', async () => {
    const page = await open('/');
    const titles = new Set<string>();
    const views = ['transactions', 'blocks', 'account', 'balance', 'events', 'module', 'encode'];
    for (const view of [...views, 'overview']) {
      await page.locator(`nav a[data-view=${view}]`).click();
      await page.locator(`nav a[data-view=${view}][aria-current=page]`).waitFor();
      expect(await page.locator('main').count()).toBe(1);
      expect(await page.locator('h1').count()).toBe(1);
      expect(await page.locator('h1:focus').count()).toBe(1);
      expect(await page.locator('[aria-current]').count()).toBe(1);
      titles.add(await page.title());
    }
    expect(titles.size).toBe(8);
  });

  it('can be used from the keyboard: skip link, form, and a focus that can be seen', async () => {
    const page = await open('/#/module');
    await page.locator('main form').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to content');
    const box = await page.locator(':focus').boundingBox();
    expect(box!.y).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Enter');
    expect(await page.locator('main:focus').count()).toBe(1);
    await page.keyboard.press('Tab');
    await page.keyboard.type('0x1');
    await page.keyboard.press('Tab');
    await page.keyboard.type('coin');
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineWidth');
    expect(Number.parseFloat(outline as string)).toBeGreaterThanOrEqual(2);
    await page.keyboard.press('Enter');
    await page.locator('article').first().waitFor();
    expect(await page.locator('input[name=name]:focus').count()).toBe(1);
    expect(await page.locator('#announcements').textContent()).toBe('Module coin shown');
  });

  it('keeps still when asked to', async () => {
    const motion = async (reducedMotion: 'reduce' | 'no-preference') => {
      const page = await open('/', { reducedMotion });
      return page.evaluate(
        `(() => {
          const row = document.createElement('tr');
          row.className = 'fresh';
          document.body.append(row);
          return getComputedStyle(row).animationName;
        })()`,
      );
    };
    expect(await motion('reduce')).toBe('none');
    expect(await motion('no-preference')).toBe('arrive');
  });

  it('runs nothing that stands in the document itself', async () => {
    const page = await open('/', { expectedOffence: /violates the following Content Security/ });
    const ran = await page.evaluate(
      `(() => {
        const script = document.createElement('script');
        script.textContent = 'window.injected = true';
        document.body.append(script);
        return window.injected === true;
      })()`,
    );
    expect(ran).toBe(false);
  });
});
