/** The node's answers as JSON, without loss: a balance goes up to 2^64−1, which JSON.parse would round. */
import { byteTools } from '../../src/move/bcs/bytes.ts';
import {
  JsonNumber,
  type JsonObject,
  type JsonValue,
  parseJson as parseJsonBytes,
} from '../../src/move/json/json-text.ts';

/** Reads one JSON value of any size. @throws JsonSyntaxError */
export function parseJson(text: string): JsonValue {
  return parseJsonBytes(byteTools.utf8Bytes(text), Number.POSITIVE_INFINITY);
}

/** Writes a value, numbers as they were read; with `indent` spaces per level on several lines, without it on one. */
export function formatJson(value: JsonValue, indent = 0): string {
  return format(value, indent, '\n');
}

function format(value: JsonValue, indent: number, newline: string): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof JsonNumber) return value.text;
  const inner = indent === 0 ? '' : newline + ' '.repeat(indent);
  const end = indent === 0 ? '' : newline;
  if (value instanceof Map) {
    if (value.size === 0) return '{}';
    const colon = indent === 0 ? ':' : ': ';
    const fields = [...(value as JsonObject)].map(
      ([key, field]) => JSON.stringify(key) + colon + format(field, indent, inner),
    );
    return `{${inner}${fields.join(`,${inner}`)}${end}}`;
  }
  const items = (value as readonly JsonValue[]).map((item) => format(item, indent, inner));
  return items.length === 0 ? '[]' : `[${inner}${items.join(`,${inner}`)}${end}]`;
}

/** The field of an object; undefined when `value` is not an object or has no such field. */
export function field(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return value instanceof Map ? (value as JsonObject).get(name) : undefined;
}

/** A field that is a string; undefined otherwise. */
export function textField(value: JsonValue | undefined, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === 'string' ? found : undefined;
}

/** A field that is an array; empty otherwise. */
export function listField(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  const found = field(value, name);
  return isList(found) ? found : [];
}

/** Whether the value is an array. */
export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
