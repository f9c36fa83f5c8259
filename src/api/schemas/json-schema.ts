/**
 * Builders of JSON Schema 2020-12, which OpenAPI 3.1 documents use: only what this node's schemas need. Tests check
 * answers against the document with a full validator (typebox). The node uses no library for this, because loading one
 * took longer than the rest of the start: 285 of 560 ms of CPU time.
 */

export type Schema = Readonly<Record<string, unknown>>;

export type Properties = Readonly<Record<string, Schema>>;

/** Optional members, which an object does not list as required. */
const optionalSchemas = new WeakSet<Schema>();

/** The reference to a named schema in a document. */
export function referenceTo({ $id }: Schema): string {
  return `#/components/schemas/${$id}`;
}

export const Type = {
  Unknown: (keywords: Schema): Schema => keywords,
  Null: (): Schema => ({ type: 'null' }),
  Boolean: (keywords?: Schema): Schema => ({ type: 'boolean', ...keywords }),
  Integer: (keywords?: Schema): Schema => ({ type: 'integer', ...keywords }),
  String: (keywords?: Schema): Schema => ({ type: 'string', ...keywords }),
  Literal: (value: string): Schema => ({ type: 'string', const: value }),
  Enum: (values: readonly string[], keywords?: Schema): Schema => ({
    type: 'string',
    enum: values,
    ...keywords,
  }),
  Array: (items: Schema, keywords?: Schema): Schema => ({ type: 'array', items, ...keywords }),
  Union: (anyOf: readonly Schema[], keywords?: Schema): Schema => ({ anyOf, ...keywords }),

  /** A member that may be absent. A named schema retains its name, so that the document can refer to it. */
  Optional(schema: Schema): Schema {
    const optional = { ...schema };
    optionalSchemas.add(optional);
    return optional;
  },

  Object(properties: Properties, keywords?: Schema): Schema {
    const required = Object.keys(properties).filter(
      (name) => !optionalSchemas.has(properties[name]!),
    );
    return { type: 'object', required, properties, ...keywords };
  },
};
