/**
 * Path and query parameters: their types, parsers, documentation and error messages
 * (docs/spec/http.md §5.2, §5.3, §5.5, §5.6).
 */
import { Cache } from '../../cache.ts';
import { type Asset, parseAsset } from '../../ledger/balances/balance.ts';
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { MoveError } from '../../move/errors.ts';
import { IntegerTextError, parseU64 } from '../../move/json/u64-text.ts';
import { type Address, parseAddress } from '../../move/types/address.ts';
import { isIdentifier } from '../../move/types/module-id.ts';
import { checkStructLevels, TypeLevelError } from '../../move/types/move-type-tag.ts';
import { parsePhysicalStateKey } from '../../move/types/state-key.ts';
import { parseStructTag } from '../../move/types/type-parser.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import { ApiError, frameworkError } from '../error-table.ts';
import { decodePathParameter, type Query } from '../request-target.ts';
import { type Schema, Type } from '../schemas/json-schema.ts';
import {
  AddressSchema,
  AssetTypeSchema,
  EventPlaceSchema,
  HashSchema,
  IdentifierSchema,
  StructTagSchema,
  TransactionIdSchema,
  U64Schema,
  VersionSchema,
} from '../schemas/schemas.ts';
import { type ApiSettings, DEFAULT_PAGE_SIZE } from '../settings.ts';
import { parseTimeText } from './time-text.ts';

export interface ParameterType<T> {
  /** The name in messages, such as `string(U64)`. */
  readonly name: string;
  readonly schema: Schema;
  /** Parses the text. Throws a MoveError whose message is the reason that clients see. */
  parse(text: string): T;
}

export interface Parameter<T> {
  readonly in: 'path' | 'query';
  readonly type: ParameterType<unknown>;
  readonly description: string;
  /** The small sample ledger answers 200 for all examples of an endpoint together; absent: the schema's example. */
  readonly example?: string | number;
  /** Whether a query must have it; a path always does. */
  readonly isRequired?: boolean;
  /** Carries the type T; never has a value. */
  readonly '~value'?: T;
}

/** Parameters of an endpoint in the order in which they are checked. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

export type ParameterValues<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

class ParameterTextError extends MoveError<'bad_parameter'> {}

function badText(reason: string): ParameterTextError {
  return new ParameterTextError('bad_parameter', reason);
}

export function pathParameter<T>(
  type: ParameterType<T>,
  description: string,
  example?: string,
): Parameter<T> {
  return { in: 'path', type, description, ...(example !== undefined && { example }) };
}

export function queryParameter<T>(
  type: ParameterType<T>,
  description: string,
  example?: string | number,
): Parameter<T | undefined> {
  return { in: 'query', type, description, ...(example !== undefined && { example }) };
}

interface RawParameters {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Query;
}

/**
 * Reads all parameters in order.
 * @param timed collects the names of parameters whose value is a time instead of a version
 * @throws ApiError 400 for the first that does not parse
 */
export function readParameters<P extends Parameters>(
  parameters: P,
  raw: RawParameters,
  timed: string[] = [],
): ParameterValues<P> {
  const values: Record<string, unknown> = {};
  for (const name in parameters) {
    const parameter = parameters[name]!;
    const text =
      parameter.in === 'path' ? decodePathParameter(raw.path[name]!) : raw.query.first(name);
    if (text !== undefined) {
      const value = parseParameter(name, parameter, text);
      values[name] = value;
      if (value instanceof VersionTime) timed.push(name);
    } else if (parameter.isRequired === true) {
      const reason = `Type "${parameter.type.name}" expects an input value.`;
      throw frameworkError(400, `failed to parse parameter \`${name}\`: ${reason}`);
    }
  }
  return values as ParameterValues<P>;
}

/**
 * Refuses unknown parameters, which an operation would otherwise ignore. Operations of the reference do ignore them, as
 * in the reference. @throws ApiError 400
 */
export function refuseUnknown(query: Query, known: Parameters): void {
  for (const name of query.names()) {
    if (known[name]?.in === 'query') continue;
    throw frameworkError(
      400,
      `failed to parse parameter \`${name}\`: the operation has no such parameter`,
    );
  }
}

function parseParameter(name: string, parameter: Parameter<unknown>, text: string): unknown {
  const { type } = parameter;
  if (parameter.in === 'path') return parsed('path', name, type, text);
  const isOptional = parameter.isRequired !== true;
  const outer = isOptional ? ` (occurred while parsing "optional<${type.name}>")` : '';
  return parsed('parameter', name, type, text, outer);
}

/** Reads a header. @throws ApiError 400 */
export function parseHeader<T>(name: string, type: ParameterType<T>, text: string): T {
  return parsed('header', name, type, text);
}

