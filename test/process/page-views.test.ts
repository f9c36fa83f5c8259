/**
 * Every view in every state, in both themes and at every width: filled, empty, refused, pruned, loading, and without a
 * node. The responses are a real node's, early or late.
 */
import { errors, type Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { IS_LONG } from '../random.ts';
import { axeViolations } from './page-axe.ts';
import { SIDEWAYS_OVERFLOW } from './page-measures.ts';
import { describePage } from './page-suite.ts';

/** A magnified phone, a phone, a laptop, a large screen. */
const ALL_WIDTHS_PX = [320, 390, 1280, 2560];
/** Widths at which a short run checks for overflow. */
const WIDTHS_PX = IS_LONG ? ALL_WIDTHS_PX : [320, 1280];

const REQUEST = JSON.stringify({
  sender: '0x1',
  ...{ sequence_number: '0', max_gas_amount: '1', gas_unit_price: '1' },
  expiration_timestamp_secs: '9',
  payload: {
    type: 'entry_function_payload',
    function: '0x1::coin::transfer',
    type_arguments: ['0x1::aptos_coin::AptosCoin'],
    arguments: ['0x2', '3'],
  },
});
const ENCODED = `#/encode?request=${encodeURIComponent(REQUEST)}`;
const CAFE = '0xcafeef72…9212691b';
const NOTHING = 'ab'.repeat(32);

/** The hash of a view, its title, and a selector that matches once it is complete. */
type Look = readonly [hash: string, title: string, ready: string];

const account = (show: string, more = '') =>
  `#/account?address=${CAFE_HEX}&show=${show}${more}` as const;

const FILLED: readonly Look[] = [
  ['#/overview', 'Ledger', 'table time'],
  ['#/overview?version=1000', 'Ledger', 'text=as of version 1,000'],
  ['#/transactions', 'Transactions', 'table time'],
  ['#/transactions?version=1000', 'Transactions', 'table time'],
  ['#/transaction?id=2', 'Transaction 2', 'text=State change hash'],
  ['#/transaction?id=400', 'Transaction 400', 'text=State change hash'],
  ['#/transaction?id=401&show=events', 'Transaction 401', 'section[aria-label=Events] article'],
  ['#/transaction?id=402&show=changes', 'Transaction 402', 'section[aria-label=Changes] article'],
  ['#/transaction?id=403&show=payload', 'Transaction 403', 'section[aria-label=Signature] dl'],
  ['#/asset?asset=0x1::aptos_coin::AptosCoin', 'Asset AptosCoin', 'text=Coin type'],
  ['#/validators', 'Validators', 'table.validators tbody tr'],
  ['#/blocks', 'Blocks', 'table time'],
  ['#/block?height=20', 'Block 20', 'table time'],
  [account('assets'), `Account ${CAFE}`, 'text=/[0-9] APT$/'],
  [account('transactions'), `Account ${CAFE}`, 'table time'],
  [account('resources', '&version=1000'), `Account ${CAFE}`, 'details:has-text("::ticker::Board")'],
  [account('modules'), `Account ${CAFE}`, 'main a:has-text("ticker")'],
  [account('events'), `Account ${CAFE}`, 'main a:has-text("ticks")'],
  [account('objects'), `Account ${CAFE}`, 'text=0x1::object::ObjectCore'],
  ['#/module?account=0x1&name=coin&item=CoinStore', 'Module 0x1::coin', 'h3:has-text("CoinStore")'],
  [`#/events?account=${CAFE_HEX}`, 'Event stream', 'main a:has-text("ticks")'],
  [`#/events?account=${CAFE_HEX}&stream=2`, `Event stream 2 of ${CAFE}`, 'tbody tr'],
  [`#/balance?account=${CAFE_HEX}&from=1500`, `Balance of ${CAFE}`, 'text=nothing is claimed'],
  [ENCODED, 'Encode a transaction', 'text=octas'],
  ['#/search?q=20', 'Search for 20', 'a:has-text("Block at height 20")'],
];

/** Views that send no request until the reader has chosen something. */
const FORMS: readonly Look[] = [
  ['#/account', 'Account', 'main input'],
  ['#/asset', 'Assets', 'main input'],
  ['#/collection', 'Collection', 'main input'],
  ['#/table', 'Table', 'main input'],
  ['#/local', 'Local network', 'text=not a local network under control'],
  ['#/token', 'Token', 'main input'],
  ['#/module', 'Module', 'main input'],
  ['#/events', 'Event stream', 'main input'],
  ['#/balance', 'Balance', 'main input'],
  ['#/encode?example=script', 'Encode a transaction', 'main textarea'],
];

const EMPTY: readonly Look[] = [
  ['#/account?address=0x77', 'Account 0x77', 'text=no account and no object at this address'],
  ['#/account?address=0xa&show=transactions', 'Account 0xa', 'text=no transactions of it'],
  ['#/collection?address=0x77', 'Collection 0x77', 'text=no collection at this address'],
  ['#/token?address=0x77', 'Token 0x77', 'text=no token at this address'],
  ['#/account?address=0xa&show=modules', 'Account 0xa', 'text=has published none'],
  ['#/account?address=0xa&show=objects', 'Account 0xa', 'text=None seen there'],
  ['#/events?account=0x77', 'Event stream', 'text=No resource of this account'],
  ['#/events?account=0x77&stream=5', 'Event stream 5 of 0x77', 'text=has no events'],
  ['#/balance?account=0x77', 'Balance of 0x77', 'text=nothing is claimed'],
  [`#/search?q=${NOTHING}`, 'Search for ababababab…abababab', 'text=Nothing on this ledger'],
];

const GENESIS: readonly Look[] = [
  ['#/overview', 'Ledger', 'table >> text=genesis'],
  ['#/transactions?kind=all', 'Transactions', 'table >> text=genesis'],
  ['#/transaction?id=0', 'Transaction 0', 'text=State change hash'],
  ['#/blocks', 'Blocks', 'table >> text=genesis'],
  ['#/block?height=0', 'Block 0', 'table >> text=genesis'],
  ['#/balance?account=0x1', 'Balance of 0x1', 'text=nothing is claimed'],
];

/** With the code of the refusal. */
const REFUSED: readonly Look[] = [
  ['#/nowhere', 'Unknown view', 'page_error'],
  ['#/overview?version=x', 'Ledger', 'page_error'],
  ['#/overview?version=99999999', 'Ledger', 'version_not_found'],
  ['#/transactions?version=x', 'Transactions', 'page_error'],
  ['#/asset?asset=0x77', 'Asset 0x77', 'resource_not_found'],
  ['#/transaction?id=99999999', 'Transaction 99,999,999', 'transaction_not_found'],
  ['#/transaction?id=0x12', 'Transaction 0x12', 'web_framework_error'],
  ['#/blocks?version=99999999', 'Blocks', 'version_not_found'],
  ['#/block?height=99999999', 'Block 99,999,999', 'block_not_found'],
  ['#/block?height=x', 'Block x', 'web_framework_error'],
  ['#/account?address=xyz', 'Account xyz', 'web_framework_error'],
  ['#/account?address=0x1&version=99999999', 'Account 0x1', 'version_not_found'],
  ['#/module?account=0x1&name=no', 'Module 0x1::no', 'module_not_found'],
  ['#/module?account=0x1&name=1', 'Module 0x1::1', 'web_framework_error'],
  ['#/events?account=0x1&stream=x', 'Event stream x of 0x1', 'web_framework_error'],
  ['#/events?account=0x1&stream=2&start=-1', 'Event stream 2 of 0x1', 'page_error'],
  ['#/events?account=0x1&stream=2&version=x', 'Event stream 2 of 0x1', 'page_error'],
  ['#/balance?account=..', 'Balance of ..', 'unsendable_path'],
  ['#/balance?account=xyz', 'Balance of xyz', 'web_framework_error'],
  ['#/balance?account=0x1&from=9&to=3', 'Balance of 0x1', 'page_error'],
  ['#/encode?request=1', 'Encode a transaction', 'web_framework_error'],
  ['#/encode?hex=0xzz', 'Encode a transaction', 'hex_bad_digit'],
  ['#/search?q=what%3F', 'Search for what?', 'page_error'],
];

/** Contents that a pruned ledger still has. */
const PRUNED: readonly Look[] = [
  ['#/overview', 'Ledger', 'text=/^from version 9/'],
  ['#/transactions?before=1000', 'Transactions', 'table time'],
  [`#/balance?account=${CAFE_HEX}&from=0`, `Balance of ${CAFE}`, 'text=nothing is claimed'],
  ['#/search?q=5', 'Search for 5', 'text=has been pruned'],
];

const GONE: readonly Look[] = [
  ['#/overview?version=5', 'Ledger', 'version_pruned'],
  ['#/transactions?version=5', 'Transactions', 'version_pruned'],
  ['#/transactions?before=5', 'Transactions', 'version_pruned'],
  ['#/transaction?id=5', 'Transaction 5', 'version_pruned'],
  ['#/blocks?version=5', 'Blocks', 'version_pruned'],
  ['#/block?height=1', 'Block 1', 'block_pruned'],
  [account('assets', '&version=5'), `Account ${CAFE}`, 'version_pruned'],
  ['#/module?account=0x1&name=coin&version=5', 'Module 0x1::coin', 'version_pruned'],
  ['#/events?account=0x1&stream=3&start=0', 'Event stream 3 of 0x1', 'version_pruned'],
  [`#/balance?account=${CAFE_HEX}&version=5`, `Balance of ${CAFE}`, 'version_pruned'],
];

/** A search says of each result whether it exists. */
const NO_VERDICT = 'text=not known (the node could not be reached';
const ALERT = '[role=alert]';
const PATIENCE_MS = 60_000;

/** Every kind of element in the page: its tag and class, those of its parent, and its roles and states. */
const KINDS = `[...new Set([...document.querySelectorAll('body, body *')].map((element) => {
  const named = (one) => one.tagName + '.' + one.className;
  const states = [...element.attributes].map(({ name }) => name)
    .filter((name) => /^(?:aria-|role|disabled|type|href|open)/.test(name));
  return named(element.parentElement) + '>' + named(element) + ' ' + states.sort().join();
}))]`;
const looked = new Set<string>();

/** Whether the page has a kind of element that axe-core has not checked yet; in long runs it checks every page. */
async function isOfNewKind(page: Page): Promise<boolean> {
  const kinds = (await page.evaluate(KINDS)) as string[];
  const isNew = kinds.some((kind) => !looked.has(kind));
  for (const kind of kinds) looked.add(kind);
  return isNew || IS_LONG;
}

/** Problems for readers of the view called `title`: name, width, contrast, accessibility. */
async function problems(page: Page, title: string): Promise<string[]> {
  const found: string[] = [];
  const expectSame = (what: string, is: string | undefined, expected: string) => {
    if (is !== expected) found.push(`${what} “${is}”, not “${expected}”`);
  };
  expectSame('title', await page.title(), `${title} · Daybook`);
  expectSame('heading', (await page.locator('h1').allTextContents()).join(), title);
  await page.evaluate(
    "document.querySelectorAll('details').forEach((node) => { node.open = true })",
  );
  const isNew = await isOfNewKind(page);
  for (const widthPx of WIDTHS_PX) {
    await page.setViewportSize({ width: widthPx, height: 900 });
    const wide = (await page.evaluate(SIDEWAYS_OVERFLOW)) as string[];
    found.push(...wide.map((element) => `at ${widthPx} px, ${element} is too wide`));
    if (isNew && widthPx === 320) found.push(...(await axeViolations(page, 'dark')));
    if (isNew && widthPx === 1280) found.push(...(await axeViolations(page, 'light')));
  }
  return found;
}

const WAITING = 'main [aria-busy=true]';

/** Holds the page's requests back while it is closed. */
class Gate {
  #open = Promise.resolve();
  open = (): void => undefined;

  shut(): void {
    this.#open = new Promise((resolve) => {
      this.open = resolve;
    });
  }

  readonly pass = (): Promise<void> => this.#open;
}

