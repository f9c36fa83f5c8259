/**
 * Builders of JSON Schema 2020-12, which OpenAPI 3.1 documents use: only what this node's schemas need. Tests check
 * answers against the document with a full validator (typebox). Not a library, because loading one took longer than
 * the rest of the start: 285 of 560 ms of CPU time.
 */

export type Schema = Readonly<Record<string, unknown>>;

/** Members of an object. */
export type Properties = Readonly<Record<string, Schema>>;

/** Keywords besides the type: `$id`, `description`, limits, … */
type Keywords = Readonly<Record<string, unknown>>;

/** Optional members, which an object does not list as required. */
const optionalSchemas = new WeakSet<Schema>();

/** Where a document has a schema with a name. */
export function referenceTo({ $id }: Schema): string {
  return `#/components/schemas/${$id}`;
}

export const Type = {
  Unknown: (keywords: Keywords): Schema => keywords,
  Null: (): Schema => ({ type: 'null' }),
  Boolean: (keywords?: Keywords): Schema => ({ type: 'boolean', ...keywords }),
  Integer: (keywords?: Keywords): Schema => ({ type: 'integer', ...keywords }),
  String: (keywords?: Keywords): Schema => ({ type: 'string', ...keywords }),
  Literal: (value: string): Schema => ({ type: 'string', const: value }),
  Enum: (values: readonly string[], keywords?: Keywords): Schema => ({
    type: 'string',
    enum: values,
    ...keywords,
  }),
  Array: (items: Schema, keywords?: Keywords): Schema => ({ type: 'array', items, ...keywords }),
  Union: (anyOf: readonly Schema[], keywords?: Keywords): Schema => ({ anyOf, ...keywords }),

  /** A member that may be absent. A named schema retains its name, so that the document can refer to it. */
  Optional(schema: Schema): Schema {
    const optional = { ...schema };
    optionalSchemas.add(optional);
    return optional;
  },

  Object(properties: Properties, keywords?: Keywords): Schema {
    const required = Object.keys(properties).filter(
      (name) => !optionalSchemas.has(properties[name]!),
    );
    return { type: 'object', required, properties, ...keywords };
  },
};
