/** JSON values as nodes to read: names, exact numbers, and addresses and types that lead somewhere. */

import { JsonNumber, type JsonObject, type JsonValue } from '../../src/move/json/json-text.ts';
import { element } from './dom.ts';
import { formatJson, isList } from './json-fields.ts';
import { typeNodes } from './type-nodes.ts';

/** Values with more characters than this are shown as plain text. */
const MAX_LAID_OUT_CHARACTERS = 20_000;
/** Nested values up to this long stay on one line. */
const MAX_LINE_CHARACTERS = 72;

/** The fields of an object as a description list; anything else as JSON text. */
export function jsonView(value: JsonValue): HTMLElement {
  const text = formatJson(value, 2);
  if (!(value instanceof Map) || text.length > MAX_LAID_OUT_CHARACTERS) {
    return element('pre', { class: 'json' }, text);
  }
  const rows = [...(value as JsonObject)].map(([name, field]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, ...fieldNodes(field))),
  );
  return element('dl', { class: 'data' }, ...rows);
}

function fieldNodes(value: JsonValue): (Node | string)[] {
  if (value instanceof JsonNumber) return [value.text];
  if (typeof value === 'string') {
    return value.includes('::') ? typeNodes(value) : [value === '' ? '""' : value];
  }
  if (value === null || typeof value === 'boolean') return [String(value)];
  if (isList(value) ? value.length === 0 : (value as JsonObject).size === 0) {
    return [formatJson(value)];
  }
  const line = formatJson(value);
  if (line.length <= MAX_LINE_CHARACTERS) return [line];
  return [element('pre', { class: 'nested' }, formatJson(value, 2))];
}
