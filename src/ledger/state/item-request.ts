/** Requests for table items and raw state values: their bodies and checks (docs/spec/transactions.md §6). */
import type { JsonValue } from '../../move/json/json-text.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import {
  type ConvertedTypes,
  checkTypeLevels,
  MoveTypeError,
  TypeLevelError,
  typeTagOf,
} from '../../move/types/move-type-tag.ts';
import type { TypeTag } from '../../move/types/type-tag.ts';
import { LedgerError } from '../../state/ledger-error.ts';
import {
  asObject,
  bytesField,
  moveTypeReader,
  unexpectedType,
  within,
} from '../../submission/encode/fields.ts';

/**
 * Maximum number of UTF-16 units of both types of a table item together, far above what a chain allows. It is limited
 * because each type in them is looked up.
 */
export const MAX_ITEM_TYPES_LENGTH = 16_384;

export interface TableItemRequest {
  readonly keyType: MoveType;
  readonly valueType: MoveType;
  readonly key: JsonValue;
}

/** Reads the body of a request for a table item. @throws EncodeError of stage `parse` */
export function readTableItemRequest(body: JsonValue): TableItemRequest {
  const name = 'TableItemRequest';
  const request = asObject(body);
  if (request === undefined) throw unexpectedType(name, body, '');
  const trace = within(name, '');
  const readType = moveTypeReader(MAX_ITEM_TYPES_LENGTH);
  return {
    keyType: readType(request.get('key_type'), trace),
    valueType: readType(request.get('value_type'), trace),
    key: request.get('key') ?? null,
  };
}

/** Reads a body whose only member is a key in hex. @throws EncodeError of stage `parse` */
export function readKeyRequest(name: string, body: JsonValue): Buffer {
  const request = asObject(body);
  if (request === undefined) throw unexpectedType(name, body, '');
  return bytesField(request.get('key'), within(name, ''));
}

/** Checks the types of a request. @throws LedgerError `invalid_input` */
export function verifyTableItemRequest({ keyType, valueType }: TableItemRequest): void {
  try {
    checkTypeLevels(keyType);
    checkTypeLevels(valueType);
  } catch (cause) {
    if (!(cause instanceof TypeLevelError)) throw cause;
    throw new LedgerError('invalid_input', `'table_item_request' invalid: ${cause.message}`, {
      cause,
    });
  }
}

export interface ItemTypes {
  readonly key: TypeTag;
  readonly value: TypeTag;
}

/** The type tags of a verified request. @throws LedgerError `invalid_input` */
export function itemTypes({ keyType, valueType }: TableItemRequest): ItemTypes {
  const done: ConvertedTypes = new Map();
  const key = tagOf('key_type', keyType, done);
  return { key, value: tagOf('value_type', valueType, done) };
}

function tagOf(member: string, type: MoveType, done: ConvertedTypes): TypeTag {
  try {
    return typeTagOf(type, done);
  } catch (cause) {
    if (!(cause instanceof MoveTypeError)) throw cause;
    throw new LedgerError('invalid_input', `Failed to parse ${member}: ${cause.message}`, {
      cause,
    });
  }
}
