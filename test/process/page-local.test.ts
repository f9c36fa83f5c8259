/** The page of a local network with an indexer: its controls, and the data that only the indexer has. */
import { createServer } from 'node:net';
import {
  Account,
  Aptos,
  AptosConfig,
  Ed25519PrivateKey,
  Network,
  type SimpleEntryFunctionArgumentTypes,
  type UserTransactionResponse,
} from '@aptos-labs/ts-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { axeViolations } from './page-axe.ts';
import { hasBrowser, launchBrowser, type WatchedPage, WatchingBrowser } from './page-browser.ts';
import { SIDEWAYS_OVERFLOW } from './page-measures.ts';

const COLLECTION = 'Birds of the north';

/** Creates a collection and a token with a property. @returns their views, and the contents to expect */
async function tokenViews(net: Localnet): Promise<(readonly [path: string, ready: string])[]> {
  const network = { network: Network.CUSTOM, fullnode: net.url };
  const aptos = new Aptos(new AptosConfig(network));
  const privateKey = new Ed25519PrivateKey(net.accounts[0]!.key.privateKey);
  const signer = Account.fromPrivateKey({ privateKey });
  const call = async (name: string, functionArguments: SimpleEntryFunctionArgumentTypes[]) => {
    const transaction = await aptos.transaction.build.simple({
      sender: signer.accountAddress,
      data: { function: `0x4::aptos_token::${name}`, functionArguments },
    });
    const { hash } = await aptos.signAndSubmitTransaction({ signer, transaction });
    return await aptos.waitForTransaction({ transactionHash: hash });
  };
  const link = 'https://birds.example';
  const mayAll = Array.from({ length: 9 }, () => true);
  await call('create_collection', ['of all sizes', 100, COLLECTION, link, ...mayAll, 5, 100]);
  const value = Uint8Array.from([0xd0, 7, 0, 0, 0, 0, 0, 0]);
  // Long arguments are in a scrolling box.
  const named = [COLLECTION, 'small '.repeat(100), 'Wren', link];
  const minted = await call('mint', [...named, ['grams'], ['u64'], [value]]);
  const { data } = (minted as UserTransactionResponse).events.find(({ type }) =>
    type.startsWith('0x4::collection::Mint'),
  )!;
  const { collection, token } = data as { collection: string; token: string };
  const line = `minted Wren of the collection “${COLLECTION}”`;
  return [
    [`/txn/${minted.version}`, `.headline:has-text("${line}")`],
    [`/txn/${minted.version}`, 'pre[aria-label="Value of the type 0x1::string::String"]'],
    ['/collection', `table.collections tr:has-text("${COLLECTION}"):has-text("1")`],
    [`/collection/${collection}`, 'table.tokens tr:has-text("Wren"):has-text("0x")'],
    [`/collection/${collection}`, 'table.happenings tr:has-text("Mint"):has-text("Wren")'],
    [`/token/${token}`, `main a:has-text("${COLLECTION}")`],
    [`/token/${token}`, 'section[aria-label=Properties] :text("2,000 u64")'],
  ];
}

