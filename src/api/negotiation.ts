/**
 * Content negotiation: the format of an answer (`Accept`), its coding (`Accept-Encoding`), and whether a request body
 * is JSON (`Content-Type`). Media types are parsed as in RFC 9110 §8.3.1 (docs/spec/http.md §2).
 */
import { type ApiError, frameworkError } from './error-table.ts';

export type Format = 'json' | 'bcs';

export const BCS_MEDIA_TYPE = 'application/x-bcs';

export const EVENT_STREAM_MEDIA_TYPE = 'text/event-stream';

/** Content types of answers (docs/spec/http.md §2.2). */
export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  bcs: BCS_MEDIA_TYPE,
};

const SUBTYPES: Readonly<Record<Format, string>> = { json: 'json', bcs: 'x-bcs' };

/** `type/subtype; name=value…`, in lower case except the parameter values. */
interface MediaType {
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

/** Parses one media type; undefined if the text is not one. Empty parameters (`a/b;`) are ignored. */
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
  return { type: essence[1]!.toLowerCase(), subtype: essence[2]!.toLowerCase(), parameters };
}

/** Splits a header's list at commas outside quotes. Linear; the pieces are not trimmed. */
export function splitList(header: string): string[] {
  if (!header.includes('"')) return header.split(',');
  const pieces: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < header.length; at += 1) {
    const character = header[at];
    if (isQuoted && character === '\\') at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === ',' && !isQuoted) {
      pieces.push(header.slice(start, at));
      start = at + 1;
    }
  }
  pieces.push(header.slice(start));
  return pieces;
}

interface Preference {
  readonly quality: number;
  /** 2: named explicitly, 1: `application/*`, 0 `*` + `/*`, -1 not mentioned. */
  readonly specificity: number;
  readonly position: number;
}

const NO_PREFERENCE: Preference = {
  quality: 0,
  specificity: -1,
  position: Number.MAX_SAFE_INTEGER,
};

/**
 * The format for an `Accept` header. Proper negotiation between the two types, never 406 (docs/spec/decisions.md D3,
 * which overrides docs/spec/http.md §2.1). The higher quality wins; at equal quality the format that is named
 * explicitly, then the one named first. JSON when nothing matches, and when only wildcards match.
 */
export function chooseFormat(accept: string | undefined): Format {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'json';
  if (accept === BCS_MEDIA_TYPE) return 'bcs';
  const ranges = splitList(accept).map(parseMediaType);
  const json = preferenceFor('json', ranges);
  const bcs = preferenceFor('bcs', ranges);
  if (bcs.quality === 0) return 'json';
  if (bcs.quality !== json.quality) return bcs.quality > json.quality ? 'bcs' : 'json';
  const isBcsNamed = bcs.specificity === 2;
  const isJsonNamed = json.specificity === 2;
  if (isBcsNamed && isJsonNamed) return bcs.position < json.position ? 'bcs' : 'json';
  return isBcsNamed ? 'bcs' : 'json';
}

/** The most specific range that matches a format decides; among equally specific ones, the best quality. */
function preferenceFor(format: Format, ranges: readonly (MediaType | undefined)[]): Preference {
  let best = NO_PREFERENCE;
  ranges.forEach((range, position) => {
    if (range === undefined) return;
    const specificity = specificityOf(range, format);
    if (specificity < 0) return;
    const quality = qualityOf(range);
    const isBetter =
      specificity > best.specificity ||
      (specificity === best.specificity && quality > best.quality);
    if (isBetter) best = { quality, specificity, position };
  });
  return best;
}

/** Whether `Accept` requests server-sent events: it names them and prefers nothing else. Wildcards request a page. */
export function prefersEvents(accept: string | undefined): boolean {
  if (accept === undefined || !/event-stream/i.test(accept)) return false;
  const ranges = splitList(accept).map(parseMediaType);
  const position = ranges.findIndex(
    (range) => range?.type === 'text' && range.subtype === 'event-stream',
  );
  if (position === -1) return false;
  const quality = qualityOf(ranges[position]!);
  const pages = [preferenceFor('json', ranges), preferenceFor('bcs', ranges)];
  return (
    quality > 0 &&
    pages.every((page) => {
      const isNamedFirst = page.specificity === 2 && page.position < position;
      return isNamedFirst ? page.quality < quality : page.quality <= quality;
    })
  );
}

