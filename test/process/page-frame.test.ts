/** The page's frame: titles, keyboard, motion, policy; and a check that contrast is measured. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { LOW_CONTRAST_TEXTS } from './page-measures.ts';
import { describePage } from './page-suite.ts';

/** The name of the focused control, which must be visible: it has an outline, and is inside the window. */
async function focused(page: Page): Promise<string> {
  const { text, outlinePx, isInside } = (await page.evaluate(FOCUSED)) as Focused;
  expect(outlinePx, text).toBeGreaterThanOrEqual(2);
  expect(isInside, text).toBe(true);
  return text;
}

interface Focused {
  readonly text: string;
  readonly outlinePx: number;
  readonly isInside: boolean;
}

const FOCUSED = `(() => {
  const node = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  const { top, left, bottom, right } = node.getBoundingClientRect();
  return {
    text: (node.labels?.[0] ?? node).textContent.trim(),
    outlinePx: outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth),
    isInside: bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
  };
})()`;

/** More than the number of controls of any view. */
const MAX_TABS = 300;

/** Presses Tab, or Shift+Tab, until the control of this name has the focus; each control on the way must be visible. */
async function tabTo(page: Page, name: string, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
    await page.keyboard.press(key);
    if ((await focused(page)) === name) return;
  }
  throw new Error(`no control is called ${name}`);
}

async function follow(page: Page, name: string): Promise<void> {
  await page.locator('main').getByRole('link', { name, exact: true }).first().waitFor();
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

describePage('page: frame', ({ open }) => {
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

  it('is walked from the ledger to a signing message and back with the keyboard alone', async () => {
    const page = await open('/');
    await page.locator('table time').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.locator('main:focus').count()).toBe(1);
    await page.keyboard.press('/');
    await page.keyboard.type('nonsense!');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    expect(await page.locator('input:focus').count()).toBe(0);
    await page.keyboard.press('/');
    expect(await focused(page)).toBe('Search the ledger');
    await page.keyboard.type(CAFE_HEX);
    await page.keyboard.press('Enter');
    await page.locator('h1:focus').getByText('Account').waitFor();
    await follow(page, 'Event streams');
    await follow(page, 'ticks');
    await page.locator('h1:focus').getByText('Event stream 2').waitFor();
    await page.locator('tbody tr').first().waitFor();
    await tabTo(page, 'Follow live');
    await page.keyboard.press('Space');
    expect(await page.getByLabel('Follow live').isChecked()).toBe(false);
    await follow(page, `${CAFE_HEX}::ticker::Tick`);
    await page.locator(':focus h3').getByText('Tick').waitFor();
    // Functions come before types.
    await tabTo(page, 'Encode a call', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.locator('h1:focus').getByText('Encode').waitFor();
    await page.getByLabel('Argument 1: u64').waitFor();
    await tabTo(page, 'Argument 1: u64');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('7');
    await tabTo(page, 'Encode');
    await page.keyboard.press('Enter');
    await page.locator('table.parts').waitFor();
    await tabTo(page, 'Argument 1');
    expect(await page.locator('.run.marked').allTextContents()).toEqual(['080700000000000000']);
    const titles = ['Encode', 'Module', 'Event stream 2', 'Account', 'Account', 'Ledger'];
    for (const title of titles) {
      await page.goBack();
      await page.locator('h1').getByText(title).waitFor();
    }
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
