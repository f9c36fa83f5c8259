/** The search in a browser: numbers, bytes and names; it goes straight to the only result. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { describePage } from './page-suite.ts';

describePage('page: search', ({ node, open }) => {
  const json = async <T>(path: string): Promise<T> =>
    JSON.parse((await node().get(path)).text) as T;
  const search = async (page: Page, text: string): Promise<void> => {
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };

  it('search: a decimal is a version or a height, whichever exist', async () => {
    const page = await open('/');
    await search(page, '20');
    await page.getByRole('link', { name: 'Transaction at version 20' }).waitFor();
    await page.getByRole('link', { name: 'Block at height 20' }).waitFor();
    await search(page, '1,500');
    await page.getByRole('link', { name: 'Transaction at version 1,500' }).waitFor();
    const block = page.locator('.hit', { hasText: 'Block at height 1,500' });
    await block.getByText('not on this ledger').waitFor();
    expect(await block.getByRole('link').count()).toBe(0);
  });

  it('search: names are offered, and the only one is gone to', async () => {
    const page = await open('/');
    await search(page, 'transfer_to_object_owner_nothing');
    await page.getByText('Nothing that has a name here').waitFor();
    await page.getByLabel('Search the ledger').fill('resource_acc');
    await page.locator('datalist option').first().waitFor({ state: 'attached' });
    const offered = await page.locator('datalist option').first().getAttribute('value');
    expect(offered).toBe('0x1::resource_account');
    await page.keyboard.press('Escape');
    await search(page, 'coin::depo');
    await page
      .locator('.hits')
      .getByRole('link', { name: '0x1::coin::deposit', exact: true })
      .waitFor();
    await search(page, 'coin::deposit');
    await page.waitForURL(/\/account\/0x1\/modules\/code\/coin\/deposit$/);
  });

  it('search: 32 bytes are what exists of account, object and transaction', async () => {
    const page = await open('/');
    const { hash } = await json<{ hash: string }>('/v1/transactions/by_version/100');
    await search(page, hash);
    await page.waitForURL(new RegExp(`/txn/${hash}$`));
    await page.getByText('State change hash').waitFor();
    await search(page, CAFE_HEX.slice(2));
    await page.waitForURL(new RegExp(`/account/${CAFE_HEX}$`));
    await page.locator('h1:focus').getByText('Account').waitFor();
    const { block_hash } = await json<{ block_hash: string }>('/v1/blocks/by_height/3');
    await search(page, block_hash);
    await page.getByText('Nothing on this ledger has this name.').waitFor();
    await page.getByText('without an indexer this node cannot look them up').waitFor();
    expect(await page.locator('.hit.exists').count()).toBe(0);
  });
});
