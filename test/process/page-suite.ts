/** Setup and teardown of all browser tests of the page. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import {
  hasBrowser,
  launchBrowser,
  type Reader,
  type WatchedPage,
  WatchingBrowser,
} from './page-browser.ts';
import { type PageNode, startPageNode } from './page-node.ts';

/** The coin whose balances are tested. */
export const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';

/** For use inside tests only: the node and the browser run from beforeAll to afterAll. */
export interface PageSuite {
  node(): PageNode;
  /** Opens a page; it may neither log console errors nor send requests to anything but the node. */
  open(path: string, reader?: Reader): Promise<Page>;
  /** Goes to a hash in the page, as an old link would, without loading a document. */
  go(page: Page, hash: string): Promise<void>;
}

/** A suite with one node and one browser; the ledger initially has `transactions`. */
export function describePage(
  name: string,
  define: (suite: PageSuite) => void,
  transactions?: number,
): void {
  describe.skipIf(!hasBrowser)(`${name} (skipped without Chromium)`, () => {
    let node: PageNode;
    let browser: WatchingBrowser;
    const watched: WatchedPage[] = [];
    beforeAll(async () => {
      const [started, launched] = await Promise.all([startPageNode(transactions), launchBrowser()]);
      node = started;
      browser = new WatchingBrowser(launched, node.origin);
    });
    afterAll(async () => {
      await browser?.close();
      await node?.stop();
    });
    afterEach(async () => {
      const opened = watched.splice(0);
      await Promise.all(opened.map(({ page }) => page.close()));
      expect(opened.flatMap(({ offences }) => offences)).toEqual([]);
    });
    define({
      node: () => node,
      open: async (path, reader) => {
        const opened = await browser.open(path, reader);
        watched.push(opened);
        return opened.page;
      },
      go: async (page, hash) => {
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      },
    });
  });
}

/** Digits as the page groups them. */
export function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}
