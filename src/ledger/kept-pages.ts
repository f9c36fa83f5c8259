/**
 * Rendered pages of event streams, kept from one view to the next: events never change, so a page once made is right
 * at every view that shows its events and renders them by the same layouts. What is right where is for
 * stream-pages.ts to decide; here is what is kept and how much of it.
 *
 * Bytes of pages lie in a file (src/store/kept-bytes.ts), those of small ones in memory.
 */
import type { KeptBytes } from '../store/kept-bytes.ts';
import type { EventPageAnswer, EventPageForm, EventStreamId, KeptBody } from './api-contract.ts';
import { BoundedCache, type CacheSize } from './bounded-cache.ts';
import { contentTag } from './content-tag.ts';
import type { LayoutStamp } from './layout-cache.ts';

/** Memory for the index of kept pages and for small pages, in bytes, estimated: some 40,000 pages. */
const DEFAULT_INDEX_BYTES = 24 * 1024 * 1024;
/** Pages below this size are kept in memory, in bytes: there they take little more than their entry. */
export const MIN_FILED_PAGE_BYTES = 1024;
/** What a page takes beside its key, its bytes and the names of its types, in bytes, estimated. */
const PAGE_OVERHEAD_BYTES = 256;

/** Which events a page holds, in which form; there is at least one. */
export interface PageName {
  readonly stream: EventStreamId;
  /** The first sequence number. */
  readonly first: bigint;
  /** How many follow each other from there. */
  readonly count: number;
  readonly form: EventPageForm;
}

/** What a page was made of, and where it is right by that. */
export interface PageSource {
  /** The version of its first event. */
  readonly firstVersion: bigint;
  /** The version of its last event. */
  readonly lastVersion: bigint;
  /** The layouts by which it was rendered, each once; none for BCS. */
  readonly layouts: readonly LayoutStamp[];
}

/** A page that was found. */
export interface FoundPage {
  readonly source: PageSource;
  /** The page; `undefined` when its bytes have been overwritten. */
  answer(): EventPageAnswer | undefined;
}

/** The pages of one process. */
export class KeptPages {
  readonly #bytes: KeptBytes;
  readonly #pages: BoundedCache<FoundPage>;

  /** @param bytes where pages lie; the caller's to close */
  constructor(bytes: KeptBytes, indexBytes = DEFAULT_INDEX_BYTES) {
    this.#bytes = bytes;
    this.#pages = new BoundedCache(indexBytes);
  }

  /** How full its index is. */
  get size(): CacheSize {
    return this.#pages.sizeAs('event_pages');
  }

  /** A page that was kept under a name. */
  find(name: PageName): FoundPage | undefined {
    if (!this.#bytes.isOpen) {
      // Keeping has ended for good, and what is left of it is of no use.
      this.#pages.clear();
      return undefined;
    }
    return this.#pages.get(keyOf(name));
  }

  /**
   * Keeps a page that was made.
   * @param body the page, its own
   * @returns the page to send
   */
  keep(name: PageName, source: PageSource, body: Uint8Array): EventPageAnswer {
    const tagCore = contentTag(body);
    const answer = { body, tagCore };
    if (!this.#bytes.isOpen) return answer;
    if (body.length < MIN_FILED_PAGE_BYTES) {
      const small = { body: new Uint8Array(body), tagCore };
      this.#add(name, { source, answer: () => small }, body.length);
      return small;
    }
    const at = this.#bytes.put(body);
    if (at === undefined) return answer;
    const kept = new FiledBody(this.#bytes, at, body.length);
    this.#add(name, new FiledPage(source, kept, tagCore), 0);
    return { body, tagCore, kept };
  }

  #add(name: PageName, page: FoundPage, bodyBytes: number): void {
    const typeBytes = page.source.layouts.reduce((sum, { tag }) => sum + tag.length, 0);
    this.#pages.set(keyOf(name), page, PAGE_OVERHEAD_BYTES + typeBytes + bodyBytes);
  }
}

/** A page whose bytes lie in the file. */
class FiledPage implements FoundPage {
  readonly source: PageSource;
  readonly #kept: FiledBody;
  readonly #tagCore: string;

  constructor(source: PageSource, kept: FiledBody, tagCore: string) {
    this.source = source;
    this.#kept = kept;
    this.#tagCore = tagCore;
  }

  answer(): EventPageAnswer | undefined {
    const body = this.#kept.read();
    return body === undefined ? undefined : { body, tagCore: this.#tagCore, kept: this.#kept };
  }
}

class FiledBody implements KeptBody {
  readonly #bytes: KeptBytes;
  readonly #at: number;
  readonly #length: number;

  constructor(bytes: KeptBytes, at: number, length: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#length = length;
  }

  read(): Buffer | undefined {
    return this.#bytes.read(this.#at, this.#length);
  }

  lend(): Buffer | undefined {
    return this.#bytes.lend(this.#at, this.#length);
  }

  leave(): void {
    this.#bytes.leave();
  }
}

function keyOf({ stream, first, count, form }: PageName): string {
  return `${stream.address}${stream.creationNumber}/${first}/${count}/${form}`;
}
