/** The codes of types in a binary (docs/spec/move.md §1.6). */
import type { PrimitiveKind } from '../types/type-tag.ts';
import { VERSION_6_INTEGERS, VERSION_9_SIGNED_INTEGERS } from './binary-limits.ts';

/** Types with parts. */
export const TOKEN_CODES = {
  reference: 0x06,
  mutableReference: 0x07,
  struct: 0x08,
  typeParameter: 0x09,
  vector: 0x0a,
  structInstantiation: 0x0b,
  function: 0x10,
} as const;

/** Types without parts: their code and the first version that has them. */
export const PRIMITIVE_CODES: ReadonlyMap<
  PrimitiveKind,
  { readonly code: number; readonly since: number }
> = new Map([
  ['bool', { code: 0x01, since: 1 }],
  ['u8', { code: 0x02, since: 1 }],
  ['u64', { code: 0x03, since: 1 }],
  ['u128', { code: 0x04, since: 1 }],
  ['address', { code: 0x05, since: 1 }],
  ['signer', { code: 0x0c, since: 1 }],
  ['u16', { code: 0x0d, since: VERSION_6_INTEGERS }],
  ['u32', { code: 0x0e, since: VERSION_6_INTEGERS }],
  ['u256', { code: 0x0f, since: VERSION_6_INTEGERS }],
  ['i8', { code: 0x11, since: VERSION_9_SIGNED_INTEGERS }],
  ['i16', { code: 0x12, since: VERSION_9_SIGNED_INTEGERS }],
  ['i32', { code: 0x13, since: VERSION_9_SIGNED_INTEGERS }],
  ['i64', { code: 0x14, since: VERSION_9_SIGNED_INTEGERS }],
  ['i128', { code: 0x15, since: VERSION_9_SIGNED_INTEGERS }],
  ['i256', { code: 0x16, since: VERSION_9_SIGNED_INTEGERS }],
]);
