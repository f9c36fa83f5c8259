/**
 * Builders of JSON Schema 2020-12, which is what an OpenAPI 3.1 document holds: one schema says the name, type, limits,
 * default and description of a setting, a parameter or an answer. Only what this node's schemas need. Tests hold
 * answers against the document with a full validator (typebox).
 *
 * Own code because a schema library at run time costs more than all of the rest of the start: typebox took 285 ms of
 * processor time of 560 ms to load everything, measured.
 */

/** A JSON Schema; T is what conforms to it. */
export interface Schema<T = unknown> {
  readonly [keyword: string]: unknown;
  /** Never there; carries T. */
  readonly '~static'?: T;
}

/** What conforms to a schema. */
export type Static<S> = S extends Schema<infer T> ? T : never;

/** Any schema. */
export type TSchema = Schema;

/** Members of an object. */
export type TProperties = Readonly<Record<string, Schema>>;

/** An object schema whose members can be looked at. */
export interface ObjectSchema<P extends TProperties> extends Schema<StaticObject<P>> {
  readonly properties: P;
}

type StaticObject<P extends TProperties> = { readonly [Name in keyof P]: Static<P[Name]> };

/** Keywords beside the type: `$id`, `description`, `default`, limits, … */
type Keywords = Readonly<Record<string, unknown>>;

/** Optional members, which an object does not list as required. */
const optionalSchemas = new WeakSet<Schema>();

function build<T>(schema: Keywords, keywords: Keywords = {}): Schema<T> {
  return { ...schema, ...keywords };
}

export const Type = {
  Unknown: (keywords?: Keywords) => build<unknown>({}, keywords),
  Null: () => build<null>({ type: 'null' }),
  Boolean: (keywords?: Keywords) => build<boolean>({ type: 'boolean' }, keywords),
  Integer: (keywords?: Keywords) => build<number>({ type: 'integer' }, keywords),
  String: (keywords?: Keywords) => build<string>({ type: 'string' }, keywords),

  Literal: <const V extends string>(value: V) => build<V>({ type: 'string', const: value }),

  Enum: <const V extends string>(values: readonly V[], keywords?: Keywords) =>
    build<V>({ type: 'string', enum: values }, keywords),

  Array: <T>(items: Schema<T>, keywords?: Keywords) =>
    build<readonly T[]>({ type: 'array', items }, keywords),

  Union: (anyOf: readonly Schema[], keywords?: Keywords) => build<unknown>({ anyOf }, keywords),

  /** A member that may be absent. */
  Optional: <T>(schema: Schema<T>): Schema<T | undefined> => {
    const optional = { ...schema };
    // A named schema keeps its name: the document refers to it either way.
    optionalSchemas.add(optional);
    return optional;
  },

  Object: <P extends TProperties>(properties: P, keywords?: Keywords): ObjectSchema<P> => {
    const required = Object.keys(properties).filter(
      (name) => !optionalSchemas.has(properties[name]!),
    );
    return { type: 'object', required, properties, ...keywords };
  },

  /** Keywords as they are. */
  Unsafe: <T>(keywords: Keywords) => build<T>(keywords),
};

const CHECKS_OF_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isSafeInteger(value),
  string: (value) => typeof value === 'string',
};

/**
 * Whether a value conforms to the schema of a scalar: boolean, integer within its limits, string within its lengths,
 * choices and pattern. @throws TypeError for another kind of schema: a programmer's mistake.
 */
export function conformsToScalar(schema: Schema, value: unknown): boolean {
  const { type, minimum, maximum, minLength, maxLength, pattern, enum: choices } = schema;
  const isOfType = CHECKS_OF_TYPE[String(type)];
  if (isOfType === undefined) throw new TypeError(`a schema of type ${type} is no scalar's`);
  if (!isOfType(value)) return false;
  if (choices !== undefined && !(choices as readonly unknown[]).includes(value)) return false;
  if (typeof value === 'number') {
    return value >= Number(minimum ?? -Infinity) && value <= Number(maximum ?? Infinity);
  }
  if (typeof value !== 'string') return true;
  return (
    value.length >= Number(minLength ?? 0) &&
    value.length <= Number(maxLength ?? Infinity) &&
    (pattern === undefined || new RegExp(String(pattern), 'u').test(value))
  );
}
