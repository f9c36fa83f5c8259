/** Transactions, blocks, accounts, search and the time machine in a browser. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { describePage, grouped, NATIVE_COIN } from './page-suite.ts';

interface Transaction {
  readonly version: string;
  readonly hash: string;
  readonly type: string;
  readonly sender?: string;
  readonly changes: readonly { readonly type: string }[];
  readonly payload?: { readonly function?: string; readonly arguments?: readonly unknown[] };
}

describePage('page: explorer', ({ node, open, go }) => {
  const json = async <T>(path: string): Promise<T> =>
    JSON.parse((await node().get(path)).text) as T;
  const head = async () => Number((await json<Record<string, string>>('/v1'))['ledger_version']);
  const versions = async (page: Page): Promise<number[]> => {
    await page.locator('table.transactions time').last().waitFor();
    const texts = await page.locator('table.transactions td:first-child').allTextContents();
    return texts.map((text) => Number(text.replaceAll(',', '')));
  };
  const descending = (first: number, count: number) =>
    Array.from({ length: count }, (_, at) => first - at);
  const search = async (page: Page, text: string): Promise<void> => {
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };

  /** The newest user transactions below a version. */
  const ofUsers = async (before: number, count: number): Promise<number[]> => {
    const start = Math.max(0, before - 100);
    const list = await json<Transaction[]>(
      `/v1/transactions?start=${start}&limit=${before - start}`,
    );
    const users = list.filter(({ type }) => type === 'user_transaction');
    return users
      .map(({ version }) => Number(version))
      .reverse()
      .slice(0, count);
  };

  it('transactions: of users, newest first, live, with older pages, all kinds on request', async () => {
    const page = await open('/transactions');
    const first = await ofUsers((await head()) + 1, 25);
    expect(await versions(page)).toEqual(first);
    await page.getByRole('button', { name: 'Pause' }).click();
    await node().grow();
    const grown = await ofUsers((await head()) + 1, 25);
    expect(grown).not.toEqual(first);
    expect(await versions(page)).toEqual(first);
    await page.getByRole('button', { name: 'Follow again' }).click();
    await page.getByRole('link', { name: grouped(String(grown[0])), exact: true }).waitFor();
    expect(await versions(page)).toEqual(grown);
    await page.getByRole('link', { name: 'Older', exact: true }).click();
    await page.getByRole('link', { name: 'Newest' }).waitFor();
    const older = await ofUsers(grown.at(-1)!, 25);
    await page.getByRole('link', { name: grouped(String(older[0])), exact: true }).waitFor();
    expect(await versions(page)).toEqual(older);
    await go(page, '#/transactions?kind=all');
    await page.getByRole('link', { name: grouped(String(await head())), exact: true }).waitFor();
    expect(await versions(page)).toEqual(descending(await head(), 25));
  });

  it('transactions: filtered by function, from a version or a time on', async () => {
    const page = await open('/transactions?kind=all');
    await page.getByLabel('Function').fill('TICKER::tick');
    await page.getByLabel('Up to version or time').fill('1,000');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(/before=1001/);
    const list = await json<Transaction[]>('/v1/transactions?start=901&limit=100');
    const ticks = list.filter(({ payload }) => payload?.function?.endsWith('::ticker::tick'));
    await page.getByRole('link', { name: ticks.at(-1)!.version, exact: true }).waitFor();
    const found = (await versions(page)).filter((version) => version > 900);
    const wanted = ticks.map(({ version }) => Number(version)).reverse();
    expect(found).toEqual(wanted.slice(0, found.length));
    const { timestamp } = await json<{ timestamp: string }>('/v1/transactions/by_version/500');
    const time = new Date(Number(timestamp) / 1000).toISOString();
    const at = `/v1/versions/by_timestamp/${Date.parse(time) * 1000}`;
    const { version } = await json<{ version: string }>(at);
    await page.getByLabel('At version').fill(time);
    await page.getByLabel('At version').press('Enter');
    await page.waitForURL(new RegExp(`version=${version}$`));
  });

  it('has the paths of the public explorer', async () => {
    const { hash, sender } = await json<Transaction>('/v1/transactions/by_version/400');
    const page = await open(`/txn/${hash}?network=mainnet`);
    await page.locator('dt').getByText('Sender', { exact: true }).waitFor();
    await page.locator('main').getByRole('link', { name: sender!, exact: true }).first().click();
    await page.waitForURL(new RegExp(`/account/${sender}$`));
    await page.locator('h1:focus').getByText('Account').waitFor();
    await page.goBack();
    await page.locator('h1').getByText('Transaction').waitFor();
    for (const [path, ready] of [
      ['/txn/400/changes', 'section[aria-label=Changes] article'],
      ['/block/3?network=testnet', 'table.transactions time'],
      ['/account/0x1/modules/code/coin/transfer', 'article.revealed'],
      ['/account/0x1/modules', 'main .links a:has-text("coin")'],
      ['/coin/0x1::aptos_coin::AptosCoin', 'text=Aptos Coin'],
      ['/object/0xa', 'text=an asset'],
    ] as const) {
      await page.goto(node().origin + path);
      await page.locator(ready).first().waitFor();
    }
  });

  it('a transaction: who, what, how it ended, and its changes as before and after', async () => {
    const list = await json<Transaction[]>('/v1/transactions?start=30&limit=100');
    const ticked = list.find((one) => one.payload?.function?.endsWith('::tick') === true)!;
    const { hash, sender, payload, changes } = ticked;
    const version = Number(ticked.version);
    const page = await open(`/#/transaction?id=${version}`);
    const main = page.locator('main');
    await main.getByText('success: Executed successfully').waitFor();
    const called = payload!.function!.split('::').slice(1).join('::');
    await page.locator('.headline').getByText(`::${called}`).waitFor();
    expect(await page.title()).toBe(`Transaction ${version} · Daybook`);
    for (const text of [hash, sender!]) {
      await main.getByText(text, { exact: true }).first().waitFor();
    }
    const [, module, name] = payload!.function!.split('::');
    await main
      .getByRole('link', { name: new RegExp(`::${module}::${name}$`) })
      .last()
      .waitFor();
    await main.getByText(/^Argument 1: \w+/).waitFor();
    await page.getByRole('link', { name: /^Changes/ }).click();
    await page.locator('section[aria-label=Changes] h2').waitFor();
    expect(await page.locator('section[aria-label=Changes] article').count()).toBe(changes.length);
    const path = `/v1/accounts/${sender}/resource/0x1::account::Account?ledger_version=`;
    const number = async (at: number) =>
      (await json<{ data: { sequence_number: string } }>(path + at)).data.sequence_number;
    const row = page.locator('tr', { has: page.getByText('sequence_number', { exact: true }) });
    const cells = await row.locator('td').allTextContents();
    expect(cells).toEqual([await number(version - 1), `${await number(version)} +1`]);
  });

  it('every kind of transaction has a page without an error', async () => {
    const list = await json<Transaction[]>('/v1/transactions?start=0&limit=100');
    const kinds = new Map(list.map((one) => [one.type, one.version]));
    expect(kinds.size).toBeGreaterThan(2);
    const page = await open('/');
    for (const version of kinds.values()) {
      await go(page, `#/transaction?id=${version}`);
      await page.locator('h1').getByText(`Transaction ${version}`, { exact: true }).waitFor();
      await page.getByText('State change hash').waitFor();
      await page.getByRole('link', { name: /^Changes/ }).click();
      await page.locator('section[aria-label=Changes] h2').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    }
  });

  it('blocks lead to a block, a block to its transactions and neighbours', async () => {
    const page = await open('/#/blocks');
    await page.locator('table.blocks time').first().waitFor();
    await page.locator('table.blocks tbody tr a').first().click();
    const height = (await json<Record<string, string>>('/v1'))['block_height']!;
    const block = await json<{ block_hash: string; first_version: string; last_version: string }>(
      `/v1/blocks/by_height/${height}`,
    );
    await page.locator('main').getByText(block.block_hash, { exact: true }).waitFor();
    const [first, last] = [Number(block.first_version), Number(block.last_version)];
    expect(await versions(page)).toEqual(descending(last, last - first + 1).reverse());
    await page.getByRole('link', { name: 'Previous block' }).click();
    const title = `Block ${grouped(String(Number(height) - 1))}`;
    await page.locator('h1').getByText(title, { exact: true }).waitFor();
    expect(await page.title()).toBe(`${title} · Daybook`);
  });

  it('an account: assets with symbols, streams by name, modules, what it sent', async () => {
    const page = await open(`/#/account?address=${CAFE_HEX}&show=assets`);
    const coin = page.locator('table.assets tr', { has: page.getByText(NATIVE_COIN) });
    await coin.getByText(/^[\d,.]+ APT$/).waitFor();
    await page.getByRole('link', { name: 'Event streams' }).click();
    await page.locator('table.streams').getByRole('link', { name: 'ticks' }).click();
    await page.locator('.stream-name').getByText('ticks').waitFor();
    await go(page, `#/account?address=${CAFE_HEX}&show=modules`);
    await page.locator('.links').getByRole('link', { name: 'ticker' }).waitFor();
  });

  it('an account: its balance first, and what it did in both directions', async () => {
    const list = await json<Transaction[]>('/v1/transactions?start=1000&limit=100');
    const transfer = list.find((one) => one.payload?.function === '0x1::aptos_account::transfer')!;
    const [receiver] = transfer.payload!.arguments as [string];
    const page = await open(`/account/${receiver}`);
    const { text } = await node().get(`/v1/accounts/${receiver}/balance/${NATIVE_COIN}`);
    await page
      .locator('.main-balance')
      .getByTitle(`${grouped(text)} in the smallest unit`)
      .waitFor();
    const sent = await json<{ version: string }[]>(
      `/v1/accounts/${receiver}/transaction_summaries?limit=25`,
    );
    const held = await json<{ asset_type: string }[]>(`/v1/accounts/${receiver}/balances`);
    const all = new Set(sent.map(({ version }) => Number(version)));
    for (const { asset_type } of held) {
      const path = `/v1/accounts/${receiver}/balance/${asset_type}/history?order=desc&limit=25`;
      for (const { version } of await json<{ version: string }[]>(path)) all.add(Number(version));
    }
    const newest = [...all].sort((a, b) => b - a).slice(0, 25);
    expect(newest).not.toEqual(sent.map(({ version }) => Number(version)).reverse());
    expect(await versions(page)).toEqual(newest);
    await page.goto(`${node().origin}/account/${receiver}?before=${Number(transfer.version) + 1}`);
    const row = page.locator('tr', {
      has: page.getByText(grouped(transfer.version), { exact: true }),
    });
    await row.locator('.gain').waitFor();
    await row.getByTitle(transfer.sender!).first().waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const lines = readFileSync(await (await saved).path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    const line = lines.find((one) => one.startsWith(`${transfer.version},`))!.split(',');
    const [, amount] = transfer.payload!.arguments as [string, string];
    expect(line.slice(7)).toEqual(['0xa', 'APT', expect.any(String), amount, transfer.sender]);
  });

  it('an account: every asset that the node lists, in its unit', async () => {
    const held = await json<{ asset_type: string; symbol: string }[]>(
      `/v1/accounts/${CAFE_HEX}/balances`,
    );
    expect(held.length).toBeGreaterThan(1);
    const page = await open(`/#/account?address=${CAFE_HEX}&show=assets`);
    await page.locator('table.assets tbody tr').last().waitFor();
    const shown = await page.locator('table.assets td:nth-child(2)').allTextContents();
    expect(shown.map((text) => text.split(' ')[1])).toEqual(held.map(({ symbol }) => symbol));
  });

  it('items of tables have their bytes before and after', async () => {
    interface Item {
      readonly handle: string;
      readonly key: string;
      readonly value: string;
    }
    const list = await json<{ version: string; changes: (Item & { type: string })[] }[]>(
      '/v1/transactions?start=1000&limit=100',
    );
    const before = async (version: number, { handle, key }: Item): Promise<string | undefined> => {
      const response = await fetch(
        `${node().origin}/v1/tables/${handle}/raw_item?ledger_version=${version - 1}`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/x-bcs' },
          body: JSON.stringify({ key }),
        },
      );
      if (!response.ok) return undefined;
      return `0x${Buffer.from(await response.arrayBuffer()).toString('hex')}`;
    };
    const writes = list.flatMap(({ version, changes }) =>
      changes.flatMap((change, at) =>
        change.type === 'write_table_item' && at < 12
          ? [{ version: Number(version), at, change }]
          : [],
      ),
    );
    for (const { version, at, change } of writes) {
      const old = await before(version, change);
      if (old === undefined || old === change.value) continue;
      const page = await open(`/txn/${version}/changes`);
      const article = page.locator('section[aria-label=Changes] article').nth(at);
      const cells = article.locator('.difference td');
      await cells.first().waitFor();
      expect((await cells.allTextContents()).map((text) => text.split(' ')[0])).toEqual([
        old,
        change.value,
      ]);
      return;
    }
    throw new Error('no item was changed');
  });

  it('Escape folds up what is unfolded around the focus, and leaves the search', async () => {
    const page = await open(`/#/account?address=${CAFE_HEX}&show=resources`);
    const first = page.locator('details.resource').first();
    await first.locator('summary').click();
    await first.getByRole('button').or(first.getByRole('link')).first().focus();
    await page.keyboard.press('Escape');
    expect(await first.evaluate((element) => element.matches('[open]'))).toBe(false);
    expect(await page.locator('summary:focus').count()).toBe(1);
    await page.keyboard.press('/');
    expect(await page.locator('search input:focus').count()).toBe(1);
    await page.keyboard.press('Escape');
    expect(await page.locator('search input:focus').count()).toBe(0);
  });

  it('a view function runs, and says why it did not', async () => {
    const page = await open('/');
    await go(page, '#/module?account=0x1&name=coin&item=decimals');
    const item = page.locator('article.revealed');
    await item.getByText('Call this view function').click();
    await item.getByLabel('Type argument T0').fill(NATIVE_COIN);
    await item.getByRole('button', { name: 'Call', exact: true }).click();
    await item.locator('.results output').getByText('8', { exact: true }).waitFor();
    await item.getByLabel('Type argument T0').fill('0x1::coin::Coin<u8>');
    await item.getByRole('button', { name: 'Call', exact: true }).click();
    await item.getByRole('alert').getByText('Failed to borrow global resource').waitFor();
  });

  it('an account that does not exist is called so, now and at an old version', async () => {
    const page = await open('/#/account?address=0x77');
    await page.getByText('There is no account and no object at this address:').waitFor();
    const { text } = await node().get('/v1/transactions?start=1500&limit=1');
    const [late] = JSON.parse(text) as { version: string }[];
    expect(late).toBeDefined();
    await go(page, `#/account?address=${CAFE_HEX}&version=5`);
    await page
      .locator('main')
      .getByText(/^Address$/)
      .waitFor();
  });

  it('time machine: one version for everything, in every link and after a reload', async () => {
    const page = await open(`/#/account?address=${CAFE_HEX}&show=resources`);
    await page.getByLabel('At version').fill(' 1,000');
    await page.getByLabel('At version').press('Enter');
    await page.waitForURL(/version=1000/);
    const path = `/v1/accounts/${CAFE_HEX}?ledger_version=1000`;
    const { sequence_number } = await json<{ sequence_number: string }>(path);
    const fact = page.locator('dl.facts div', { hasText: 'Sequence number' });
    await fact.getByText(sequence_number, { exact: true }).waitFor();
    await page.reload();
    await fact.getByText(sequence_number, { exact: true }).waitFor();
    await page.locator('nav a[data-view=transactions]').click();
    expect(await versions(page)).toEqual(descending(1000, 25));
    await go(page, `#/events?account=${CAFE_HEX}&stream=2&version=1000`);
    await page.locator('table.events tbody tr').first().waitFor();
    const at = await page.locator('table.events td:nth-child(2)').allTextContents();
    expect(at.every((text) => Number(text.replaceAll(',', '')) <= 1000)).toBe(true);
    const events = `/v1/accounts/${CAFE_HEX}/resource/${CAFE_HEX}::ticker::Board?ledger_version=1000`;
    const board = await json<{ data: { ticks: { counter: string } } }>(events);
    const newest = await page.locator('table.events td:first-child').first().textContent();
    expect(Number(newest)).toBe(Number(board.data.ticks.counter) - 1);
    await page.getByRole('button', { name: 'Back to latest' }).click();
    await page.getByLabel('Follow live').waitFor();
    expect(page.url()).not.toContain('version');
  });

  it('the overview says which version is looked at, and shows what was newest then', async () => {
    const page = await open('/#/overview?version=1000');
    await page.getByText('You look at the ledger as of version 1,000').waitFor();
    expect(await versions(page)).toEqual(descending(1000, 8));
    await go(page, '#/overview?version=99999999');
    await page.getByRole('alert').getByText('No such version').waitFor();
  });

  it('events: the streams of an account are offered by name', async () => {
    const page = await open(`/#/events?account=${CAFE_HEX}`);
    await page.getByRole('link', { name: 'ticks' }).click();
    await page.waitForURL(/stream=2$/);
    await page.locator('table.events tbody tr').first().waitFor();
    await go(page, '#/events?account=0x77');
    await page.getByText('No resource of this account has an event handle.').waitFor();
  });

  it('module events of a type: from the module, page by page, as of a version', async () => {
    const type = '0x1::transaction_fee::FeeStatement';
    interface Typed {
      readonly version: string;
      readonly index: number;
    }
    const events = await json<Typed[]>(`/v1/events/by_type/${type}?limit=60`);
    const texts = (count: number) =>
      events.slice(0, count).map(({ version, index }) => `${grouped(version)} ${index}`);
    const shown = async (page: Page, count: number) => {
      await page
        .locator('table.events tbody tr')
        .nth(count - 1)
        .waitFor();
      const rows = await page.locator('table.events tbody tr').all();
      return await Promise.all(
        rows.map(async (row) => {
          const [version, index] = await row.locator('td.number').allTextContents();
          return `${version} ${index}`;
        }),
      );
    };
    const page = await open('/#/module?account=0x1&name=transaction_fee');
    const item = page.locator('article.item', {
      has: page.getByRole('heading', { name: 'FeeStatement' }),
    });
    await item.getByRole('link', { name: 'Events' }).click();
    expect(await shown(page, 25)).toEqual(texts(25));
    await page.getByRole('button', { name: 'More' }).click();
    expect(await shown(page, 50)).toEqual(texts(50));
    await go(
      page,
      `#/events?type=${type}&from=${events[10]!.version}&version=${events[19]!.version}`,
    );
    expect(await shown(page, 10)).toEqual(texts(20).slice(10));
    await go(page, '#/events?type=0x1::none::None');
    await page.getByText('No module event of exactly this type is here.').waitFor();
  });

  it('an object is found as what it is, with what it stores', async () => {
    const list = await json<
      { changes: { type: string; address: string; data: { type: string } }[] }[]
    >('/v1/transactions?start=400&limit=100');
    const writes = list.flatMap(({ changes }) => changes);
    const core = writes.find(({ data }) => data?.type === '0x1::object::ObjectCore')!;
    const page = await open('/');
    await search(page, core.address);
    await page.waitForURL(new RegExp(`/account/${core.address}$`));
    await page.locator('dt').getByText('Object', { exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('addresses inside values lead to what has that name', async () => {
    const page = await open(`/#/account?address=${CAFE_HEX}&show=resources`);
    const resource = page.locator('details.resource', { hasText: '0x1::account::Account' });
    await resource.locator('summary').first().click();
    await resource.getByRole('link', { name: CAFE_HEX, exact: true }).first().click();
    await page.waitForURL(new RegExp(`/account/${CAFE_HEX}$`));
  });

  it('a view function is called with the values of its form', async () => {
    const page = await open('/#/module?account=0x1&name=coin&item=balance&version=1000');
    const item = page.locator('article.revealed');
    await item.getByText('Call this view function').click();
    await item.getByLabel('Type argument T0').fill(NATIVE_COIN);
    await item.getByLabel('Argument 1: address').fill(CAFE_HEX);
    await item.getByRole('button', { name: 'Call', exact: true }).click();
    const path = `/v1/accounts/${CAFE_HEX}/balance/${NATIVE_COIN}?ledger_version=1000`;
    const { text } = await node().get(path);
    await item.locator('.results output').getByText(text, { exact: true }).waitFor();
  });

  it('a module’s code: constants, calls in both directions, instructions', async () => {
    const page = await open('/#/module?account=0x1&name=coin');
    await page.getByText('Code: constants, calls and instructions').click();
    const code = page.locator('details.code');
    await code.locator('article h3').first().waitFor();
    expect(await code.locator('article').count()).toBeGreaterThan(5);
    await code
      .getByText(/\d instructions?$/)
      .first()
      .click();
    await code
      .locator('pre')
      .first()
      .getByText(/^0: \w+/)
      .waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('an event stream is saved as CSV and as JSON lines', async () => {
    const page = await open(`/#/events?account=${CAFE_HEX}&stream=2`);
    await page.getByLabel('Follow live').uncheck();
    const shown = await page.locator('table.events td:first-child').first().textContent();
    for (const [format, head] of [
      ['CSV', 'sequence_number,version,type,data\r\n0,'],
      ['JSON lines', '{"sequence_number":"0","version":'],
    ] as const) {
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: `Export ${format}` }).click();
      const text = readFileSync(await (await saved).path(), 'utf8');
      expect(text.startsWith(head)).toBe(true);
      const lines = text.trimEnd().split('\n').length;
      expect(lines).toBe(Number(shown) + 1 + (format === 'CSV' ? 1 : 0));
    }
  });
});
