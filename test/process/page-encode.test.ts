/** The encode view in a browser: the request, the bytes in the response, part by part, and refusals. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describePage, grouped } from './page-suite.ts';

const MESSAGE =
  'b5e97db07fa0bd0e5598aa3643a9bc6f6693bddc1a9fec9e674a461eaa00b19300000000000000000000000000000000' +
  '000000000000000000000000000a11ce2a0000000000000002000000000000000000000000000000000000000000000000' +
  '000000000000000104636f696e087472616e73666572010700000000000000000000000000000000000000000000000000' +
  '000000000000010a6170746f735f636f696e094170746f73436f696e000220000000000000000000000000000000000000' +
  '0000000000000000000000000b0b08ffffffffffffffff400d030000000000640000000000000080d8db700000000001';

describePage('page: encode', ({ node, open }) => {
  const request = (page: Page) => page.getByLabel('Request as JSON, sent as it stands');
  const encode = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Encode', exact: true }).click();
  };
  /** The node's own response to the editor's contents. */
  const answer = async (page: Page): Promise<string> => {
    const response = await fetch(`${node().origin}/v1/transactions/encode_submission`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: await request(page).inputValue(),
    });
    return response.text();
  };

  it.each(['transfer', 'multi-agent', 'orderless', 'multisig', 'multisig-call', 'script'])(
    'shows the node’s bytes for the example %s, divided without a rest',
    async (example) => {
      const page = await open(`/#/encode?example=${example}`);
      await encode(page);
      const hex = page.getByLabel('Signing message in hex').and(page.locator('pre'));
      await hex.waitFor();
      const shown = await hex.textContent();
      expect(`"0x${shown}"`).toBe(await answer(page));
      const cells = await page.locator('table.parts td:nth-child(2)').allTextContents();
      expect(cells.join('')).toBe(shown);
      expect(await page.getByText('could not be taken apart').count()).toBe(0);
    },
  );

  it('keeps form and JSON together and sends what stands there', async () => {
    const page = await open('/#/encode?function=0x1::coin::transfer');
    await page.getByLabel('Argument 2: u64').fill('18446744073709551615');
    await page.getByLabel('Argument 1: address').fill('0xfeed');
    await page.getByLabel('Secondary signers').fill('0x2, 0x3');
    expect(await request(page).inputValue()).toMatch(
      /"arguments": \[\s+"0xfeed",\s+"18446744073709551615"\s+\]/,
    );
    await encode(page);
    const row = (label: string) =>
      page.locator('table.parts tr', {
        has: page.getByRole('button', { name: label, exact: true }),
      });
    await row('Argument 1').getByText('as an address 0xfeed').waitFor();
    await row('Argument 2').getByText('18,446,744,073,709,551,615').waitFor();
    await row('Secondary signer 2').getByText('0x3', { exact: true }).waitFor();
    const edited = (await request(page).inputValue()).replace('"0xfeed"', '"0xbeef"');
    await request(page).fill(edited);
    expect(await page.getByLabel('Argument 1: address').inputValue()).toBe('0xbeef');
  });

  it('marks the bytes of the part that has the focus', async () => {
    const page = await open(`/#/encode?hex=${MESSAGE}`);
    await page.getByRole('button', { name: 'Sender', exact: true }).focus();
    const marked = page.locator('.run.marked');
    expect(await marked.allTextContents()).toEqual([`${'0'.repeat(59)}a11ce`]);
    await page.keyboard.press('Tab');
    expect(await marked.allTextContents()).toEqual(['2a00000000000000']);
  });

  it('says what the bytes mean: by the node, or clearly that it does not decode', async () => {
    const page = await open(`/#/encode?hex=0x${MESSAGE}`);
    const section = page.locator('section[aria-label=Meaning]');
    await section.locator('pre.json, .note, [role=alert]').first().waitFor();
    const response = await fetch(`${node().origin}/v1/transactions/decode_submission`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(`0x${MESSAGE}`),
    });
    const text = await response.text();
    const shown = await section.textContent();
    if (response.ok) {
      const { daybook_notes: notes, ...decoded } = JSON.parse(text) as {
        daybook_notes: { max_fee_octas: string; warnings: { message: string }[] };
      };
      expect(JSON.parse((await section.locator('pre.json').textContent())!)).toEqual(decoded);
      expect(shown).toContain(`${grouped(notes.max_fee_octas)} octas`);
      expect(shown).toContain('Argument 1: address0xb0b');
      expect(notes.warnings.length).toBeGreaterThan(0);
      for (const { message } of notes.warnings) expect(shown).toContain(message);
    } else {
      expect(shown).toContain((JSON.parse(text) as { message: string }).message);
      expect(shown).toContain(String(response.status));
    }
  });

  it('shows a decoded request exactly, and degrades where decoding is absent', async () => {
    const page = await open('/');
    await page.route('**/decode_submission', (route) =>
      route.fulfill({ body: '{"sender":"0xa11ce","n":18446744073709551615}' }),
    );
    await page.goto(`${node().origin}/#/encode?hex=${MESSAGE}`);
    await page.locator('pre.json').getByText('18446744073709551615').waitFor();
    await page.unroute('**/decode_submission');
    const message = 'not found';
    await page.route('**/decode_submission', (route) =>
      route.fulfill({
        status: 404,
        json: { message, error_code: 'web_framework_error', vm_error_code: null },
      }),
    );
    await page.goto(`${node().origin}/#/encode?hex=0x${MESSAGE}`);
    await page.getByText('This node does not offer decoding').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('shows bytes that it cannot read to their end', async () => {
    const page = await open(`/#/encode?hex=${MESSAGE.slice(0, 300)}`);
    await page.getByText('could not be taken apart to their end').waitFor();
    expect((await page.locator('table.parts td:nth-child(2)').allTextContents()).join('')).toBe(
      MESSAGE.slice(0, 300),
    );
    await page.goto(`${node().origin}/#/encode?hex=0xzz`);
    await page.getByRole('alert').getByText("Invalid character 'z'").waitFor();
  });

  it.each([
    ['not json', 'The JSON is not complete'],
    ['{"sender":"0x1","payload":1234}', 'The form covers entry functions'],
    ['"@/etc/passwd"', 'The form covers entry functions'],
  ])('sends %s as it stands and shows the refusal', async (body, note) => {
    const page = await open('/#/encode');
    await request(page).fill(body);
    await page.getByText(note).waitFor();
    expect(await page.getByLabel('Sender').isDisabled()).toBe(true);
    await encode(page);
    const error = JSON.parse(await answer(page)) as { message: string; error_code: string };
    const panel = page.getByRole('alert');
    expect(await panel.locator('.message').textContent()).toBe(error.message);
    expect(await panel.locator('code').textContent()).toBe(error.error_code);
    expect(await page.locator('.command').first().textContent()).toContain(`--data-raw '${body}'`);
  });

  it('keeps the request in the address bar: a reload shows the same', async () => {
    const page = await open('/#/encode?example=orderless');
    await encode(page);
    const sent = await request(page).inputValue();
    await page.locator('table.parts').waitFor();
    await page.reload();
    await page.locator('table.parts').waitFor();
    expect(await request(page).inputValue()).toBe(sent);
  });

  it('says what a function takes, or that it is no entry function', async () => {
    const page = await open('/#/encode?function=0x1::coin::nothing');
    await page.getByText('has no entry function “nothing”').waitFor();
    await page.getByLabel('Function').fill('0x1::nowhere::f');
    await page.getByLabel('Function').press('Tab');
    await page.getByText('module_not_found: Module not found').waitFor();
    await page.getByLabel('Function').fill('0x1::coin::transfer');
    await page.getByLabel('Function').press('Tab');
    await page.getByText('Takes address, u64; type parameters T0.').waitFor();
  });
});
