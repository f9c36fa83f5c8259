/**
 * Integers as texts: the interface reads and writes all integers of 64 bits and more as decimal strings
 * (docs/spec/encode.md §A1, A4; docs/spec/http.md §5.3, §11.2).
 */
import type { WideIntegerKind } from '../bcs/integers.ts';
import { MoveError } from '../errors.ts';
import { debugString } from '../rust-debug.ts';

const REASONS = {
  integer_empty: 'cannot parse integer from empty string',
  integer_bad_digit: 'invalid digit found in string',
  integer_too_large: 'number too large to fit in target type',
  integer_too_small: 'number too small to fit in target type',
} as const;
type IntegerTextErrorCode = keyof typeof REASONS;

/** A text that is not an integer of the type; `message` is `Parsing u64 string "…" failed, caused by error: {why}`. */
export class IntegerTextError extends MoveError<IntegerTextErrorCode> {
  readonly kind: WideIntegerKind;
  /** The reason alone, for messages that frame it differently. */
  readonly why: string;

  constructor(code: IntegerTextErrorCode, kind: WideIntegerKind, text: string) {
    const why = REASONS[code];
    const type = INTEGERS[kind].typeName;
    super(code, `Parsing ${type} string ${debugString(text)} failed, caused by error: ${why}`);
    this.kind = kind;
    this.why = why;
  }
}

interface IntegerRange {
  readonly min: bigint;
  readonly max: bigint;
  /** How messages name the type. */
  readonly typeName: string;
}

const INTEGERS: Readonly<Record<WideIntegerKind, IntegerRange>> = {
  u64: { min: 0n, max: 2n ** 64n - 1n, typeName: 'u64' },
  u128: { min: 0n, max: 2n ** 128n - 1n, typeName: 'u128' },
  u256: { min: 0n, max: 2n ** 256n - 1n, typeName: 'move_core_types::int256::U256' },
  i64: { min: -(2n ** 63n), max: 2n ** 63n - 1n, typeName: 'i64' },
  i128: { min: -(2n ** 127n), max: 2n ** 127n - 1n, typeName: 'i128' },
  i256: { min: -(2n ** 255n), max: 2n ** 255n - 1n, typeName: 'move_core_types::int256::I256' },
};

/** Digits of 2^256 - 1; more (leading zeros apart) never fit and are never passed to BigInt. */
const MAX_DIGITS = 78;
/** Longest text that a double holds exactly whatever its digits. */
const EXACT_DIGITS = 15;

/**
 * Reads an integer: optional `+` (signed kinds also `-`), then decimal digits, leading zeros allowed. The reference
 * reads from left to right, so a number that overflows before the first bad character is too large, not malformed.
 * Linear in the text.
 * @throws IntegerTextError
 */
export function parseIntegerText(text: string, kind: WideIntegerKind): bigint {
  const { min, max } = INTEGERS[kind];
  if (text === '') throw new IntegerTextError('integer_empty', kind, text);
  const first = text.charCodeAt(0);
  const negative = first === 0x2d && min < 0n;
  const start = first === 0x2b || negative ? 1 : 0;
  let end = start;
  while (end < text.length && isDigit(text.charCodeAt(end))) end += 1;
  const complete = end === text.length && end > start;
  if (complete && end - start <= EXACT_DIGITS) {
    const small = Number(text.slice(start));
    return BigInt(negative ? -small : small);
  }
  let significant = start;
  while (significant < end && text.charCodeAt(significant) === 0x30) significant += 1;
  const tooLong = end - significant > MAX_DIGITS;
  const magnitude = tooLong ? max + 2n : BigInt(text.slice(significant, end));
  const value = negative ? -magnitude : magnitude;
  if (value > max) throw new IntegerTextError('integer_too_large', kind, text);
  if (value < min) throw new IntegerTextError('integer_too_small', kind, text);
  if (!complete) throw new IntegerTextError('integer_bad_digit', kind, text);
  return value;
}

/** Reads a u64 text. @throws IntegerTextError */
export function parseU64(text: string): bigint {
  return parseIntegerText(text, 'u64');
}

/** The value of plain digits that a double holds exactly; `undefined` for any other text. Avoids a bigint. */
export function exactIntegerOf(text: string): number | undefined {
  if (text.length === 0 || text.length > EXACT_DIGITS) return undefined;
  let value = 0;
  for (let index = 0; index < text.length; index += 1) {
    const digit = text.charCodeAt(index) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
