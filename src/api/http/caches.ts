/** The caches of one process's HTTP interface; budgets are in src/cache.ts. */
import { Cache, copiedBytes } from '../../cache.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { contentDigest } from '../../move/crypto/hash.ts';
import { type Answer, bytesOfAnswer } from '../endpoints/endpoint.ts';
import type { Format } from '../negotiation.ts';
import { MAX_JOINED_BODY_BYTES } from './response-writing.ts';

/** In bytes. Larger answers are not cached: computing them is not what takes the time. */
export const MAX_CACHED_ANSWER_BYTES = 64 * 1024;
/** In UTF-16 units. Longer texts are cached as bytes, which are sent unchanged. */
const MAX_TEXT_LENGTH = MAX_JOINED_BODY_BYTES;

const textEncoder = new TextEncoder();

export class ApiCaches {
  readonly answers = new AnswerCache();
  /** Bodies that are the same at many views; and compressed forms of these and of the page's files, by entity tag. */
  readonly bodies = new Cache<Answer>('bodies');
}

/**
 * Whole responses, cached until the next commit: a repeated request at the same view is not computed again. Only for
 * answers that depend on nothing but URL, format and view (`Endpoint.isDecidedByView`).
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
   * Caches the answer for a URL at a view. A newer view drops the answers of the previous one. An answer from an older
   * view, which took long to compute, is not cached.
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

/** Copies or flattens a body: a joined text may reference its pieces, which would stay in memory uncounted. */
function flattenForCache(body: string | Uint8Array): string | Uint8Array {
  if (typeof body !== 'string') return copiedBytes(body);
  // Buffer.byteLength flattens a text that was joined from several pieces.
  const isShort = body.length <= MAX_TEXT_LENGTH && Buffer.byteLength(body) === body.length;
  return isShort ? body : textEncoder.encode(body);
}
