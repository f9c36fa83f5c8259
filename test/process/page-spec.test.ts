/** The API documentation in a browser: Swagger UI over the node's own document. */
import { expect, it } from 'vitest';
import { LOW_CONTRAST_TEXTS, SIDEWAYS_OVERFLOW } from './page-measures.ts';
import { describePage } from './page-suite.ts';

describePage('page: API documentation', ({ node, open }) => {
  it('shows every operation of the document and runs one, asking nobody else', async () => {
    const page = await open('/v1/spec');
    const { text } = await node().get('/v1/spec.json');
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> };
    const operations = Object.values(paths).flatMap((path) => Object.keys(path));
    await page.locator('.opblock').first().waitFor();
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    await page.locator('#operations-General-get_ledger_info .opblock-summary-control').click();
    await page.getByRole('button', { name: 'Execute', exact: true }).click();
    const body = page.locator('.live-responses-table .highlight-code, .live-responses-table pre');
    await body.first().waitFor();
    const { ledger_version } = JSON.parse((await node().get('/v1')).text) as Record<string, string>;
    expect(await page.locator('.live-responses-table').textContent()).toContain(ledger_version);
    expect(page.url()).toContain('#operations-General-get_ledger_info');
  });

  it.each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('fits %i px, %s, and opens the linked operation', async (widthPx, colorScheme) => {
    const path = '/v1/spec#operations-Accounts-get_account_balance';
    const page = await open(path, { widthPx, colorScheme });
    await page.locator('#operations-Accounts-get_account_balance.is-open').waitFor();
    expect(await page.evaluate(SIDEWAYS_OVERFLOW)).toEqual([]);
    expect(await page.evaluate(LOW_CONTRAST_TEXTS)).toEqual([]);
  });
});
