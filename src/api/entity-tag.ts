/**
 * Entity tags and caching (design D11). A tag is strong: it names the exact bytes of one
 * representation. Its core is a hash of the body, or a text that determines the body
 * (`Answer.tagCore`); a content coding is part of the tag, since it changes the bytes.
 */
import { hash } from 'node:crypto';
import type { ContentCoding } from './accept-encoding.ts';

/** Hash bits kept: 132, as 22 characters of base64url. */
const TAG_CHARACTERS = 22;

/** For answers that name their version: they never change. A year, in seconds. */
export const PINNED_CACHE_CONTROL = 'public, max-age=31536000, immutable';

/**
 * The core of a tag made of the body itself. SHA-256, so that nobody can make two bodies share one.
 */
export function tagCoreOf(body: string | Uint8Array): string {
  return hash('sha256', body, 'base64url').slice(0, TAG_CHARACTERS);
}

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
