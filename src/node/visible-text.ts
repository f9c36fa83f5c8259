/** Text that is shown on a terminal. */

const INVISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;

/** Writes invisible characters, except line feeds, as `\uXXXX`, so that no text controls the terminal. */
export function escapeInvisible(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // A character beyond U+FFFF has two units.
  return text.replaceAll(INVISIBLE, (character) => character.split('').map(escaped).join(''));
}
