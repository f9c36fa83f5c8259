/** Validates values against schemas of the OpenAPI document, which are JSON Schema 2020-12. */
import { Compile, type Validator } from 'typebox/schema';

/** Any JSON. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** The schemas of one document. */
export class DocumentSchemas {
  readonly #document: { readonly [key: string]: Json };
  readonly #validators = new Map<string, Validator>();

  constructor(document: Json) {
    this.#document = document as { readonly [key: string]: Json };
  }

  /** Validation errors of a value; empty if it is valid. */
  problems(schema: Json, value: Json): string[] {
    const key = JSON.stringify(schema);
    let validator = this.#validators.get(key);
    if (validator === undefined) {
      // References point into the document, so the schema must be inside of it.
      validator = Compile({ components: this.#document['components'], allOf: [schema] } as object);
      this.#validators.set(key, validator);
    }
    if (validator.Check(value)) return [];
    const [, errors] = validator.Errors(value);
    return errors.map(({ instancePath, message }) => `${instancePath}: ${message}`);
  }
}
