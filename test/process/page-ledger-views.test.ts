/** Event streams and modules in a browser, and every view's errors in the node's own words. */
import { gzipSync } from 'node:zlib';
import type { Page, Route } from 'playwright-core';
import { expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { describePage, NATIVE_COIN } from './page-suite.ts';

/** Number of lines that the sequence number and the version of the first row take. */
const LINES_OF_NUMBERS = `[...document.querySelectorAll('tbody tr:first-child td')].slice(0, 2).map((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const linePx = Number.parseFloat(getComputedStyle(cell).lineHeight);
  return Math.round(range.getBoundingClientRect().height / linePx);
})`;

/** Responds with a page of events; a stream gets none. */
function fulfillEvents(route: Route, records: readonly object[]): Promise<void> {
  const isStream = route.request().headers()['accept'] === 'text/event-stream';
  return route.fulfill(
    isStream ? { contentType: 'text/event-stream', body: 'retry: 60000\n\n' } : { json: records },
  );
}

describePage('page: events, modules and errors', ({ node, open, go }) => {
  const sequenceNumbers = async (page: Page): Promise<number[]> => {
    const texts = await page.locator('table.events td:first-child').allTextContents();
    return texts.map((text) => Number(text.replaceAll(',', '')));
  };

  it('events: newest first, older on request, new ones by themselves', async () => {
    const page = await open(`/#/events?account=${CAFE_HEX}&stream=2`);
    await page.getByRole('row').nth(1).waitFor();
    const first = await sequenceNumbers(page);
    const { text } = await node().get(`/v1/accounts/${CAFE_HEX}/events/2?limit=1`);
    const [newest] = JSON.parse(text) as { sequence_number: string }[];
    expect(first).toEqual(
      Array.from({ length: 25 }, (_, at) => Number(newest!.sequence_number) - at),
    );
    await page.getByRole('button', { name: 'Older events' }).click();
    await page.getByText(/^50 events/).waitFor();
    expect(await sequenceNumbers(page)).toEqual(
      Array.from({ length: 50 }, (_, at) => first[0]! - at),
    );
    await node().grow();
    await page.locator('tr.fresh').first().waitFor();
    const longer = await sequenceNumbers(page);
    expect(longer[0]).toBeGreaterThan(first[0]!);
    expect(longer).toEqual(Array.from({ length: longer.length }, (_, at) => longer[0]! - at));
    expect(await page.locator('#announcements').textContent()).toMatch(/new event/);
  });

  it('events: following can be switched off', async () => {
    const page = await open(`/#/events?account=${CAFE_HEX}&stream=2`);
    await page.getByRole('row').nth(1).waitFor();
    await page.getByLabel('Follow live').uncheck();
    const before = await sequenceNumbers(page);
    await node().grow();
    await page.waitForTimeout(2_600);
    expect(await sequenceNumbers(page)).toEqual(before);
  });

  it('events: says when following is interrupted, and goes on without a gap', async () => {
    const page = await open(`/#/events?account=${CAFE_HEX}&stream=2`);
    await page.getByRole('row').nth(1).waitFor();
    const interrupted = page.getByText('Following is interrupted');
    await node().pause();
    try {
      await interrupted.waitFor();
      await node().grow();
    } finally {
      await node().resume();
    }
    await page.locator('tr.fresh').first().waitFor();
    expect(await interrupted.count()).toBe(0);
    const shown = await sequenceNumbers(page);
    expect(shown).toEqual(Array.from({ length: shown.length }, (_, at) => shown[0]! - at));
  });

  it('events: data is text, never markup', async () => {
    const page = await open('/');
    const evil = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
    const record = {
      ...{ version: '1', sequence_number: '0', type: `0x1::a::B<${evil}>` },
      guid: { creation_number: '9', account_address: '0x9' },
      data: { [evil]: evil, nested: { long: [evil, evil, evil] } },
    };
    await page.route('**/events/9*', (route) => fulfillEvents(route, [record]));
    await go(page, '#/events?account=0x9&stream=9');
    await page.locator('table.events dd').first().waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.locator('table.events').textContent()).toContain(evil);
    expect(await page.title()).toBe('Event stream 9 of 0x9 · Daybook');
  });

  it('events: numbers stay in one line at 1280 px', async () => {
    const page = await open('/');
    const record = {
      ...{ version: '12345678901', sequence_number: '1234567', type: '0x1::a::B' },
      guid: { creation_number: '9', account_address: '0x9' },
      data: { text: 'long '.repeat(200) },
    };
    await page.route('**/events/9*', (route) => fulfillEvents(route, [record]));
    await go(page, '#/events?account=0x9&stream=9');
    await page.getByText('12,345,678,901').waitFor();
    const lines = await page.evaluate(LINES_OF_NUMBERS);
    expect(lines).toEqual([1, 1]);
  });

  it('module: shows what the interface holds, filtered, linked and focused', async () => {
    const page = await open('/#/module?account=0x1&name=coin&item=CoinStore');
    const { text } = await node().get('/v1/accounts/0x1/module/coin');
    const { abi } = JSON.parse(text) as {
      abi: Record<'structs' | 'exposed_functions', { name: string }[]>;
    };
    await page.locator('article').first().waitFor();
    expect(await page.locator('article h3').allTextContents()).toEqual(
      [...abi.exposed_functions, ...abi.structs].map(({ name }) => name),
    );
    expect(await page.locator(':focus h3').textContent()).toBe('CoinStore');
    expect(await page.locator(':focus pre').textContent()).toMatch(
      /^struct CoinStore<T0> has key \{\ncoin: 0x1::coin::Coin<T0>,\n/,
    );
    await page.getByLabel('Filter').fill('entry transfer');
    const shown = page.locator('article:visible');
    expect(await shown.count()).toBeGreaterThan(0);
    for (const name of await shown.locator('h3').allTextContents())
      expect(name).toMatch(/transfer/);
    await shown.getByRole('link', { name: 'Encode a call' }).first().click();
    await page.getByLabel('Argument 1: address').waitFor();
    expect(await page.getByLabel('Function').inputValue()).toContain('0x1::coin::transfer');
  });

  it('module: friends are listed and types lead to their module', async () => {
    const page = await open('/#/module?account=0x1&name=account');
    const { text } = await node().get('/v1/accounts/0x1/module/account');
    const { abi } = JSON.parse(text) as { abi: { friends: string[] } };
    await page.locator('article').first().waitFor();
    const friends = page.locator('.friends, .module > .hint').first();
    for (const friend of abi.friends) expect(await friends.textContent()).toContain(friend);
    await page.locator('article a.t-type[href*="/code/event"]').first().click();
    await page.waitForURL(/\/account\/0x1\/modules\/code\/event\/EventHandle$/);
    await page.locator(':focus h3').getByText('EventHandle').waitFor();
  });

  it('module: source that is on chain is shown, and its names of parameters', async () => {
    const page = await open('/');
    const source = 'module 0x1::coin { public fun balance<T>(owner_of_it: address): u64 {} }';
    const module = { name: 'coin', source: `0x${gzipSync(source).toString('hex')}` };
    const data = { packages: [{ name: 'Framework', upgrade_number: '3', modules: [module] }] };
    await page.route('**/resource/0x1::code::PackageRegistry*', (route) =>
      route.fulfill({ body: JSON.stringify({ type: '0x1::code::PackageRegistry', data }) }),
    );
    await go(page, '#/module?account=0x1&name=coin&item=balance');
    await page.getByText('In the package Framework, upgraded 3 times').waitFor();
    await page.getByText('Move source, as its publisher').click();
    await page.getByLabel('Move source').getByText('owner_of_it: address').waitFor();
    await page.getByText('Parameters: owner_of_it').waitFor();
    await page.locator('article.revealed').getByText('Call this view function').click();
    await page.getByLabel('Argument 1 owner_of_it: address').waitFor();
  });

  it('module: bytes that are no module are not hidden', async () => {
    const page = await open('/');
    await page.route('**/module/broken', (route) =>
      route.fulfill({ body: '{"bytecode":"0x00ff","abi":null}' }),
    );
    await go(page, '#/module?account=0x1&name=broken');
    await page.getByText('they do not load as a module').waitFor();
    await page.getByText('Bytecode, 2 bytes').click();
    expect(await page.locator('.bytecode code').textContent()).toBe('0x00ff');
  });

  it.each([
    ['/#/balance?account=xyz', `/v1/accounts/xyz/balance/${NATIVE_COIN}`],
    ['/#/balance?account=0x1&asset=0x1::a', '/v1/accounts/0x1/balance/0x1::a'],
    [
      '/#/balance?account=0x1&version=99999999',
      `/v1/accounts/0x1/balance/${NATIVE_COIN}?ledger_version=99999999`,
    ],
    ['/#/events?account=0x1&stream=x', '/v1/accounts/0x1/events/x?limit=25'],
    ['/#/module?account=0x1&name=nothing_here', '/v1/accounts/0x1/module/nothing_here'],
    ['/#/module?account=0x1&name=1', '/v1/accounts/0x1/module/1'],
  ])('shows the error of %s in the node’s words', async (hash, path) => {
    const { status, text } = await node().get(path);
    const error = JSON.parse(text) as { message: string; error_code: string };
    const page = await open(hash);
    const panel = page.getByRole('alert');
    await panel.waitFor();
    expect(await panel.locator('.message').textContent()).toBe(error.message);
    expect(await panel.locator('code').textContent()).toBe(error.error_code);
    expect(await panel.locator('dd').last().textContent()).toBe(String(status));
    expect(await page.locator('.command').textContent()).toContain(node().origin);
  });

  it('shows answers that are no error body, and answers that are not JSON', async () => {
    const page = await open('/');
    await page.route('**/module/a', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }));
    await page.route('**/module/b', (route) => route.fulfill({ body: '<html>' }));
    await go(page, '#/module?account=0x1&name=a');
    await page.getByRole('alert').getByText('no error body: Bad gateway').waitFor();
    await go(page, '#/module?account=0x1&name=b');
    await page.getByRole('alert').getByText('expected value at line 1 column 1').waitFor();
  });

  it('pruned events: reaches the first kept one and shows the refusal beyond it', async () => {
    await node().pruneBelow(900n);
    const { text } = await node().get('/v1/accounts/0x1/events/3?start=0');
    const { message } = JSON.parse(text) as { message: string };
    const firstKept = Number(/(\d+)$/.exec(message)![1]);
    const page = await open(`/#/events?account=0x1&stream=3&start=${firstKept + 3}`);
    await page.getByRole('button', { name: 'Older events' }).click();
    await page.getByText('Older events are gone').waitFor();
    expect((await sequenceNumbers(page)).at(-1)).toBe(firstKept);
    expect(await page.getByRole('alert').locator('code').textContent()).toBe('version_pruned');
  });

  it('pruned transactions: an account’s list says where this node begins', async () => {
    const oldest = Number(await node().pruneBelow(900n)).toLocaleString('en');
    const page = await open('/#/account?address=0x1&show=transactions');
    await page.getByText(`This node has no transactions before version ${oldest}.`).waitFor();
  });
});
