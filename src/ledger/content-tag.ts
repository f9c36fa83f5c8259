/** What tells contents apart without comparing them. */
import { hash } from 'node:crypto';

/** Hash bits kept: 132, as 22 characters of base64url. */
const TAG_CHARACTERS = 22;

/**
 * A tag made of the content itself, 22 characters of base64url; of a text, that of its UTF-8. SHA-256, so that nobody
 * can make two contents share one.
 */
export function contentTag(content: string | Uint8Array): string {
  return hash('sha256', content, 'base64url').slice(0, TAG_CHARACTERS);
}
