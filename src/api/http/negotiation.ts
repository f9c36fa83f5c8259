/**
 * JSON or BCS: decided once for all endpoints from the `Accept` header. Proper negotiation between
 * the two types, never 406 (docs/spec/decisions.md D3, which stands over docs/spec/http.md §2.1).
 */
import { type MediaType, parseMediaType, splitList } from './media-type.ts';

/** The two forms of an answer. */
export type Format = 'json' | 'bcs';

/** Media type of BCS. */
export const BCS_MEDIA_TYPE = 'application/x-bcs';

/** Content types of answers (docs/spec/http.md §2.2). */
export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  bcs: BCS_MEDIA_TYPE,
};

const SUBTYPES: Readonly<Record<Format, string>> = { json: 'json', bcs: 'x-bcs' };

/** How much a client wants one format. */
interface Preference {
  readonly quality: number;
  /** 2 named itself, 1 `application/*`, 0 `*` + `/*`, -1 not mentioned. */
  readonly specificity: number;
  /** Place in the header. */
  readonly position: number;
}

const UNMENTIONED: Preference = { quality: 0, specificity: -1, position: Number.MAX_SAFE_INTEGER };

/**
 * The format for an `Accept` header. The higher quality wins; at equal quality the format that is
 * named itself, then the one named first. JSON when nothing fits, and when only wildcards do.
 */
export function chooseFormat(accept: string | undefined): Format {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'json';
  if (accept === BCS_MEDIA_TYPE) return 'bcs';
  const ranges = splitList(accept).map(parseMediaType);
  const json = preferenceFor('json', ranges);
  const bcs = preferenceFor('bcs', ranges);
  if (bcs.quality === 0) return 'json';
  if (bcs.quality !== json.quality) return bcs.quality > json.quality ? 'bcs' : 'json';
  const bcsNamed = bcs.specificity === 2;
  const jsonNamed = json.specificity === 2;
  if (bcsNamed && jsonNamed) return bcs.position < json.position ? 'bcs' : 'json';
  return bcsNamed ? 'bcs' : 'json';
}

/** The most specific mention of a format counts; among equally specific ones the best. */
function preferenceFor(format: Format, ranges: readonly (MediaType | undefined)[]): Preference {
  let best = UNMENTIONED;
  ranges.forEach((range, position) => {
    if (range === undefined) return;
    const specificity = specificityOf(range, format);
    if (specificity < 0) return;
    const quality = qualityOf(range);
    const better =
      specificity > best.specificity ||
      (specificity === best.specificity && quality > best.quality);
    if (better) best = { quality, specificity, position };
  });
  return best;
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
