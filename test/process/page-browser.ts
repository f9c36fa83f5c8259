/** Debian's Chromium, driven headless, with an eye on what no page of ours may do. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Tests that need a browser are skipped, by name, where there is none. */
export const hasBrowser = existsSync(EXECUTABLE);

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts the browser. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
}

/** How a reader sees the page. */
export interface Reader {
  readonly widthPx?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly reducedMotion?: 'reduce' | 'no-preference';
  /** What the console may say, because the test provokes it. */
  readonly expectedOffence?: RegExp;
}

/** A page and what it did wrong so far. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors and warnings, uncaught errors, and requests to anywhere but `origin`. */
  readonly offences: string[];
}

/** Opens `origin + path`. Browsers write every refused request to the console; that is no offence of the page. */
export async function openPage(
  browser: Browser,
  origin: string,
  path: string,
  reader: Reader = {},
): Promise<WatchedPage> {
  const { widthPx = 1280, colorScheme = 'light', reducedMotion = 'reduce' } = reader;
  const context = await browser.newContext({
    viewport: { width: widthPx, height: 900 },
    colorScheme,
    reducedMotion,
  });
  const page = await context.newPage();
  const offences: string[] = [];
  const isExpected = (text: string): boolean => reader.expectedOffence?.test(text) === true;
  page.on('console', (message) => {
    const text = message.text();
    const isRefusal = /^Failed to load resource: (?:the server responded|net::ERR_)/.test(text);
    if (['error', 'warning'].includes(message.type()) && !isRefusal && !isExpected(text))
      offences.push(text);
  });
  page.on('pageerror', (error) => offences.push(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) offences.push(`asked ${url}`);
  });
  await page.goto(origin + path);
  return { page, context, offences };
}
