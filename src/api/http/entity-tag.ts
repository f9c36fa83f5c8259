/**
 * Entity tags and caching (docs/spec/decisions.md D11). A tag is strong: it names the exact bytes of one
 * representation. Its core is a hash of the body (`contentTag`), or a text that determines the body
 * (`Answer.tagCore`); a content coding is part of the tag, since it changes the bytes.
 */
import type { ContentCoding } from './accept-encoding.ts';

/** For answers that name their version: they never change. A year, in seconds. */
export const PINNED_CACHE_CONTROL = 'public, max-age=31536000, immutable';

/** The entity tag of a body in a coding. */
export function entityTag(core: string, coding: ContentCoding | undefined): string {
  return coding === undefined ? `"${core}"` : `"${core}-${coding}"`;
}

/** Whether `If-None-Match` names the tag, weakly or not, or any. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  // A tag carries its quotes and has none inside, so it can only be found as a whole.
  return ifNoneMatch.includes(tag) || ifNoneMatch.trim() === '*';
}
