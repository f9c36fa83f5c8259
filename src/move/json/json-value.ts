/**
 * JSON as the interface needs it: numbers keep their text (`1` is not `1.0`, u256 does not fit a double), objects
 * keep their order and may hold any name (`__proto__` is one like others). docs/spec/encode.md §A1, part C trap 2.
 */

/** A JSON number by its text, as it was written. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Members in input order; of a repeated name the last value counts, at the place of the first. */
export type JsonObject = ReadonlyMap<string, JsonValue>;

export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;