function parsed<T>(
  place: 'path' | 'parameter' | 'header',
  name: string,
  type: ParameterType<T>,
  text: string,
  outer = '',
): T {
  try {
    return type.parse(text);
  } catch (cause) {
    if (!(cause instanceof MoveError)) throw cause;
    const reason = `failed to parse "${type.name}": ${cause.message}${outer}`;
    throw frameworkError(400, `failed to parse ${place} \`${name}\`: ${reason}`, { cause });
  }
}

/**
 * The page size for a requested limit: `defaultSize` without one, never above `maximum` (docs/spec/http.md §5.3, §7.1).
 * @throws ApiError 400 `invalid_input` for 0
 */
export function pageSize(limit: number | undefined, defaultSize: number, maximum: number): number {
  if (limit === 0) {
    throw new ApiError(400, 'invalid_input', 'Given limit value (0) must not be zero');
  }
  return Math.min(limit ?? defaultSize, maximum);
}

/** The size of a page of events or transactions, or of several pages in one. @throws ApiError as pageSize */
export function listSize(
  limit: number | undefined,
  { maxPageSize }: ApiSettings,
  pages = 1,
): number {
  return pageSize(limit, DEFAULT_PAGE_SIZE, pages * maxPageSize);
}

function parameterType<T>(
  name: string,
  schema: Schema,
  parse: (text: string) => T,
): ParameterType<T> {
  return { name, schema, parse };
}

/** 1 to 64 hex digits, `0x` optional. */
export const ADDRESS = parameterType('string(Address)', AddressSchema, (text): Address => {
  try {
    return parseAddress(text);
  } catch (error) {
    if (!(error instanceof MoveError)) throw error;
    throw badText(`Invalid account address: ${error.message}`);
  }
});

/** A u64 in decimal. */
export const U64 = parameterType('string(U64)', U64Schema, parseU64);

/** A version, or `VERSION:INDEX` with the event's index in its transaction. */
export const EVENT_PLACE = parameterType(
  'string(EventPlace)',
  EventPlaceSchema,
  (text): { readonly version: bigint; readonly index: number } => {
    const colon = text.indexOf(':');
    if (colon === -1) return { version: parseU64(text), index: 0 };
    return { version: parseU64(text.slice(0, colon)), index: U32.parse(text.slice(colon + 1)) };
  },
);

/** A u64 in decimal that the reference parses as a plain integer, with shorter error messages. */
export const PLAIN_U64 = parameterType('integer(uint64)', U64Schema, (text): bigint => {
  try {
    return parseU64(text);
  } catch (error) {
    if (!(error instanceof IntegerTextError)) throw error;
    throw badText(error.why);
  }
});

export const BOOLEAN = parameterType(
  'boolean',
  Type.Boolean({ examples: [true] }),
  (text): boolean => {
    if (text === 'true') return true;
    if (text === 'false') return false;
    throw badText('provided string was not `true` or `false`');
  },
);

/** A flag that the reference does not have. The reference ignores every text; this ignores all but `true`. */
export const FLAG = parameterType(
  'string',
  Type.String({ examples: ['true'] }),
  (text): boolean => text === 'true',
);

export function oneOf<W extends string>(...words: readonly W[]): ParameterType<W> {
  return parameterType('string', Type.Enum(words, { examples: [words[0]!] }), (text): W => {
    const found = words.find((word) => word === text);
    if (found !== undefined) return found;
    throw badText(`it is not one of ${words.map((word) => `\`${word}\``).join(', ')}`);
  });
}

/** A time that stands for the last version at or before it. */
export class VersionTime {
  /** Microseconds since 1970. */
  readonly usecs: bigint;

  constructor(usecs: bigint) {
    this.usecs = usecs;
  }
}

const TIME_MARK = '@';

const VERSION = parameterType('string(U64)', VersionSchema, (text): bigint | VersionTime => {
  if (!text.startsWith(TIME_MARK)) return parseU64(text);
  const usecs = parseTimeText(text.slice(TIME_MARK.length));
  if (usecs !== undefined) return new VersionTime(usecs);
  const what = `${JSON.stringify(text)} is not \`@\` and a time from 1970 on`;
  throw badText(
    `${what} as in RFC 3339: @2026-01-31T23:59:59.123456Z or @2026-02-01T01:00:00%2B01:00`,
  );
});

/** A version of the ledger. A time is replaced by its version before the endpoint gets it. */
export function versionParameter(description: string): Parameter<bigint | undefined> {
  return { in: 'query', type: VERSION, description };
}

