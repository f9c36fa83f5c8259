/** Object templates: the JSON forms of structs and enum variants, names sorted once (docs/spec/encode.md §B1). */
import type { DecodeLayout, ObjectTemplate } from './layout.ts';

/** A field before it has its place. */
export interface NamedField {
  readonly name: string;
  readonly layout: DecodeLayout;
}

/** A member that is the same for all values; `json` is its JSON text. */
export interface FixedMember {
  readonly name: string;
  readonly json: string;
}

/**
 * The object of some fields in declared order, all names sorted by bytes, with at most one fixed member among them.
 * Of equal names the last counts, a fixed member before all fields; the bytes of all fields are read in any case.
 */
export function objectTemplate(
  fields: readonly NamedField[],
  fixed: FixedMember | undefined,
  nameBytes: number,
): ObjectTemplate {
  const members = new Map<string, number | string>();
  if (fixed !== undefined) members.set(fixed.name, fixed.json);
  fields.forEach((field, index) => {
    members.set(field.name, index);
  });
  const pieces: string[] = [];
  const order: number[] = [];
  let piece = '{';
  let separator = '';
  for (const name of [...members.keys()].sort(compareNames)) {
    const member = members.get(name)!;
    piece += `${separator}${JSON.stringify(name)}:`;
    separator = ',';
    if (typeof member === 'string') {
      piece += member;
    } else {
      pieces.push(piece);
      order.push(member);
      piece = '';
    }
  }
  pieces.push(piece + '}');
  return finishTemplate(fields, pieces, order, nameBytes);
}

/** `{"vec":[…]}` around the fields of a variant of the enum `0x1::option::Option`. */
export function optionTemplate(fields: readonly NamedField[], nameBytes: number): ObjectTemplate {
  const pieces: string[] = fields.map((_, index) => (index === 0 ? '{"vec":[' : ','));
  pieces.push(fields.length === 0 ? '{"vec":[]}' : ']}');
  return finishTemplate(fields, pieces, [...fields.keys()], nameBytes);
}

function finishTemplate(
  fields: readonly NamedField[],
  pieces: readonly string[],
  order: readonly number[],
  nameBytes: number,
): ObjectTemplate {
  return {
    fields: fields.map((field) => field.layout),
    pieces,
    order,
    inDeclaredOrder:
      order.length === fields.length && order.every((field, place) => field === place),
    nameBytes,
  };
}

/** Names are ASCII, so UTF-16 order is byte order. */
function compareNames(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
