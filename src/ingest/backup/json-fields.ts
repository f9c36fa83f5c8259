/** The fields of a JSON object in a backup. Unknown fields are ignored, as the reference does. */
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import {
  parseWaypoint,
  type Waypoint,
  WaypointTextError,
} from '../../move/transactions/waypoint.ts';
import { malformed } from './backup-error.ts';
import { checkHandle } from './backup-source.ts';

const HASH_TEXT = new RegExp(`^[0-9a-f]{${2 * HASH_BYTES}}$`);

/** A range of items in a file, both ends included. */
export interface FileRange {
  readonly first: bigint;
  readonly last: bigint;
  readonly data: string;
}

/** All methods throw BackupError `backup_malformed`. */
export class JsonFields {
  /** Names and values, of any type. */
  readonly entries: readonly (readonly [string, unknown])[];
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #file: string;

  constructor(value: unknown, file: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw malformed(file, 'not an object where one is expected');
    }
    this.#fields = value as Readonly<Record<string, unknown>>;
    this.entries = Object.entries(value);
    this.#file = file;
  }

  static parse(text: string, file: string): JsonFields {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw malformed(file, `is not JSON: ${(cause as Error).message}`, cause);
    }
    return new JsonFields(value, file);
  }

  any(name: string): unknown {
    return this.#fields[name];
  }

  /** An integer of 0 or more that a JavaScript number represents exactly. */
  number(name: string): bigint {
    const value = this.#fields[name];
    if (Number.isSafeInteger(value) && (value as number) >= 0) return BigInt(value as number);
    throw this.#malformed(`${name} is not a number of items`);
  }

  text(name: string): string {
    const value = this.#fields[name];
    if (typeof value === 'string') return value;
    throw this.#malformed(`${name} is not a text`);
  }

  hash(name: string): Buffer {
    const value = this.text(name);
    if (HASH_TEXT.test(value)) return Buffer.from(value, 'hex');
    throw this.#malformed(`${name} is not a hash`);
  }

  handle(name: string): string {
    return checkHandle(this.text(name), this.#file);
  }

  range(unit: 'epoch' | 'idx' | 'version', data: string): FileRange {
    const first = this.number(`first_${unit}`);
    return { first, last: this.number(`last_${unit}`), data: this.handle(data) };
  }

  waypoint(name: string): Waypoint {
    return waypointOf(this.text(name), this.#file);
  }

  /** One waypoint or more. */
  waypoints(name: string): Waypoint[] {
    return this.#list(name).map((text) => waypointOf(String(text), this.#file));
  }

  object(name: string): JsonFields {
    return new JsonFields(this.#fields[name], this.#file);
  }

  /** A list of at least `fewest` objects. */
  objects(name: string, fewest = 1): JsonFields[] {
    return this.#list(name, fewest).map((item) => new JsonFields(item, this.#file));
  }

  #list(name: string, fewest = 1): readonly unknown[] {
    const value = this.#fields[name];
    if (Array.isArray(value) && value.length >= fewest) return value;
    throw this.#malformed(`${name} is not a list, or an empty one`);
  }

  #malformed(detail: string) {
    return malformed(this.#file, detail);
  }
}

function waypointOf(text: string, file: string): Waypoint {
  try {
    return parseWaypoint(text);
  } catch (cause) {
    if (!(cause instanceof WaypointTextError)) throw cause;
    throw malformed(file, cause.message, cause);
  }
}
