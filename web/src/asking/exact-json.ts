/** JSON without loss: a number that a double would round or print differently keeps its text. */
import { byteTools } from '../../../src/move/bcs/bytes.ts';
import {
  JsonNumber,
  type JsonValue,
  parseJson as parseBytes,
} from '../../../src/move/json/json-text.ts';

export type Json = null | boolean | number | string | JsonNumber | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/** Reads one JSON value of any size. @throws JsonSyntaxError */
export function parseJson<T = Json>(text: string): T {
  return plain(parseBytes(byteTools.utf8Bytes(text), Number.POSITIVE_INFINITY)) as T;
}

function plain(value: JsonValue): Json {
  if (value instanceof JsonNumber) {
    return String(Number(value.text)) === value.text ? Number(value.text) : value;
  }
  if (Array.isArray(value)) return value.map(plain);
  if (!(value instanceof Map)) return value as Json;
  // No name is special, not even `__proto__`.
  const object = Object.create(null) as Record<string, Json>;
  for (const [name, field] of value) object[name] = plain(field);
  return object;
}

/** Formats a value; on several lines with `indent` spaces per level, or on one line without `indent`. */
export function formatJson(value: Json | undefined, indent = 0, newline = '\n'): string {
  if (value instanceof JsonNumber) return value.text;
  if (value === undefined || value === null || typeof value !== 'object') {
    return JSON.stringify(value ?? null);
  }
  const inner = indent === 0 ? '' : newline + ' '.repeat(indent);
  const end = indent === 0 ? '' : newline;
  const parts = Array.isArray(value)
    ? value.map((item) => formatJson(item, indent, inner))
    : Object.entries(value as JsonObject).map(
        ([name, field]) =>
          `${JSON.stringify(name)}:${indent === 0 ? '' : ' '}${formatJson(field, indent, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return parts.length === 0
    ? `${open}${close}`
    : open + inner + parts.join(`,${inner}`) + end + close;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !isList(value) && !(value instanceof JsonNumber)
  );
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