function specificityOf(range: MediaType, format: Format): number {
  if (range.type === '*') return range.subtype === '*' ? 0 : -1;
  if (range.type !== 'application') return -1;
  if (range.subtype === '*') return 1;
  return range.subtype === SUBTYPES[format] ? 2 : -1;
}

/** 0 to 1000; a missing or unreadable `q` counts as 1000, as in the reference. */
function qualityOf(range: MediaType): number {
  const text = range.parameters.get('q');
  if (text === undefined || !/^\d{1,9}(?:\.\d{0,9})?$|^\.\d{1,9}$/.test(text)) return 1000;
  return Math.min(1000, Math.trunc(Number(text) * 1000));
}

/** Content codings of answers and request bodies; `deflate` is raw DEFLATE without a zlib wrapper. */
export type ContentCoding = 'br' | 'gzip' | 'deflate';

/** Known names with their codings; their order decides between equal qualities. */
const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['*', 'br'],
]);
const RANKS: ReadonlyMap<string, number> = new Map([...CODINGS.keys()].map((name, i) => [name, i]));

/**
 * The coding for an `Accept-Encoding` header, undefined for none (docs/spec/http.md §10.2). As in the reference,
 * quality is recognized only in the spelling `;q=` without spaces, `identity` is not recognized, and quality 0 does not
 * exclude a coding.
 */
export function chooseCoding(acceptEncoding: string | undefined): ContentCoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  let best: { name: string; quality: number } | undefined;
  for (const piece of acceptEncoding.split(',')) {
    const [name, quality] = readCoding(piece.trim());
    if (!CODINGS.has(name)) continue;
    const isBetter =
      best === undefined ||
      quality > best.quality ||
      (quality === best.quality && RANKS.get(name)! < RANKS.get(best.name)!);
    if (isBetter) best = { name, quality };
  }
  return best && CODINGS.get(best.name);
}

function readCoding(piece: string): [name: string, quality: number] {
  const separator = piece.indexOf(';q=');
  if (separator === -1) return [piece, 1000];
  const quality = Number(piece.slice(separator + 3));
  return [piece.slice(0, separator), Number.isFinite(quality) ? Math.trunc(quality * 1000) : 1000];
}

const VISIBLE_ASCII = /^[\t -~]*$/;

/**
 * Accepts a request body of JSON: `application/json` or `application/…+json`, whatever the parameters; the body is
 * UTF-8 anyway (docs/spec/http.md §2.3). @throws ApiError 415
 */
export function requireJsonBody(contentType: string | undefined): void {
  if (contentType === 'application/json') return;
  const media = parseMediaType(requireContentType(contentType));
  if (media?.type === 'application' && isJsonSubtype(media.subtype)) return;
  throw unsupportedType(contentType!);
}

/**
 * The format of a request body that may be JSON or BCS: both content types are compared byte for byte, without
 * parameters (docs/spec/transactions.md §9.1).
 * @param bcsType the operation's content type of BCS
 * @throws ApiError 415
 */
export function bodyFormat(contentType: string | undefined, bcsType: string): Format {
  if (contentType === 'application/json') return 'json';
  if (contentType === bcsType) return 'bcs';
  throw unsupportedType(requireContentType(contentType));
}

function requireContentType(contentType: string | undefined): string {
  if (contentType !== undefined && VISIBLE_ASCII.test(contentType)) return contentType;
  throw frameworkError(415, 'the client request does not include the `Content-Type` header');
}

function unsupportedType(contentType: string): ApiError {
  return frameworkError(
    415,
    `the \`Content-Type\` requested by the client is not supported: ${contentType}`,
  );
}

/** `json` as the name before the last `+`, or as the suffix after it; a `+` at the start does not count. */
function isJsonSubtype(subtype: string): boolean {
  const plus = subtype.lastIndexOf('+');
  if (plus <= 0) return subtype === 'json';
  return subtype.slice(0, plus) === 'json' || subtype.slice(plus + 1) === 'json';
}
