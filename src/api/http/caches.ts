/** What the HTTP interface of one process caches; budgets are in src/cache.ts. */
import { Cache, copiedBytes } from '../../cache.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { contentDigest } from '../../move/crypto/hash.ts';
import { type Answer, bytesOfAnswer } from '../endpoints/endpoint.ts';
import type { Format } from '../negotiation.ts';
import { MAX_JOINED_BODY_BYTES } from './response-writing.ts';

/** Larger answers are not cached, in bytes: making them is not what takes the time. */
export const MAX_CACHED_ANSWER_BYTES = 64 * 1024;
/** Longer texts are cached as their bytes, which are sent as they are; in UTF-16 units. */
const MAX_TEXT_LENGTH = MAX_JOINED_BODY_BYTES;

const textEncoder = new TextEncoder();

export class ApiCaches {
  readonly answers = new AnswerCache();
  /** Bodies that are the same at many views, and, by entity tag, compressed forms of these and of the page's files. */
  readonly bodies = new Cache<Answer>('bodies');
}

/**
 * Whole responses, cached until the next commit: a repeated request at the same view is not computed again. Only for
 * answers that their URL, their format and the view decide (`Endpoint.isDecidedByView`).
 */
export class AnswerCache {
  readonly #answers = new Cache<Answer>('answers');
  #view: LedgerView | undefined;

  find(view: LedgerView, format: Format, url: string): Answer | undefined {
    return view === this.#view ? this.#answers.get(keyOf(format, url)) : undefined;
  }

  wasRequestedBefore(url: string): boolean {
    return this.#answers.wasRequestedBefore(url);
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
    const body = flattenForCache(found.body);
    const { isImmutable, cursor, state, isReused } = found;
    const tagCore = found.tagCore ?? contentDigest(body);
    // Don't spread: it makes readers megamorphic.
    const answer = { body, tagCore, isImmutable, cursor, state, isReused };
    this.#answers.set(keyOf(format, url), answer, bytesOfAnswer(answer));
    return answer;
  }
}

/** URLs never start with a space. */
function keyOf(format: Format, url: string): string {
  return format === 'json' ? url : ` ${url}`;
}

/** A body to be cached: a text may reference the pieces it was joined from, which would stay in memory uncounted. */
function flattenForCache(body: string | Uint8Array): string | Uint8Array {
  if (typeof body !== 'string') return copiedBytes(body);
  // Asking for the length makes one piece of a text that was joined from several.
  const isShort = body.length <= MAX_TEXT_LENGTH && Buffer.byteLength(body) === body.length;
  return isShort ? body : textEncoder.encode(body);
}
