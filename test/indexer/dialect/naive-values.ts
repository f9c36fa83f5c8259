/** Comparisons of values as the dialect defines them, on texts in PostgreSQL's input format. */
import type { SqlType } from '../../../src/indexer/catalogue/table.ts';
import { JsonNumber, type JsonValue, parseJson } from '../../../src/move/json/json-text.ts';
import type { Input, InputObject, Value } from './query-shape.ts';

/** Maximum number of digits after the point in test numbers. */
const DIGITS = 10;

/** Less than, equal to or greater than 0. */
export function compareValues(type: SqlType, a: string, b: string): number {
  switch (type) {
    case 'bigint':
    case 'integer':
    case 'numeric': {
      const [left, right] = [scaled(a), scaled(b)];
      return left < right ? -1 : left > right ? 1 : 0;
    }
    case 'timestamp':
      return Buffer.compare(Buffer.from(padded(a)), Buffer.from(padded(b)));
    case 'jsonb':
      return isSameJson(json(a), json(b)) ? 0 : 1;
    default:
      return Buffer.compare(Buffer.from(a), Buffer.from(b));
  }
}

function scaled(text: string): bigint {
  const [whole, fraction = ''] = text.split('.');
  return BigInt(whole! + fraction.padEnd(DIGITS, '0'));
}

function padded(timestamp: string): string {
  const [seconds, fraction = ''] = timestamp.split('.');
  return `${seconds}.${fraction.padEnd(6, '0')}`;
}

const json = (text: string): JsonValue => parseJson(Buffer.from(text));

const ORDERED: Readonly<Record<string, (result: number) => boolean>> = {
  _eq: (result) => result === 0,
  _neq: (result) => result !== 0,
  _gt: (result) => result > 0,
  _gte: (result) => result >= 0,
  _lt: (result) => result < 0,
  _lte: (result) => result <= 0,
};

/** JavaScript regular expressions equivalent to the test patterns. */
export const REGULAR: Readonly<Record<string, RegExp>> = {
  '^0x[0-9a-f]+$': /^0x[0-9a-f]+$/,
  'a.b': /a.b/s,
  B: /B/,
  '^$': /^$/,
  '(a|1)': /(?:a|1)/,
};
export const SIMILAR: Readonly<Record<string, RegExp>> = {
  '(0x1|0xa)': /^(?:0x1|0xa)$/,
  '%a%': /^.*a.*$/s,
  a_b: /^a.b$/s,
};
export const LIKE_PATTERNS = ['%', '0x%', 'a_b', 'a\\_b', '%A%', '100\\%', '', '%\n%', '0xa'];

/** @returns null, which means unknown, for a null value */
export function isTrueOf(
  operator: string,
  type: SqlType,
  value: string | null,
  operand: Input,
): boolean | null {
  if (operator === '_is_null') return (value === null) === operand;
  if (operator === '_in' || operator === '_nin') {
    const values = operand as Value[];
    if (values.length === 0) return operator === '_nin';
    if (value === null) return null;
    const isIn = values.some(({ text }) => compareValues(type, value, text) === 0);
    return isIn === (operator === '_in');
  }
  if (value === null) return null;
  if (operator in ORDERED) {
    return ORDERED[operator]!(compareValues(type, value, (operand as Value).text));
  }
  if (type === 'jsonb') return isTrueOfJson(operator, value, operand);
  const { text } = operand as Value;
  const isNegated = operator.startsWith('_n');
  const matches = isMatch(isNegated ? `_${operator.slice(2)}` : operator, value, text);
  return matches !== isNegated;
}

function isMatch(operator: string, value: string, pattern: string): boolean {
  switch (operator) {
    case '_like':
      return likeOf(pattern, 'su').test(value);
    case '_ilike':
      return likeOf(pattern, 'siu').test(value);
    case '_similar':
      return SIMILAR[pattern]!.test(value);
    case '_regex':
      return REGULAR[pattern]!.test(value);
    default:
      return new RegExp(REGULAR[pattern]!.source, 'si').test(value);
  }
}

function likeOf(pattern: string, flags: string): RegExp {
  const source = pattern.replace(/\\(.)|%|_|[.*+?^${}()|[\]\\/]/gsu, (found, escaped?: string) => {
    if (escaped !== undefined)
      return /\w/.test(escaped) ? escaped : `\\${escaped}`.replace('\\%', '%');
    return found === '%' ? '.*' : found === '_' ? '.' : `\\${found}`;
  });
  return new RegExp(`^${source}$`, flags);
}

function isTrueOfJson(operator: string, value: string, operand: Input): boolean {
  const given = json(value);
  switch (operator) {
    case '_contains':
      return contains(given, json((operand as Value).text), true);
    case '_contained_in':
      return contains(json((operand as Value).text), given, true);
    case '_has_key':
      return hasKey(given, (operand as Value).text);
    case '_has_keys_all':
      return (operand as Value[]).every(({ text }) => hasKey(given, text));
    case '_has_keys_any':
      return (operand as Value[]).some(({ text }) => hasKey(given, text));
    default: {
      const { String: texts } = operand as InputObject;
      return Object.entries(texts as InputObject).every(
        ([name, text]) => isTrueOf(name, 'text', value, text) === true,
      );
    }
  }
}

function hasKey(value: JsonValue, key: string): boolean {
  if (value instanceof Map) return value.has(key);
  return Array.isArray(value) ? value.includes(key) : value === key;
}

/** A top-level list contains any one of its items. */
function contains(value: JsonValue, part: JsonValue, isTop: boolean): boolean {
  if (value instanceof Map && part instanceof Map) {
    return [...part].every(
      ([name, member]) => value.has(name) && contains(value.get(name)!, member, false),
    );
  }
  if (Array.isArray(value)) {
    if (Array.isArray(part)) {
      return part.every((item) => value.some((one) => contains(one, item, false)));
    }
    return isTop && !(part instanceof Map) && value.some((one) => isSameJson(one, part));
  }
  return isSameJson(value, part);
}

export function isSameJson(a: JsonValue, b: JsonValue): boolean {
  if (a instanceof JsonNumber || b instanceof JsonNumber) {
    return a instanceof JsonNumber && b instanceof JsonNumber && scaled(a.text) === scaled(b.text);
  }
  if (a instanceof Map || b instanceof Map) {
    return (
      a instanceof Map &&
      b instanceof Map &&
      a.size === b.size &&
      [...a].every(([name, member]) => b.has(name) && isSameJson(member, b.get(name)!))
    );
  }
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, place) => isSameJson(item, b[place]))
    );
  }
  return a === b;
}
