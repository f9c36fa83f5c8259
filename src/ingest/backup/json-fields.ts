/** The fields of the JSON objects in a backup: unknown ones are ignored, as the reference does. */
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import { malformed } from './backup-error.ts';

export type Fields = Readonly<Record<string, unknown>>;

const HASH_TEXT = new RegExp(`^[0-9a-f]{${2 * HASH_BYTES}}$`);

/** The JSON object of a text. @throws BackupError */
export function fieldsOf(text: string, file: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed(file, `is not JSON: ${(cause as Error).message}`, cause);
  }
  return objectOf(value, file);
}

/** @throws BackupError unless it is an object */
export function objectOf(value: unknown, file: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw malformed(file, 'not an object where one is expected');
}

/** A whole number from 0 on that JSON holds exactly. @throws BackupError */
export function numberIn(fields: Fields, name: string, file: string): bigint {
  const value = fields[name];
  if (Number.isSafeInteger(value) && (value as number) >= 0) return BigInt(value as number);
  throw malformed(file, `${name} is not a number of items`);
}

/** @throws BackupError */
export function textIn(fields: Fields, name: string, file: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw malformed(file, `${name} is not a text`);
}

/** 32 bytes. @throws BackupError */
export function hashIn(fields: Fields, name: string, file: string): Buffer {
  const value = textIn(fields, name, file);
  if (HASH_TEXT.test(value)) return Buffer.from(value, 'hex');
  throw malformed(file, `${name} is not a hash`);
}

/** One item or more. @throws BackupError */
export function listIn(fields: Fields, name: string, file: string): readonly unknown[] {
  const value = fields[name];
  if (Array.isArray(value) && value.length > 0) return value;
  throw malformed(file, `${name} is not a list, or an empty one`);
}
