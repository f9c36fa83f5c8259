/**
 * Whole answers, kept as long as the ledger shows the same view: what is asked again before the next commit is not
 * made again. Only answers that their URL, their format and the view decide may be kept (`Endpoint.isDecidedByView`).
 *
 * Two generations: the younger one takes what is new and what is asked again; when it has taken half of the room it
 * becomes the older one, and what nobody asked for since is dropped. That costs nothing per answer, where a list in
 * order of use would have to be kept in order.
 *
 * Of an answer whose bytes are kept elsewhere (`Answer.kept`: event pages) only the way to them is kept here. When they
 * are there no more, the answer is made again.
 */
import type { LedgerView } from '../../ledger/api-contract.ts';
import { contentTag } from '../../ledger/content-tag.ts';
import type { Answer } from '../endpoints/endpoint.ts';
import type { Format } from './negotiation.ts';

/** Most memory that the kept answers of one process take, estimated, in bytes. */
export const ANSWER_CACHE_BYTES = 32 * 1024 * 1024;
/** Larger answers are not kept, in bytes: making them is not what takes the time. */
export const MAX_KEPT_ANSWER_BYTES = 64 * 1024;
/** Longer texts are kept as their bytes, which are sent as they are; in UTF-16 units. */
const MAX_TEXT_LENGTH = 256;
/**
 * What an answer takes beside its URL, its body and its tag, in bytes: measured 140 where the body is a text, 350 where
 * it is bytes.
 */
const ENTRY_OVERHEAD_BYTES = 256;

const textEncoder = new TextEncoder();

type Generation = Readonly<Record<Format, Map<string, Answer>>>;

/** The answers of one process at one view. */
export class AnswerCache {
  #view: LedgerView | undefined;
  #young = newGeneration();
  #old = newGeneration();
  #youngBytes = 0;

  /** The answer that a URL has at a view, when it is at hand; its body may be lent. */
  find(view: LedgerView, format: Format, url: string): Answer | undefined {
    if (view !== this.#view) return undefined;
    const known = this.#young[format].get(url);
    if (known !== undefined) return withBody(known);
    const older = this.#old[format].get(url);
    if (older === undefined) return undefined;
    this.#add(format, url, older);
    return withBody(older);
  }

  /**
   * Keeps the answer that a URL has at a view; those of an older view are dropped, and one of an older view is not
   * kept: it was long in the making.
   * @returns the answer to send
   */
  keep(view: LedgerView, format: Format, url: string, found: Answer): Answer {
    if (found.kept === undefined && found.body.length > MAX_KEPT_ANSWER_BYTES) return found;
    const newest = this.#view;
    if (newest !== undefined && view.state.version < newest.state.version) return found;
    const body = found.kept === undefined ? standingAlone(found.body) : found.body;
    const answer = { ...found, body, tagCore: found.tagCore ?? contentTag(body) };
    if (view !== newest) {
      this.#view = view;
      this.#young = newGeneration();
      this.#old = newGeneration();
      this.#youngBytes = 0;
    }
    this.#add(format, url, answer.kept === undefined ? answer : { ...answer, body: '' });
    return answer;
  }

  #add(format: Format, url: string, answer: Answer): void {
    const before = this.#young[format].get(url);
    if (before !== undefined) this.#youngBytes -= sizeOf(url, before);
    const sizeBytes = sizeOf(url, answer);
    if (this.#youngBytes + sizeBytes > ANSWER_CACHE_BYTES / 2) {
      this.#old = this.#young;
      this.#young = newGeneration();
      this.#youngBytes = 0;
    }
    this.#young[format].set(url, answer);
    this.#youngBytes += sizeBytes;
  }
}

/** The answer with its body; `undefined` when that was kept elsewhere and is there no more. */
function withBody(known: Answer): Answer | undefined {
  const { kept } = known;
  if (kept === undefined) return known;
  const body = kept.lend();
  if (body === undefined) return undefined;
  const { tagCore, pinned, cursor } = known;
  return { body, tagCore, pinned, cursor, kept, isLent: true };
}

/**
 * A body whose bytes are its own: they may be a window on a whole resource group or on the runtime's pool, and a text
 * may hang together of pieces, which would all stay as long as it does without being counted.
 */
function standingAlone(body: string | Uint8Array): string | Uint8Array {
  if (typeof body === 'string') {
    return body.length > MAX_TEXT_LENGTH ? textEncoder.encode(body) : body;
  }
  return body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);
}

function newGeneration(): Generation {
  return { json: new Map(), bcs: new Map() };
}

function sizeOf(url: string, { body, tagCore, cursor }: Answer): number {
  const texts = url.length + body.length + (tagCore?.length ?? 0) + (cursor?.length ?? 0);
  return ENTRY_OVERHEAD_BYTES + texts;
}
