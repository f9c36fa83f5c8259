/** Where two answers to the same request differ: status, headers, fields of JSON, bytes of BCS. */

import {
  JsonNumber,
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
  parseJson,
} from '../../../move/json/json-text.ts';
import { formatJson } from '../../../move/json/json-text-print.ts';
import {
  type Answer,
  JSON_TYPE,
  ledgerState,
  mediaTypeOf,
  nodeHeader,
} from '../../../remote/answer.ts';

/** One place where answers differ; `undefined` if one of them lacks it. */
export interface Difference {
  /** `status`, `header …`, `body $.path.in.JSON[3]` or `body byte 17 of 40 and 41`. */
  readonly place: string;
  readonly ours: string | undefined;
  readonly theirs: string | undefined;
}

export const MAX_PLACES = 10;
const MAX_EXCERPT_CHARACTERS = 160;
/** Limit of the memory for the values of a compared answer, in bytes. */
const MAX_ANSWER_VALUE_BYTES = 64 * 1024 * 1024;
const EXCERPT_BYTES = 16;

/** The ledger headers that are equal if the newest version is equal. */
const VERSION_HEADERS: readonly string[] = ['ledger-timestampusec', 'epoch', 'block-height'];

/** At most MAX_PLACES differences. */
export function differencesOf(ours: Answer, theirs: Answer): readonly Difference[] {
  const found: Difference[] = [];
  compareTexts(found, 'status', String(ours.status), String(theirs.status));
  const types = [ours, theirs].map(({ headers }) => headers['content-type']);
  compareTexts(found, 'header content-type', types[0], types[1]);
  compareHeaders(found, ours, theirs);
  compareBodies(found, ours, theirs);
  return found.slice(0, MAX_PLACES);
}

function compareHeaders(found: Difference[], ours: Answer, theirs: Answer): void {
  const compare = (name: string): void => {
    const [own, other] = [ours, theirs].map(({ headers }) => nodeHeader(headers, name));
    compareTexts(found, `header …-${name}`, own, other);
  };
  compare('cursor');
  const [own, other] = [ours, theirs].map(({ headers }) => ledgerState(headers));
  // The reference leaves the ledger headers out of some errors (docs/differences.md).
  if (own!.chainId === undefined || other!.chainId === undefined) return;
  compare('chain-id');
  if (own!.ledgerVersion === other!.ledgerVersion)
    for (const name of VERSION_HEADERS) compare(name);
}

function compareTexts(
  found: Difference[],
  place: string,
  ours: string | undefined,
  theirs: string | undefined,
): void {
  if (ours !== theirs)
    found.push({ place, ours: ours && truncate(ours), theirs: theirs && truncate(theirs) });
}

function compareBodies(found: Difference[], ours: Answer, theirs: Answer): void {
  if (ours.body.equals(theirs.body)) return;
  const before = found.length;
  if ([ours, theirs].every((answer) => mediaTypeOf(answer) === JSON_TYPE)) {
    const [left, right] = [parsed(ours.body), parsed(theirs.body)];
    if (left !== undefined && right !== undefined) compareJson(found, 'body $', left, right);
  }
  if (found.length === before) found.push(bytesDifference(ours, theirs));
}

function parsed(body: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(body, MAX_ANSWER_VALUE_BYTES);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function compareJson(
  found: Difference[],
  place: string,
  ours: JsonValue | undefined,
  theirs: JsonValue | undefined,
): void {
  if (found.length >= MAX_PLACES) return;
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    for (let at = 0; at < Math.max(ours.length, theirs.length); at += 1) {
      compareJson(found, `${place}[${at}]`, ours[at], theirs[at]);
    }
    return;
  }
  if (ours instanceof Map && theirs instanceof Map) {
    const [left, right] = [ours as JsonObject, theirs as JsonObject];
    for (const name of new Set([...left.keys(), ...right.keys()])) {
      compareJson(found, `${place}${memberText(name)}`, left.get(name), right.get(name));
    }
    return;
  }
  if (isSame(ours, theirs)) return;
  found.push({ place, ours: excerptOf(ours), theirs: excerptOf(theirs) });
}

function isSame(ours: JsonValue | undefined, theirs: JsonValue | undefined): boolean {
  if (ours instanceof JsonNumber && theirs instanceof JsonNumber) return ours.text === theirs.text;
  return ours === theirs;
}

function memberText(name: string): string {
  return /^\w+$/.test(name) ? `.${name}` : `[${truncate(JSON.stringify(name))}]`;
}

function excerptOf(value: JsonValue | undefined): string | undefined {
  return value === undefined ? undefined : truncate(formatJson(value));
}

function bytesDifference(ours: Answer, theirs: Answer): Difference {
  const [left, right] = [ours.body, theirs.body];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  const sizes =
    left.length === right.length ? `${left.length}` : `${left.length} and ${right.length}`;
  const from = (answer: Answer): string => {
    const bytes = answer.body.subarray(at, at + EXCERPT_BYTES);
    if (bytes.length === 0) return 'the end';
    return mediaTypeOf(answer) === JSON_TYPE
      ? truncate(JSON.stringify(bytes.toString()))
      : bytes.toString('hex');
  };
  return { place: `body byte ${at} of ${sizes}`, ours: from(ours), theirs: from(theirs) };
}

/** Shortens a text and escapes control characters, which a terminal would interpret. */
function truncate(text: string): string {
  const excerpt =
    text.length <= MAX_EXCERPT_CHARACTERS ? text : `${text.slice(0, MAX_EXCERPT_CHARACTERS)}…`;
  return excerpt.replace(/\p{Cc}/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
