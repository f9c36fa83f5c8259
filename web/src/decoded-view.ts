/** A signing message as the node decodes it: the request, with notes on what it does (src/ledger/decode). */

import type { JsonValue } from '../../src/move/json/json-text.ts';
import { described, element } from './dom.ts';
import { field, formatJson, isList, listField, textField } from './json-fields.ts';
import { groupDigits } from './number-text.ts';

/** Where this node puts what is not part of the request. */
const NOTES_FIELD = 'daybook_notes';

/** Warnings first, then the facts, the arguments with their types, and the request as JSON. */
export function decodedView(decoded: JsonValue): HTMLElement {
  const notes = field(decoded, NOTES_FIELD);
  const attributes = { class: 'json', tabindex: 0, 'aria-label': 'Decoded request' };
  return element(
    'div',
    { class: 'decoded' },
    ...listField(notes, 'warnings').map(warningNode),
    notes instanceof Map ? factsNode(notes) : undefined,
    argumentsNode(decoded, notes),
    element('pre', attributes, formatJson(withoutNotes(decoded), 2)),
  );
}

function withoutNotes(decoded: JsonValue): JsonValue {
  if (!(decoded instanceof Map)) return decoded;
  return new Map([...decoded].filter(([name]) => name !== NOTES_FIELD));
}

function warningNode(warning: JsonValue): HTMLElement {
  return element(
    'p',
    { class: 'note warning' },
    element('strong', {}, 'Before you sign: '),
    textField(warning, 'message') ?? formatJson(warning),
    ' (',
    element('code', {}, textField(warning, 'code') ?? ''),
    ')',
  );
}

function factsNode(notes: JsonValue): HTMLElement {
  const fee = textField(notes, 'max_fee_octas');
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Signed by', textField(notes, 'signing_scheme')?.replaceAll('_', ' ')],
    ['Gas paid by', textField(notes, 'fee_payer_address')],
    ['Most that gas can cost', fee === undefined ? undefined : `${groupDigits(fee)} octas`],
    ['Replay protection', textField(notes, 'replay_protection')?.replaceAll('_', ' ')],
    ['Expires', textField(notes, 'expires_at')],
    ['Encodes back to these bytes', yesOrNo(field(notes, 'encodes_back'))],
  ];
  const rows = facts.flatMap(([term, value]) =>
    value === undefined ? [] : [described(term, value)],
  );
  return element('dl', { class: 'facts' }, ...rows);
}

function yesOrNo(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'boolean') return undefined;
  return value ? 'yes' : 'no';
}

/** The call's arguments with the types of their parameters; nothing where the node does not know them. */
function argumentsNode(decoded: JsonValue, notes: JsonValue | undefined): HTMLElement | undefined {
  const types = field(notes, 'parameter_types');
  const payload = field(decoded, 'payload');
  const called = field(payload, 'transaction_payload') ?? payload;
  const values = listField(called, 'arguments');
  if (!isList(types) || types.length !== values.length || values.length === 0) return undefined;
  const rows = values.map((value, at) =>
    described(
      `Argument ${at + 1}: ${String(types[at])}`,
      element('code', {}, typeof value === 'string' ? value : formatJson(value)),
    ),
  );
  return element('dl', { class: 'facts' }, ...rows);
}
