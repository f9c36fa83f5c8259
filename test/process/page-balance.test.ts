/** The balance view in a browser: exact figures, and a history that only claims what the node has answered. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { LOW_CONTRAST_TEXTS } from './page-measures.ts';
import { describePage, grouped, NATIVE_COIN } from './page-suite.ts';

interface SampleRow {
  readonly version: bigint;
  readonly outcome: string;
}

async function sampleRows(page: Page): Promise<SampleRow[]> {
  await page.getByText('nothing is claimed about versions between them').waitFor();
  await page.getByText('Samples as a table').click();
  const cell = (place: string) => page.locator(`.samples td:${place}-child`).allTextContents();
  const [versions, outcomes] = [await cell('first'), await cell('last')];
  return versions.map((version, at) => ({
    version: BigInt(version.replaceAll(',', '')),
    outcome: outcomes[at]!,
  }));
}

/** Parses an amount on the page into the smallest unit. */
function octas(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.replaceAll(',', '').split('.');
  return BigInt(whole + fraction.padEnd(8, '0'));
}

describePage('page: balance', ({ node, open, go }) => {
  const balanceAt = async (query: string): Promise<string> =>
    (await node().get(`/v1/accounts/${CAFE_HEX}/balance/${NATIVE_COIN}${query}`)).text;

  it('is the node’s own figure, and its curl command gives it too', async () => {
    const balance = await balanceAt('');
    expect(balance).toMatch(/^[1-9]\d+$/);
    const page = await open(`/#/balance?account=${CAFE_HEX}`);
    await page.locator('output.exact').getByText(grouped(balance), { exact: true }).waitFor();
    const command = await page.locator('.command').textContent();
    const script = `set -f; curl() { printf '%s\\n' "$@"; }; ${command}`;
    const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
    const { origin } = node();
    expect(words.at(-1)).toBe(`${origin}/v1/accounts/${CAFE_HEX}/balance/${NATIVE_COIN}`);
    expect((await node().get(words.at(-1)!.slice(origin.length))).text).toBe(balance);
  });

  it('keeps every digit beyond 2^53', async () => {
    const page = await open('/');
    await page.route('**/balance/0xa*', (route) =>
      route.fulfill({ body: '18446744073709551615', contentType: 'application/json' }),
    );
    await go(page, '#/balance?account=0xb16&asset=0xa');
    const figure = page.locator('output.exact');
    await figure.waitFor();
    expect(await figure.textContent()).toBe('18,446,744,073,709,551,615');
    const rows = await sampleRows(page);
    expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(
      new Set(['18,446,744,073,709,551,615']),
    );
  });

  it('can be asked at a version, and follows the ledger without one', async () => {
    const page = await open(`/#/balance?account=${CAFE_HEX}&version=1000`);
    const figure = page.locator('output.exact');
    await figure.getByText(grouped(await balanceAt('?ledger_version=1000'))).waitFor();
    await page.getByLabel('At version').fill('');
    await page.getByLabel('At version').press('Enter');
    await figure.getByText(grouped(await balanceAt('')), { exact: true }).waitFor();
    await node().grow();
    await figure.getByText(grouped(await balanceAt('')), { exact: true }).waitFor();
  });

  it('charts the history within its bound; slider, table and node agree', async () => {
    const page = await open('/');
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().includes('ledger_version=')) asked += 1;
    });
    await go(page, `#/balance?account=${CAFE_HEX}&from=1000&to=1700`);
    const rows = await sampleRows(page);
    expect(asked).toBeGreaterThan(2);
    expect(asked).toBeLessThanOrEqual(64);
    expect(rows).toHaveLength(asked);
    expect([rows[0]!.version, rows.at(-1)!.version]).toEqual([1000n, 1700n]);
    expect(await page.locator('.plot circle').count()).toBe(asked);
    // axe-core checks the `color` of SVG text, which is painted with its `fill`, so this test measures it.
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(LOW_CONTRAST_TEXTS)).toEqual([]);
    }
    const slider = page.getByRole('slider', { name: 'Sample' });
    for (const [key, { version, outcome }] of [
      ['Home', rows[0]!],
      ['ArrowRight', rows[1]!],
      ['End', rows.at(-1)!],
    ] as const) {
      await slider.press(key);
      const text = `Version ${grouped(String(version))}: ${outcome}`;
      expect(await page.locator('.readout').textContent()).toBe(text);
      expect(await slider.getAttribute('aria-valuetext')).toBe(text);
      expect(grouped(await balanceAt(`?ledger_version=${version}`))).toBe(outcome);
    }
  });

  it('the chart says its unit, its range and where it begins, and marks the asked version', async () => {
    const page = await open(`/#/balance?account=${CAFE_HEX}&version=1000`);
    const rows = await sampleRows(page);
    const texts = await page.locator('.plot text').allTextContents();
    expect(texts).toEqual(expect.arrayContaining(['in APT', 'version 1,000', 'version 0']));
    expect(await page.locator('.plot line.marked').count()).toBe(1);
    const ticks = texts.filter((text) => /^[\d,.]+$/.test(text)).map(octas);
    const balances = rows.map(({ outcome }) => BigInt(outcome.replaceAll(',', '')));
    expect(ticks.some((tick) => balances.every((balance) => tick <= balance))).toBe(true);
    expect(ticks.some((tick) => balances.every((balance) => tick >= balance))).toBe(true);
    expect(ticks).not.toContain(0n);
    await page.getByText('The axis of balances does not begin at zero.').waitFor();
    await go(page, '#/balance?account=0xb16');
    await sampleRows(page);
    expect(await page.getByText('does not begin at zero').count()).toBe(0);
  });

  it('lists every change, the newest first, and more on demand', async () => {
    const path = `/v1/accounts/${CAFE_HEX}/balance/${NATIVE_COIN}/history`;
    const { text } = await node().get(`${path}?order=desc&to_version=1500&limit=1000`);
    const changes = JSON.parse(text) as { version: string; amount: string }[];
    expect(changes.length).toBeGreaterThan(50);
    const page = await open(`/#/balance?account=${CAFE_HEX}&to=1500`);
    const listed = page.getByRole('region', { name: 'Changes' });
    const rows = listed.locator('tbody tr');
    await rows.nth(24).waitFor();
    expect(await rows.count()).toBe(25);
    await listed.getByRole('button', { name: 'More' }).click();
    await rows.nth(49).waitFor();
    const amounts = await rows
      .locator('td.number:last-child span')
      .evaluateAll((all) => all.map((one) => one.getAttribute('title')));
    expect(amounts).toEqual(
      changes.slice(0, 50).map(({ amount }) => `${grouped(amount)} in the smallest unit`),
    );
    const versions = await rows.locator('td:first-child a').allTextContents();
    expect(versions).toEqual(changes.slice(0, 50).map(({ version }) => grouped(version)));
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const lines = readFileSync(await (await saved).path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    const differences = lines.slice(1, 50).map((line) => line.split(',')[2]);
    const expected = changes
      .slice(0, 49)
      .map(({ amount }, at) => String(BigInt(amount) - BigInt(changes[at + 1]!.amount)));
    expect(differences).toEqual(expected);
  });

  it('says that nothing has changed where there is no change', async () => {
    const path = `/v1/accounts/${CAFE_HEX}/balance/${NATIVE_COIN}/history`;
    const { text } = await node().get(`${path}?to_version=1500&limit=1000`);
    const versions = (JSON.parse(text) as { version: string }[]).map(({ version }) =>
      Number(version),
    );
    const quiet = versions.findIndex((version, at) => versions[at + 1]! > version + 2);
    const from = versions[quiet]! + 1;
    const page = await open(`/#/balance?account=${CAFE_HEX}&from=${from}&to=${from + 1}`);
    await page.getByText('The balance did not change.').waitFor();
  });

  it.each([
    ['from=9&to=3', 'the first not above the last'],
    ['from=x', 'must be versions'],
    ['to=99999999999999999999999', 'must be versions'],
  ])('says what is wrong with the range %s', async (range, text) => {
    const page = await open(`/#/balance?account=${CAFE_HEX}&${range}`);
    await page.getByRole('alert').getByText(text).waitFor();
    expect(await page.locator('output.exact').textContent()).toMatch(/^\d/);
  });

  it('shows pruned versions as a gap with the node’s refusal, and finds its edge', async () => {
    const oldest = await node().pruneBelow(900n);
    const page = await open(`/#/balance?account=${CAFE_HEX}&from=0&to=1500`);
    const rows = await sampleRows(page);
    expect(await page.locator('.plot rect.refused').count()).toBeGreaterThan(0);
    for (const { version, outcome } of rows) {
      expect(outcome.startsWith('410 version_pruned: ')).toBe(version < oldest);
    }
    const versions = rows.map(({ version }) => version);
    expect(versions).toContain(oldest);
    expect(versions).toContain(oldest - 1n);
  });
});
