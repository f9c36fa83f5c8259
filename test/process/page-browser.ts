/** Debian's Chromium, driven headless, which records what no page of ours may do. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Tests that need a browser are skipped by name if there is none. */
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

/** The reader's settings. */
export interface Reader {
  readonly widthPx?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly reducedMotion?: 'reduce' | 'no-preference';
  /** Awaited by each request of the page before it goes to the node. */
  readonly gate?: () => Promise<void>;
  /** Console messages that the test provokes. */
  readonly expectedOffence?: RegExp;
}

/** A page and its offences so far. */
export interface WatchedPage {
  readonly page: Page;
  /** Console errors and warnings, uncaught errors, and requests to anywhere but the node. */
  readonly offences: string[];
}

/** A browser for one node; readers with the same settings share a cache. */
export class WatchingBrowser {
  readonly #browser: Browser;
  readonly #origin: string;
  readonly #contexts = new Map<string, Promise<BrowserContext>>();

  constructor(browser: Browser, origin: string) {
    this.#browser = browser;
    this.#origin = origin;
  }

  /** Opens a path. Browsers log every refused request to the console; that is not an offence of the page. */
  async open(path: string, reader: Reader = {}): Promise<WatchedPage> {
    const page = await (await this.#contextOf(reader)).newPage();
    const offences: string[] = [];
    const isExpected = (text: string): boolean => reader.expectedOffence?.test(text) === true;
    page.on('console', (message) => {
      const text = message.text();
      const isRefusal = /^Failed to load resource: (?:the server responded|net::ERR_)/.test(text);
      const isComplaint = message.type() === 'error' || message.type() === 'warning';
      if (isComplaint && !isRefusal && !isExpected(text)) offences.push(text);
    });
    page.on('pageerror', (error) => offences.push(String(error)));
    page.on('request', (request) => {
      const url = request.url();
      const isOurs = url.startsWith(`${this.#origin}/`) || url.startsWith('data:');
      if (!isOurs) offences.push(`asked ${url}`);
    });
    const { gate } = reader;
    if (gate !== undefined) {
      const isRequest = ({ pathname }: URL): boolean => pathname.startsWith('/v1');
      await page.route(isRequest, async (route) => {
        await gate();
        await route.continue();
      });
    }
    await page.goto(this.#origin + path);
    return { page, offences };
  }

  close(): Promise<void> {
    return this.#browser.close();
  }

  #contextOf(reader: Reader): Promise<BrowserContext> {
    const { widthPx = 1280, colorScheme = 'light', reducedMotion = 'reduce' } = reader;
    const key = `${widthPx} ${colorScheme} ${reducedMotion}`;
    const viewport = { width: widthPx, height: 900 };
    const made =
      this.#contexts.get(key) ?? this.#browser.newContext({ viewport, colorScheme, reducedMotion });
    this.#contexts.set(key, made);
    return made;
  }
}