/** A free port: the document names it before the indexer listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.skipIf(!hasBrowser)('page: local network (skipped without Chromium)', () => {
  let net: Localnet;
  let browser: WatchingBrowser;
  let watched: WatchedPage;
  let indexer: string;

  beforeAll(async () => {
    indexer = `127.0.0.1:${await freePort()}`;
    [net, browser] = await Promise.all([
      startLocalnet({ accounts: 2, mining: { kind: 'auto' }, indexerListen: indexer }),
      launchBrowser().then((launched) => launched),
    ]).then(([started, launched]) => [
      started,
      new WatchingBrowser(launched, started.url.replace(/\/v1$/, '')),
    ]);
    watched = await browser.open('/local');
  });
  afterAll(async () => {
    await browser?.close();
    await net?.stop();
  });

  const main = () => watched.page.locator('main');
  const said = (text: RegExp | string) => main().locator('.hint').getByText(text).first().waitFor();
  const press = (name: RegExp | string) => main().getByRole('button', { name }).first().click();

  it('gives coins, and sends a call that an account signs', async () => {
    const { page } = watched;
    const { address } = net.accounts[0]!;
    await page.locator('.strip').getByText('local network').waitFor();
    await press(/^Give 100 APT to/);
    await said('The faucet sends 100 APT');
    await page.locator('table.accounts').getByText('10,100').waitFor();
    await page.getByLabel('Argument 1: address').fill('0xbeef');
    await page.getByLabel('Argument 2: u64').fill('12345');
    await press('Sign and send');
    await said('It was executed.');
    await main()
      .getByRole('link', { name: /^Transaction 0x/ })
      .click();
    await page
      .locator('.headline')
      .getByText(/^0.00012345 APT from/)
      .waitFor();
    await page.getByRole('link', { name: 'Trace' }).click();
    const tree = page.getByRole('region', { name: 'Tree of calls' });
    const transfer = tree.getByRole('button', { name: /^0x1::fungible_asset::withdraw/ });
    await page.getByRole('button', { name: 'Close all' }).click();
    await transfer.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Open all' }).click();
    const first = await tree.locator('.trace-text').first().textContent();
    await tree.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await expect.poll(() => tree.locator('.trace-text').first().textContent()).not.toBe(first);
    const rows = await main()
      .getByText(/^[\d,]+ rows;/)
      .textContent();
    const made = await tree.locator('.trace-row').count();
    expect(made).toBeLessThan(Number(/^[\d,]+/.exec(rows!)![0].replace(',', '')));
    await tree.locator('.trace-text').last().click();
    await page.getByRole('heading', { name: 'The chosen step' }).waitFor();
    await page.locator('table.gas').getByText('aptos_account::transfer').waitFor();
    const picture = page.getByRole('region', { name: 'Flame graph of the gas' });
    expect(await picture.locator('rect').count()).toBeGreaterThan(10);
    await page.getByLabel('Version or hash').fill('999999');
    await press('Compare');
    await page.getByText('Nothing to compare with').waitFor();
    await page.getByLabel('Version or hash').fill('2');
    await press('Compare');
    await page.getByText(/ units of gas, 2 /).waitFor();
    await page.getByRole('table', { name: 'Functions whose own gas differs most' }).waitFor();
    expect(await axeViolations(page, 'light')).toEqual([]);
    expect(await axeViolations(page, 'dark')).toEqual([]);
    const body = await fetch(`${net.url}/accounts/0xbeef/balance/0xa`);
    expect(await body.text()).toBe('12345');
    expect(address.endsWith(await senderOf())).toBe(true);
  });

  const senderOf = async (): Promise<string> => {
    const response = await fetch(`${net.url}/transactions/by_version/${net.version - 1n}`);
    const { sender } = (await response.json()) as { sender: string };
    return sender.replace(/^0x0*/, '');
  };

  it('takes a snapshot, makes blocks, goes back; drops what waits', async () => {
    const { page } = watched;
    await page.locator('nav a[data-view=local]').click();
    await press('Take a snapshot');
    await said('Snapshot 1 taken');
    const { version } = net;
    await press('Make 10 blocks');
    await said('10 blocks made');
    expect(net.version).toBeGreaterThan(version + 10n);
    await press('Go back to 1');
    await said('as it was at snapshot 1');
    expect(net.version).toBe(version);
    await page.getByRole('combobox', { name: 'Blocks are made' }).selectOption('manual');
    await press(/^Set$/);
    await said('Blocks are made on request.');
    await press(/^Give 100 APT to/);
    await said('The faucet sends');
    await press('Look again');
    await page.locator('table.pending tbody tr').waitFor();
    await press(/^Drop/);
    await said('It was dropped.');
    await said('Nothing waits for a block.');
    await page.getByLabel('Time of the next block').fill('2001-01-01');
    await press('Set the time');
    await page.getByRole('alert').getByText('later than that of the one before').waitFor();
    expect(await axeViolations(page, 'light')).toEqual([]);
    expect(await axeViolations(page, 'dark')).toEqual([]);
  });

  it('begins lists again when the network went back while the page was hidden', async () => {
    const { page } = await browser.open('/transactions?kind=all');
    const hide = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
        document.dispatchEvent(new Event('visibilitychange'));`,
      );
    const newest = async (): Promise<string | null> =>
      await page.locator('table.transactions tbody tr td').first().textContent();
    const shows = async (version: bigint): Promise<void> => {
      await expect.poll(newest).toContain(String(version));
    };
    const first = await net.snapshot();
    await net.mine(3);
    await shows(net.version);
    await hide(true);
    await net.revert(first);
    await hide(false);
    await shows(net.version);
    // The new history is longer, so its newest version does not reveal the revert.
    const second = await net.snapshot();
    await net.mine(3);
    const { version } = net;
    await shows(version);
    await hide(true);
    await net.revert(second);
    await net.fund(net.accounts[1]!.address, 123_456_789n);
    await net.mine(4);
    expect(net.version).toBeGreaterThan(version);
    await hide(false);
    await shows(net.version);
    expect(await page.locator('table.transactions').textContent()).toContain('1.23456789');
    await page.close();
  });

  it('asks the indexer for activity, holders and transfers', async () => {
    const { page } = watched;
    const origin = net.url.replace(/\/v1$/, '');
    const views: readonly (readonly [path: string, ready: string])[] = [
      ['/account/0xbeef', 'text=All transactions that the account had to do with'],
      ['/account/0xbeef', '.gain:has-text("0.00012345")'],
      ['/account/0xbeef/objects', 'section[aria-label=Objects] a'],
      ['/fungible_asset/0xa/holders', 'table.holders tr:has-text("0xbeef")'],
      ['/fungible_asset/0xa/transactions', 'table.transfers tr:has-text("0xbeef")'],
      ['/coins', 'table.assets td:has-text("APT")'],
      ['/', 'svg.activity rect:not([height="0"])'],
      ['/validators', 'td.operator a'],
      ...(await net.setMining({ kind: 'auto' }).then(() => tokenViews(net))),
    ];
    for (const [path, ready] of views) {
      await page.goto(origin + path);
      await page.locator(ready).first().waitFor();
      expect(await axeViolations(page, 'light'), path).toEqual([]);
      await page.setViewportSize({ width: 320, height: 900 });
      expect(await page.evaluate(SIDEWAYS_OVERFLOW), path).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 900 });
    }
    const block = await fetch(`${net.url}/blocks/by_height/2`);
    const { block_hash } = (await block.json()) as { block_hash: string };
    await page.goto(`${origin}/search?q=${block_hash}`);
    await page.waitForURL(/\/block\/2$/);
    await page.goto(`${origin}/search?q=Aptos%20Coin`);
    await page.locator('.hits').getByRole('link', { name: 'Aptos Coin (APT)' }).first().waitFor();
    const asked = watched.offences.filter((one) => !one.startsWith(`asked http://${indexer}/`));
    expect(asked).toEqual([]);
  });
});
