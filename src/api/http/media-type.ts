/** Media types as they stand in `Accept` and `Content-Type` (RFC 9110 §8.3.1; docs/spec/http.md §2). */

/** `type/subtype; name=value…`, everything but the parameter values in lower case. */
export interface MediaType {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const ESSENCE = new RegExp(`^[ \\t]*(${TOKEN})/(${TOKEN})[ \\t]*`);
const PARAMETER = new RegExp(
  `;[ \\t]*(?:(${TOKEN})=(?:(${TOKEN})|"((?:[\\t !#-\\[\\]-~]|\\\\[\\t -~])*)"))?[ \\t]*`,
  'y',
);

/**
 * Reads one media type; undefined when the text is none. Empty parameters (`a/b;`) are passed over.
 */
export function parseMediaType(text: string): MediaType | undefined {
  const essence = ESSENCE.exec(text);
  if (essence === null) return undefined;
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = essence[0].length;
  let end = essence[0].length;
  while (end < text.length) {
    const match = PARAMETER.exec(text);
    if (match === null) return undefined;
    end = PARAMETER.lastIndex;
    const [, name, token, quoted] = match;
    if (name !== undefined) {
      parameters.set(name.toLowerCase(), token ?? quoted!.replace(/\\(.)/g, '$1'));
    }
  }
  return {
    type: essence[1]!.toLowerCase(),
    subtype: essence[2]!.toLowerCase(),
    parameters,
  };
}

/**
 * Splits a header's list at commas outside quotes. Linear; the pieces are not trimmed.
 */
export function splitList(header: string): string[] {
  if (!header.includes('"')) return header.split(',');
  const pieces: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < header.length; at += 1) {
    const character = header[at];
    if (quoted && character === '\\') at += 1;
    else if (character === '"') quoted = !quoted;
    else if (character === ',' && !quoted) {
      pieces.push(header.slice(start, at));
      start = at + 1;
    }
  }
  pieces.push(header.slice(start));
  return pieces;
}
