/** Single versions of another node's feed, each as it came: whoever asks for them proves them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { retryDelayMs } from '../../ingest/feed/backoff.ts';
import {
  type FeedClient,
  MAX_PAGE_BYTES,
  type UpstreamState,
} from '../../ingest/feed/feed-client.ts';
import { FeedError } from '../../ingest/feed/feed-error.ts';
import { checkItem, itemsOf } from '../../ingest/feed/page-verifier.ts';
import type { EncodedOnChainData } from '../../move/transactions/transaction.ts';

/** Maximum versions of one request. */
const MAX_PAGE_VERSIONS = 100;
/** Versions between two damaged ones that are requested with them: less than another request costs. */
const MAX_GAP_VERSIONS = 8n;
/** Times that a request is made before its failure is the answer. */
const MAX_ATTEMPTS = 5;

/** A repair may be ended at any time: nothing waits for its requests. */
const NEVER: AbortSignal = new AbortController().signal;

export class VersionSource {
  readonly #client: FeedClient;

  constructor(client: FeedClient) {
    this.#client = client;
  }

  /**
   * The items of some versions, each of which agrees with the hashes of its own info.
   * @param versions ascending
   * @throws FeedError
   */
  async *items(versions: readonly bigint[]): AsyncGenerator<EncodedOnChainData> {
    let limit = MAX_PAGE_VERSIONS;
    for (let at = 0; at < versions.length; ) {
      const start = versions[at]!;
      const count = Math.min(limit, runLength(versions, at));
      const found = await this.#page(start, count);
      if (found === undefined) {
        limit = Math.max(1, Math.floor(count / 2));
        continue;
      }
      for (const item of found) {
        if (item.data.version !== versions[at]) continue;
        yield item;
        at += 1;
      }
      limit = MAX_PAGE_VERSIONS;
    }
  }

  /** The state of the source's ledger. @throws FeedError */
  state(): Promise<UpstreamState> {
    return retried(() => this.#client.state(NEVER));
  }

  /** At least the first item; `undefined` when so many are too large for one page. */
  async #page(start: bigint, limit: number): Promise<EncodedOnChainData[] | undefined> {
    try {
      return await retried(async () => {
        const { bytes } = await this.#client.page(start, limit, MAX_PAGE_BYTES, NEVER);
        const items = [...itemsOf(bytes, start)];
        for (const [index, item] of items.entries()) checkItem(item, start + BigInt(index));
        return items;
      });
    } catch (error) {
      const isTooLarge = error instanceof FeedError && error.code === 'page_too_large';
      if (isTooLarge && limit > 1) return undefined;
      throw error;
    }
  }
}

async function retried<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof FeedError) || error.code === 'page_too_large') throw error;
      if (error.remedy === 'stop' || attempt === MAX_ATTEMPTS) throw error;
      await sleep(retryDelayMs(attempt, error.retryAfterMs));
    }
  }
}

/** Versions from the one at an index on that one request asks for. */
function runLength(versions: readonly bigint[], at: number): number {
  const start = versions[at]!;
  let last = start;
  for (let next = at + 1; next < versions.length; next += 1) {
    const version = versions[next]!;
    if (version - last > MAX_GAP_VERSIONS || version - start >= MAX_PAGE_VERSIONS) break;
    last = version;
  }
  return Number(last - start) + 1;
}