describePage('page: every view', ({ node, open, go }) => {
  /** Visits all looks in one page; a single assertion at the end has every problem. */
  const visit = async (page: Page, looks: readonly Look[], gate?: Gate): Promise<void> => {
    const found: string[] = [];
    for (const [hash, title, ready] of looks) {
      const add = (problem: string) => found.push(`${hash}: ${problem}`);
      try {
        gate?.shut();
        await go(page, hash);
        await page.evaluate('new Promise(requestAnimationFrame)');
        if (gate !== undefined) {
          await page.locator(WAITING).first().waitFor({ timeout: PATIENCE_MS });
          for (const one of await problems(page, title)) add(`loading: ${one}`);
          gate.open();
        }
        await page.locator(ready).first().waitFor({ timeout: PATIENCE_MS });
        await page.locator(WAITING).first().waitFor({ state: 'detached', timeout: PATIENCE_MS });
        for (const one of await problems(page, title)) add(one);
        if (ready.startsWith(ALERT)) continue;
        for (const one of await page.locator(ALERT).allTextContents()) add(one);
      } catch (error) {
        if (!(error instanceof errors.TimeoutError)) throw error;
        add(`${error.message}\n${await page.locator('main').textContent()}`);
        gate?.open();
      }
    }
    expect(found).toEqual([]);
  };
  const shown = (code: string): string => `${ALERT} >> text="${code}"`;
  const refused = (looks: readonly Look[]) =>
    looks.map(([hash, title, code]) => [hash, title, shown(code)] as const);

  // Forty complete pages take minutes on a busy machine.
  it('loading, then filled', { timeout: 400_000 }, async () => {
    const gate = new Gate();
    await visit(await open('/#/encode', { gate: gate.pass }), FILLED, gate);
  });

  it('while nothing is known yet', async () => {
    const gate = new Gate();
    gate.shut();
    const page = await open('/', { gate: gate.pass });
    await page.getByText('Connecting…').waitFor();
    expect(await problems(page, 'Ledger')).toEqual([]);
    gate.open();
    await page.locator('table time').first().waitFor();
  });

  it('asking what to show', async () => visit(await open('/'), FORMS));

  it('empty', async () => visit(await open('/'), EMPTY));

  it('refused', async () => visit(await open('/'), refused(REFUSED)));

  it('without a node', async () => {
    const page = await open('/');
    await page.locator('table time').first().waitFor();
    await node().pause();
    try {
      const code = (hash: string) => (hash.includes('search') ? NO_VERDICT : shown('no_answer'));
      await visit(
        page,
        FILLED.map(([hash, title]) => [hash, title, code(hash)]),
      );
    } finally {
      await node().resume();
    }
  });

  it('pruned', async () => {
    await node().pruneBelow(900n);
    await visit(await open('/'), [...PRUNED, ...refused(GONE)]);
  });
});

describePage(
  'page: every view of genesis alone',
  ({ open, go }) => {
    it('has the one transaction', async () => {
      const page = await open('/#/encode');
      const found: string[] = [];
      for (const [hash, title, ready] of GENESIS) {
        await go(page, hash);
        await page.locator(ready).first().waitFor();
        found.push(...(await problems(page, title)));
        found.push(...(await page.locator(ALERT).allTextContents()));
        expect(await page.getByRole('link', { name: /^(Next|Previous|Older|Newer)/ }).count()).toBe(
          0,
        );
      }
      expect(await page.locator('.strip').textContent()).toContain('last block genesis');
      expect(found).toEqual([]);
    });
  },
  1,
);
