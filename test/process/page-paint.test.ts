/**
 * The first paint of a view only waits for its styles and its script, and for no response of the API. Prints how long
 * it takes with an empty cache: `npx vitest run test/process/page-paint.test.ts`, on a quiet machine.
 */
import type { Browser, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { hasBrowser, launchBrowser } from './page-browser.ts';
import { type PageNode, startPageNode } from './page-node.ts';

const LOADS = 9;

interface Load {
  /** Time of the frame after the one that first had a heading, in milliseconds after the request of the document. */
  readonly paintMs: number;
  /** Paths received by then. */
  readonly received: readonly string[];
  readonly bytes: number;
}

/** Sets `window.painted` to the time; source text, because it runs in the browser. */
const NOTE_PAINT = `window.painted = new Promise((resolve) => {
  new MutationObserver((changes, observer) => {
    if (document.querySelector('h1') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
  }).observe(document, { childList: true, subtree: true });
})`;

const MEASURE = `window.painted.then((paintMs) => {
  const received = performance.getEntriesByType('resource')
    .filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= paintMs);
  return {
    paintMs,
    received: received.map(({ name }) => new URL(name).pathname),
    bytes: received.reduce((sum, { transferSize }) => sum + transferSize, 0),
  };
})`;

async function load(browser: Browser, node: PageNode, prepare?: (page: Page) => Promise<unknown>) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(NOTE_PAINT);
  await prepare?.(page);
  await page.goto(`${node.origin}/#/account?address=0x1`, { waitUntil: 'commit' });
  const measured = await page.evaluate<Load>(MEASURE);
  return { ...measured, page, close: () => context.close() };
}

it.skipIf(!hasBrowser)(
  'is painted before the node has answered (skipped without Chromium)',
  async () => {
    const [node, browser] = await Promise.all([startPageNode(), launchBrowser()]);
    try {
      const times: number[] = [];
      for (let at = 0; at < LOADS; at += 1) {
        const { paintMs, received, bytes, close } = await load(browser, node);
        times.push(Math.round(paintMs));
        await close();
        if (at === LOADS - 1) console.log(`${bytes} bytes received by then: ${received.join(' ')}`);
      }
      console.log(`first paint, ms, empty cache: ${times.sort((a, b) => a - b).join(' ')}`);
      const held = await load(browser, node, (page) => page.route('**/v1**', () => undefined));
      expect(held.received.filter((path) => path.startsWith('/v1'))).toEqual([]);
      expect(await held.page.locator('h1').textContent()).toBe('Account 0x1');
    } finally {
      await browser.close();
      await node.stop();
    }
  },
);
