/** What the HTTP interface of one process caches, and how much memory that may take. */
import type { LedgerView } from '../../ledger/api-contract.ts';
import { BoundedCache } from '../../ledger/bounded-cache.ts';
import { contentTag } from '../../ledger/content-tag.ts';
import type { Answer } from '../endpoints/endpoint.ts';
import type { Format } from './negotiation.ts';

const MIB = 1024 * 1024;

/** Most memory of each cache, estimated, in bytes. */
export const CACHE_BUDGETS = {
  /** Whole answers of the newest view. */
  answers: 32 * MIB,
  /** Bodies that are the same at many views: modules, API documents. */
  bodies: 32 * MIB,
  /** Compressed forms of such bodies and of the page's files. */
  compressed: 32 * MIB,
} as const;
/** Larger answers are not cached, in bytes: making them is not what takes the time. */
export const MAX_CACHED_ANSWER_BYTES = 64 * 1024;
/** Longer texts are cached as their bytes, which are sent as they are; in UTF-16 units. */
const MAX_TEXT_LENGTH = 256;
/** What an answer takes besides its URL, its body and its tag, in bytes; measured. */
const ANSWER_OVERHEAD_BYTES = 100;

const textEncoder = new TextEncoder();

/** The caches of one interface. */
export class ApiCaches {
  readonly answers = new AnswerCache();
  readonly bodies = new BoundedCache<Answer>(CACHE_BUDGETS.bodies);
  readonly compressed = new BoundedCache<Uint8Array>(CACHE_BUDGETS.compressed);
}

/** The cached value of a key; else it is made, and cached once it is there: a failure never is. */
export async function cachedOrMade<V>(
  cache: BoundedCache<V>,
  key: string,
  make: () => Promise<V>,
  bytesOf: (value: V) => number,
): Promise<V> {
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const made = await make();
  cache.set(key, made, bytesOf(made));
  return made;
}

/**
 * Whole answers, cached as long as the ledger shows the same view: what is asked again before the next commit is not
 * made again. Only for answers that their URL, their format and the view decide (`Endpoint.isDecidedByView`).
 */
export class AnswerCache {
  readonly #answers = new BoundedCache<Answer>(CACHE_BUDGETS.answers);
  #view: LedgerView | undefined;

  /** The answer that a URL has at a view, when it is cached. */
  find(view: LedgerView, format: Format, url: string): Answer | undefined {
    return view === this.#view ? this.#answers.get(keyOf(format, url)) : undefined;
  }

  /**
   * Caches the answer that a URL has at a view. A newer view drops the answers of the one before; an answer of an older
   * view, which took long to make, is not cached.
   * @returns the answer to send
   */
  add(view: LedgerView, format: Format, url: string, found: Answer): Answer {
    if (found.body.length > MAX_CACHED_ANSWER_BYTES) return found;
    const newest = this.#view;
    if (newest !== undefined && view.state.version < newest.state.version) return found;
    if (view !== newest) {
      this.#view = view;
      this.#answers.clear();
    }
    const body = detached(found.body);
    const answer = { ...found, body, tagCore: found.tagCore ?? contentTag(body) };
    this.#answers.set(keyOf(format, url), answer, bytesOfAnswer(answer));
    return answer;
  }
}

/** What an answer takes in a cache, in bytes. */
export function bytesOfAnswer({ body, tagCore, cursor }: Answer): number {
  return ANSWER_OVERHEAD_BYTES + body.length + (tagCore?.length ?? 0) + (cursor?.length ?? 0);
}

/** No URL begins with a blank. */
function keyOf(format: Format, url: string): string {
  return format === 'json' ? url : ` ${url}`;
}

/**
 * A body with memory of its own: it may be a window on a whole resource group or on the runtime's pool, and a text may
 * refer to the pieces that it was joined of, which would all stay in memory without being counted.
 */
function detached(body: string | Uint8Array): string | Uint8Array {
  if (typeof body === 'string') {
    return body.length > MAX_TEXT_LENGTH ? textEncoder.encode(body) : body;
  }
  return body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);
}
