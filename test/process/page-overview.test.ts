/** The overview in a browser: the ledger's state, live. */
import { expect, it } from 'vitest';
import { describePage, grouped } from './page-suite.ts';

/** The node responds; its ledger grows or, like an old one, does not. */
const ANSWERING = '.status:is([data-status=live], [data-status=idle])';

describePage('page: overview', ({ node, open, go }) => {
  const state = async () =>
    JSON.parse((await node().get('/v1')).text) as Record<'ledger_version' | 'block_height', string>;

  it('shows the state and follows it', async () => {
    const page = await open('/');
    const before = await state();
    const figures = page.locator('dl.figures');
    await figures.getByText(grouped(before.ledger_version), { exact: true }).waitFor();
    expect(await figures.textContent()).toContain(`Block${grouped(before.block_height)}`);
    expect(await page.locator('.strip .status').textContent()).toBe('Not growing');
    expect(await page.locator('.strip').textContent()).toMatch(/last block \d+ (day|year)s? ago/);
    await node().grow();
    const after = await state();
    expect(after.ledger_version).not.toBe(before.ledger_version);
    await figures.getByText(grouped(after.ledger_version), { exact: true }).waitFor();
    await page.locator('.strip .status').getByText('Live', { exact: true }).waitFor();
  });

  it('asks nothing while hidden', async () => {
    const page = await open('/');
    await page.locator(ANSWERING).waitFor();
    const hide = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
        document.dispatchEvent(new Event('visibilitychange'));`,
      );
    await hide(true);
    await page.locator('.status[data-status=paused]').waitFor();
    let asked = 0;
    page.on('request', () => {
      asked += 1;
    });
    await page.waitForTimeout(2_600);
    expect(asked).toBe(0);
    await hide(false);
    await page.locator(ANSWERING).waitFor();
    expect(asked).toBeGreaterThan(0);
  });

  it('says when the node is gone, keeps the figures, and comes back', async () => {
    const page = await open('/');
    await page.locator('dl.figures').waitFor();
    await node().pause();
    try {
      await page.locator('.status[data-status=unreachable]').waitFor();
      expect(await page.locator('.failure').textContent()).toContain('no_answer');
      expect(await page.locator('dl.figures').isVisible()).toBe(true);
      await page.getByRole('button', { name: 'Try again now' }).waitFor();
      await go(page, '#/events?account=0x1&stream=3');
      await page.getByRole('alert').getByText('No events: the node is not reachable').waitFor();
    } finally {
      await node().resume();
    }
    await page.locator('table.events tbody tr').first().waitFor();
    await go(page, '#/overview');
    await page.locator(ANSWERING).waitFor();
    expect(await page.locator('.failure').count()).toBe(0);
  });

  it('the search leads to views and explains what it does not take', async () => {
    const page = await open('/');
    const search = page.getByLabel('Search the ledger');
    await search.fill('nonsense!');
    await search.press('Enter');
    expect(await page.evaluate('document.activeElement.validationMessage')).toContain(
      'none of these',
    );
    await search.fill('0x1::coin::CoinStore');
    await search.press('Enter');
    await page.waitForURL(/\/account\/0x1\/modules\/code\/coin\/CoinStore$/);
    await page.locator('h1').getByText('Module 0x1::coin').waitFor();
    expect(await page.title()).toBe('Module 0x1::coin · Daybook');
  });

  it('every starting point leads to something', async () => {
    const page = await open('/');
    await page.locator('.links a').first().waitFor();
    const targets = await page.evaluate(
      "[...document.querySelectorAll('.links a')].map((node) => node.href)",
    );
    expect((targets as string[]).length).toBeGreaterThan(4);
    for (const target of targets as string[]) {
      await page.goto(target);
      await page
        .locator('output.exact, table.events tbody tr, article, textarea')
        .first()
        .waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    }
  });
});
