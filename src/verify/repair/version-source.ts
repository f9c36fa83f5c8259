/** Single versions of another node's feed, each as received: the caller proves them. */
import { type FeedClient, MAX_PAGE_BYTES } from '../../ingest/feed/feed-client.ts';
import { checkItem, itemsOf } from '../../ingest/feed/page-verifier.ts';
import type { EncodedOnChainData } from '../../move/transactions/transaction.ts';
import type { LedgerState } from '../../remote/answer.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import { retried } from '../../remote/retry.ts';

const MAX_PAGE_VERSIONS = 100;
/** Versions between two damaged ones that are requested with them: less than another request costs. */
const MAX_GAP_VERSIONS = 8n;
/** Attempts of a request before its failure is returned. */
const MAX_ATTEMPTS = 5;

export class VersionSource {
  readonly #client: FeedClient;

  constructor(client: FeedClient) {
    this.#client = client;
  }

  /**
   * The items of some versions, each of which agrees with the hashes of its own info.
   * @param versions ascending
   * @throws RemoteError
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

  /** The state of the source's ledger. @throws RemoteError */
  state(): Promise<LedgerState> {
    return retried(() => this.#client.state(), MAX_ATTEMPTS);
  }

  /** At least the first item; `undefined` when so many are too large for one page. */
  async #page(start: bigint, limit: number): Promise<EncodedOnChainData[] | undefined> {
    try {
      return await retried(async () => {
        const { bytes } = await this.#client.page(start, limit, MAX_PAGE_BYTES);
        const items = [...itemsOf(bytes, start)];
        for (const [index, item] of items.entries()) checkItem(item, start + BigInt(index));
        return items;
      }, MAX_ATTEMPTS);
    } catch (error) {
      const isTooLarge = error instanceof RemoteError && error.code === 'page_too_large';
      if (isTooLarge && limit > 1) return undefined;
      throw error;
    }
  }
}

/** Number of versions, from the one at an index on, that one request covers. */
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
