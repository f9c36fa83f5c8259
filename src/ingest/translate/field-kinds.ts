/** Kinds of fields of the events and resources that translation touches: how to step over each in BCS. */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';

/** Bytes of an event handle: counter, creation number, address (docs/spec/ledger.md §1.3). */
export const EVENT_HANDLE_BYTES = 48;

const U64_BYTES = 8;

/** Steps over one value of a kind. @throws BcsError */
type Skip = (reader: BcsReader) => void;

function fixed(byteLength: number): Skip {
  return (reader) => {
    reader.fixed(byteLength);
  };
}

const address = fixed(ADDRESS_BYTES);
const u64 = fixed(U64_BYTES);
const bool: Skip = (reader) => {
  reader.bool();
};
const text: Skip = (reader) => {
  reader.bytes();
};

function struct(...fields: readonly Skip[]): Skip {
  return (reader) => {
    for (const field of fields) field(reader);
  };
}

function list(item: Skip): Skip {
  return (reader) => {
    const count = reader.length();
    for (let index = 0; index < count; index += 1) item(reader);
  };
}

function optional(item: Skip): Skip {
  return (reader) => {
    reader.option(item);
  };
}

const tokenDataId = struct(address, text, text);
const propertyValue = struct(text, text);

/** How to step over a value, by the name of its kind in the table. */
export const FIELD_KINDS = {
  address,
  bool,
  u64,
  /** `String` and `vector<u8>`. */
  text,
  texts: list(text),
  /** `0x1::type_info::TypeInfo`. */
  typeInfo: struct(address, text, text),
  table: address,
  /** `0x3::token::TokenDataId`. */
  tokenDataId,
  /** `0x3::token::TokenId`. */
  tokenId: struct(tokenDataId, u64),
  /** `0x3::token::TokenMutabilityConfig`. */
  mutabilityConfig: struct(bool, bool, bool, bool, bool),
  /** Lists of `0x3::property_map::PropertyValue`, and of optional ones. */
  propertyValues: list(propertyValue),
  optionalPropertyValues: list(optional(propertyValue)),
} as const satisfies Record<string, Skip>;

export type FieldKind = keyof typeof FIELD_KINDS;
