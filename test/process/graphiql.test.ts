/** GraphiQL in a browser, served by the listener of an indexer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { hasBrowser, launchBrowser, WatchingBrowser } from './page-browser.ts';

const NO_BROWSER = hasBrowser ? '' : 'skipped, no Chromium: ';

describe('GraphiQL', () => {
  let net: Localnet;
  let origin: string;

  beforeAll(async () => {
    net = await startLocalnet({ accounts: 1, indexerListen: '127.0.0.1:0' });
    origin = new URL(net.indexerUrl).origin;
  });
  afterAll(() => net.stop());

  it('is served with all that it names, and nothing else is', async () => {
    const document = await fetch(`${origin}/`);
    expect(document.status).toBe(200);
    expect(document.headers.get('content-security-policy')).toContain("default-src 'self'");
    const named = [...(await document.text()).matchAll(/(?:src|href)="(\/[^"]+)"/g)];
    expect(named).toHaveLength(2);
    for (const [, path] of named) {
      const { status, headers } = await fetch(origin + path!);
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toContain('immutable');
    }
    for (const path of [
      '/graphiql/index.html',
      '/graphiql/assets/',
      '/index.html',
      '/graphiql/assets/none.js',
    ]) {
      expect((await fetch(origin + path)).status).toBe(404);
    }
    expect((await fetch(`${origin}/`, { method: 'POST' })).status).toBe(404);
  });

  it.skipIf(!hasBrowser)(`${NO_BROWSER}shows the schema, and answers a query`, async () => {
    const browser = await launchBrowser();
    try {
      const { page, offences } = await new WatchingBrowser(browser, origin).open('/');
      await page.getByLabel('Show Documentation Explorer').click();
      await page.locator('.graphiql-doc-explorer').getByText('query_root').click();
      await page.locator('.graphiql-doc-explorer').getByText('current_objects_by_pk').waitFor();
      await page.getByLabel(/^Execute query/).click();
      const answer = page.locator('.graphiql-response');
      await answer.getByText('"default_processor"').waitFor();
      expect(await answer.textContent()).toContain(String(net.version));
      expect(offences).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