export function requiredVersionParameter(description: string): Parameter<bigint> {
  return { in: 'query', type: VERSION, description, isRequired: true };
}

/** The version that most reads may name. */
export const LEDGER_VERSION = versionParameter('Version to read at; the latest when absent.');

export const STRUCT_TAG = parameterType('string(MoveStructTag)', StructTagSchema, parseStructTag);

/**
 * Refuses a struct tag in a path that nests too deeply. The reference checks this after all parameters have been parsed
 * (docs/spec/move.md §3.5). @throws ApiError 400 `invalid_input`
 */
export function requireShallow(name: string, tag: StructTag): void {
  try {
    checkStructLevels(tag);
  } catch (cause) {
    if (!(cause instanceof TypeLevelError)) throw cause;
    throw new ApiError(400, 'invalid_input', `'${name}' invalid: ${cause.message}`, { cause });
  }
}

const HEX_BYTES = /^(?:[0-9a-fA-F]{2})*$/;

const HASH_TEXT = /^(?:0x)?[0-9a-fA-F]{64}$/;

/** 32 bytes in hex (docs/spec/transactions.md §1.2). */
export const HASH = parameterType('string(HashValue)', HashSchema, (text): Buffer => {
  if (!HASH_TEXT.test(text)) throw badText('unable to parse HashValue');
  return Buffer.from(text.slice(-64), 'hex');
});

/** A transaction by its hash, or by its version. */
export const TRANSACTION = parameterType(
  'string(HashOrVersion)',
  TransactionIdSchema,
  (text): Buffer | bigint => (HASH_TEXT.test(text) ? HASH.parse(text) : parseU64(text)),
);

/** The cursor of a page: the physical encoding of a state key in hex, without `0x` (docs/spec/ledger.md §1.2). */
export const CURSOR = parameterType(
  'string(StateKeyWrapper)',
  Type.String({ format: 'state-key', pattern: HEX_BYTES.source }),
  (text): Buffer => {
    if (!HEX_BYTES.test(text)) throw badText('Failed to decode StateKey as hex string');
    const physical = Buffer.from(text, 'hex');
    if (!isStateKey(physical)) throw badText('Failed to decode StateKey from hex string');
    return physical;
  },
);

function isStateKey(physical: Buffer): boolean {
  try {
    const key = parsePhysicalStateKey(physical);
    return key.kind !== 'accessPath' || key.parsed !== undefined;
  } catch (error) {
    if (error instanceof BcsError) return false;
    throw error;
  }
}

/** A name of a module, struct or field. */
export const IDENTIFIER = parameterType('string(IdentifierWrapper)', IdentifierSchema, (text) => {
  if (!isIdentifier(text)) throw badText(`Invalid identifier '${text}'`);
  return text;
});

/** The same few assets are requested repeatedly; one object per text caches its state keys. */
const assets = new Cache<Asset>('parsed');
const ASSET_BYTES = 1_024;

/** A coin by its type, or a fungible asset by its metadata address, if the text parses as an address. */
export const ASSET_TYPE = parameterType('string(AssetType)', AssetTypeSchema, (text): Asset => {
  const known = assets.get(text);
  if (known !== undefined) return known;
  const asset = parseAsset(text);
  assets.set(text, asset, ASSET_BYTES);
  return asset;
});

/** An unsigned integer that fits in a JSON number: digits with an optional `+`. @param minimum only documented */
function smallInteger(bits: 16 | 32, minimum = 0): ParameterType<number> {
  const maximum = 2 ** bits - 1;
  const schema = Type.Integer({ format: `uint${bits}`, minimum, maximum, examples: [10] });
  return parameterType(`integer(uint${bits})`, schema, (text) => {
    if (text === '') throw badText('cannot parse integer from empty string');
    // Parsed from the left: overflow before a bad digit is reported as overflow. Very many digits give Infinity.
    const [, digits] = /^\+?(\d*)/.exec(text)!;
    if (Number(digits) > maximum) throw badText('number too large to fit in target type');
    if (!/^\+?\d+$/.test(text)) throw badText('invalid digit found in string');
    return Number(digits);
  });
}

export const U16 = smallInteger(16);
/** Maximum items of a page; `pageSize` refuses 0. */
export const PAGE_LIMIT = smallInteger(16, 1);
export const U32 = smallInteger(32);

/** The limit of a page of events or transactions. */
export function listLimit(items: string, more = ''): Parameter<number | undefined> {
  return queryParameter(
    PAGE_LIMIT,
    `Most ${items} to return: ${DEFAULT_PAGE_SIZE} when absent; above the node’s maximum (100 by default) it is ` +
      `reduced to that.${more}`,
  );
}
