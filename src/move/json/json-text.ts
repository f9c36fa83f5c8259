/**
 * Parses JSON text to JsonValue exactly like the reference's parser: messages and positions of syntax errors, 127
 * levels, numbers of any size as text, the last of duplicate members, no lone surrogates, valid UTF-8
 * (docs/spec/encode.md §A1, docs/spec/http.md §5.9). Printing is in json-text-print.ts.
 *
 * JSON.parse is not used: it has other messages, converts numbers to doubles and has no depth limit.
 */
import { byteTools } from '../bcs/bytes.ts';
import { MoveError } from '../errors.ts';

export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Members in input order; a repeated name gets its last value at its first position. */
export type JsonObject = ReadonlyMap<string, JsonValue>;

/**
 * JSON as the interface needs it: numbers keep their text (`1` is not `1.0`, u256 does not fit a double), objects
 * keep their order and may hold any name, even `__proto__`. docs/spec/encode.md §A1, part C trap 2.
 */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/** Maximum nesting of arrays and objects. */
export const JSON_MAX_DEPTH = 127;

/**
 * Maximum memory of the values of one text, by the estimates below, in bytes. The reference has no such limit but uses
 * as much memory. Reading that much takes about 30 ms, and nothing else runs meanwhile. No valid transaction needs it:
 * 64 KiB as a list of numbers take 6 MB.
 */
export const JSON_MAX_VALUE_BYTES = 8 * 1024 * 1024;

/**
 * Approximate memory of values, on 64-bit V8. Array slots count three times, because arrays grow by copying.
 * Members and escapes count for the time that they take.
 */
export const JSON_COST_BYTES = {
  place: 24,
  string: 40,
  number: 64,
  list: 64,
  object: 200,
  member: 64,
  escape: 24,
} as const;

const DETAILS = {
  eof_value: 'EOF while parsing a value',
  eof_list: 'EOF while parsing a list',
  eof_object: 'EOF while parsing an object',
  eof_string: 'EOF while parsing a string',
  expected_value: 'expected value',
  expected_ident: 'expected ident',
  expected_colon: 'expected `:`',
  expected_list_comma: 'expected `,` or `]`',
  expected_object_comma: 'expected `,` or `}`',
  key_not_string: 'key must be a string',
  trailing_comma: 'trailing comma',
  trailing_characters: 'trailing characters',
  invalid_number: 'invalid number',
  invalid_escape: 'invalid escape',
  lone_surrogate: 'lone leading surrogate in hex escape',
  unexpected_end_of_escape: 'unexpected end of hex escape',
  control_character: 'control character (\\u0000-\\u001F) found while parsing a string',
  invalid_unicode: 'invalid unicode code point',
  too_deep: 'recursion limit exceeded',
  too_large: `values of more than ${JSON_MAX_VALUE_BYTES} bytes in memory`,
} as const;
type JsonSyntaxErrorCode = keyof typeof DETAILS;

/** Bytes that are not JSON; `line` counts from 1, `column` is the number of bytes consumed of that line. */
export class JsonSyntaxError extends MoveError<JsonSyntaxErrorCode> {
  readonly line: number;
  readonly column: number;
  /** The error without its position. */
  readonly detail: string;

  constructor(code: JsonSyntaxErrorCode, line: number, column: number) {
    const detail = DETAILS[code];
    super(code, `${detail} at line ${line} column ${column}`);
    this.line = line;
    this.column = column;
    this.detail = detail;
  }
}

const END = -1;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const MINUS = 0x2d;
const POINT = 0x2e;

/** Shared: a hostile body of millions of `0,` or `[],` costs a pointer for each. */
const DIGITS = Array.from('0123456789', (digit) => new JsonNumber(digit));
const EMPTY_LIST: readonly JsonValue[] = Object.freeze([]);
const EMPTY_OBJECT: JsonObject = new Map();

const SIMPLE_ESCAPES: ReadonlySet<number> = new Set(
  Array.from('"\\/bfnrt', (character) => character.charCodeAt(0)),
);

/**
 * Parses a string of UTF-16 units, which is much faster than parsing bytes. Bytes that are not UTF-8 are decoded as
 * Latin-1, one unit per byte: such a body always ends in an error, and only the position is needed.
 */
class JsonParser {
  readonly #bytes: Uint8Array;
  readonly #text: string;
  readonly #isUtf8: boolean;
  #at = 0;
  #depth = 0;
  #bytesLeft: number;
  /** Items of the lists being read, so that each list is allocated with its final size. */
  readonly #items: JsonValue[] = [];

  constructor(bytes: Uint8Array, maxValueBytes: number) {
    this.#bytes = bytes;
    this.#bytesLeft = maxValueBytes;
    const { asBuffer, isAscii, isUtf8, latin1Text, utf8Text } = byteTools;
    const isPlain = isAscii(bytes);
    this.#isUtf8 = isPlain || isUtf8(bytes);
    const textOf = isPlain || !this.#isUtf8 ? latin1Text : utf8Text;
    this.#text = textOf(asBuffer(bytes), 0, bytes.length);
  }

  parse(): JsonValue {
    const value = this.#value();
    if (this.#peek() !== END) throw this.#error('trailing_characters', 1);
    return value;
  }

  /** The character code at an index, END after the text: never NaN, which would make V8 treat all codes as doubles. */
  #codeAt(at: number): number {
    return at < this.#text.length ? this.#text.charCodeAt(at) : END;
  }

  /** The next character code that is not whitespace, without consuming it; END at the end. */
  #peek(): number {
    const text = this.#text;
    for (let at = this.#at; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) continue;
      this.#at = at;
      return code;
    }
    this.#at = text.length;
    return END;
  }

  #value(): JsonValue {
    const code = this.#peek();
    this.#spend(JSON_COST_BYTES.place);
    switch (code) {
      case QUOTE:
        this.#at += 1;
        return this.#string();
      case OPEN_OBJECT:
        return this.#object();
      case OPEN_LIST:
        return this.#list();
      case 0x6e:
        return this.#ident('null', null);
      case 0x74:
        return this.#ident('true', true);
      case 0x66:
        return this.#ident('false', false);
      default:
        if (code === MINUS || isDigit(code)) return this.#number(code);
        throw this.#error(code === END ? 'eof_value' : 'expected_value', 1);
    }
  }

  #ident<T extends JsonValue>(word: string, value: T): T {
    for (let index = 1; index < word.length; index += 1) {
      const code = this.#codeAt(this.#at + index);
      if (code === word.charCodeAt(index)) continue;
      this.#at += index;
      throw this.#error(code === END ? 'eof_value' : 'expected_ident', 1);
    }
    this.#at += word.length;
    return value;
  }

  #spend(costBytes: number): void {
    this.#bytesLeft -= costBytes;
    if (this.#bytesLeft < 0) throw this.#error('too_large', 0);
  }

  #enter(): void {
    if (this.#depth === JSON_MAX_DEPTH) throw this.#error('too_deep', 1);
    this.#depth += 1;
    this.#at += 1;
  }

  #list(): readonly JsonValue[] {
    this.#enter();
    const items = this.#items;
    const base = items.length;
    let code = this.#peek();
    while (code !== CLOSE_LIST) {
      if (items.length > base) {
        if (code !== COMMA) throw this.#separatorError(code, 'eof_list', 'expected_list_comma');
        this.#at += 1;
        if (this.#peek() === CLOSE_LIST) throw this.#error('trailing_comma', 1);
      } else if (code === END) throw this.#error('eof_list', 1);
      items.push(this.#value());
      code = this.#peek();
    }
    this.#at += 1;
    this.#depth -= 1;
    if (items.length === base) return EMPTY_LIST;
    this.#spend(JSON_COST_BYTES.list);
    const list = items.slice(base);
    items.length = base;
    return list;
  }

  #object(): JsonObject {
    this.#enter();
    let members: Map<string, JsonValue> | undefined;
    let code = this.#peek();
    while (code !== CLOSE_OBJECT) {
      if (members !== undefined) {
        if (code !== COMMA) throw this.#separatorError(code, 'eof_object', 'expected_object_comma');
        this.#at += 1;
        code = this.#peek();
        if (code === CLOSE_OBJECT) throw this.#error('trailing_comma', 1);
        if (code === END) throw this.#error('eof_value', 1);
      } else if (code === END) throw this.#error('eof_object', 1);
      if (code !== QUOTE) throw this.#error('key_not_string', 1);
      this.#at += 1;
      const name = this.#string();
      code = this.#peek();
      if (code !== COLON) throw this.#separatorError(code, 'eof_object', 'expected_colon');
      this.#at += 1;
      if (members === undefined) {
        this.#spend(JSON_COST_BYTES.object);
        members = new Map();
      }
      this.#spend(JSON_COST_BYTES.member);
      members.set(name, this.#value());
      code = this.#peek();
    }
    this.#at += 1;
    this.#depth -= 1;
    return members ?? EMPTY_OBJECT;
  }

  #number(first: number): JsonNumber {
    const start = this.#at;
    if (first === MINUS) this.#at += 1;
    this.#integer();
    if (this.#codeAt(this.#at) === POINT) this.#fraction();
    if ((this.#codeAt(this.#at) | 0x20) === 0x65) this.#exponent();
    if (this.#at === start + 1) return DIGITS[first - 0x30]!;
    this.#spend(JSON_COST_BYTES.number);
    return new JsonNumber(this.#text.slice(start, this.#at));
  }

  #integer(): void {
    const code = this.#codeAt(this.#at);
    if (!isDigit(code)) throw this.#digitMissing(code);
    this.#at += 1;
    if (code !== 0x30) this.#digits();
    else if (isDigit(this.#codeAt(this.#at))) throw this.#error('invalid_number', 1);
  }

  #fraction(): void {
    this.#at += 1;
    const code = this.#codeAt(this.#at);
    if (!isDigit(code)) throw this.#digitMissing(code);
    this.#digits();
  }

  #exponent(): void {
    this.#at += 1;
    const sign = this.#codeAt(this.#at);
    if (sign === 0x2b || sign === MINUS) this.#at += 1;
    const code = this.#codeAt(this.#at);
    if (!isDigit(code)) throw this.#digitMissing(code);
    this.#digits();
  }

  #digits(): void {
    while (isDigit(this.#codeAt(this.#at))) this.#at += 1;
  }

  #digitMissing(code: number): JsonSyntaxError {
    return this.#error(code === END ? 'eof_value' : 'invalid_number', 1);
  }

  /** The rest of a string after its opening quote. */
  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    let hasEscapes = false;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        this.#at = at + 1;
        this.#checkEscape();
        this.#spend(JSON_COST_BYTES.escape);
        at = this.#at - 1;
        hasEscapes = true;
      } else if (code < 0x20) {
        this.#at = at;
        throw this.#error('control_character', 1);
      }
    }
    if (at >= text.length) {
      this.#at = text.length;
      throw this.#error('eof_string', 0);
    }
    this.#at = at + 1;
    if (!this.#isUtf8 && !byteTools.isUtf8(this.#bytes.subarray(start, at))) {
      throw this.#error('invalid_unicode', 0);
    }
    // One-character strings are shared by the engine.
    if (at > start + 1) this.#spend(JSON_COST_BYTES.string);
    // The text is checked by now. JSON.parse reads it the same way, fast and without memory for pieces.
    if (hasEscapes) return JSON.parse(text.slice(start - 1, at + 1)) as string;
    return text.slice(start, at);
  }

  #checkEscape(): void {
    const code = this.#codeAt(this.#at);
    if (code === END) throw this.#error('eof_string', 0);
    if (code !== 0x75) {
      if (!SIMPLE_ESCAPES.has(code)) throw this.#error('invalid_escape', 1);
      this.#at += 1;
      return;
    }
    this.#at += 1;
    const unit = this.#hexUnit();
    if (unit >= 0xdc00 && unit <= 0xdfff) throw this.#error('lone_surrogate', 0);
    if (unit < 0xd800 || unit > 0xdbff) return;
    this.#expectInPair(BACKSLASH);
    this.#expectInPair(0x75);
    const trail = this.#hexUnit();
    if (trail < 0xdc00 || trail > 0xdfff) throw this.#error('lone_surrogate', 0);
  }

  #expectInPair(expected: number): void {
    const code = this.#codeAt(this.#at);
    if (code === END) throw this.#error('eof_string', 0);
    if (code !== expected) throw this.#error('unexpected_end_of_escape', 1);
    this.#at += 1;
  }

  /** Four hex digits. The reference consumes four bytes at once, so its error position is always after them. */
  #hexUnit(): number {
    const digits = this.#text.slice(this.#at, this.#at + 4);
    if (/^[0-9a-fA-F]{4}$/.test(digits)) {
      this.#at += 4;
      return Number.parseInt(digits, 16);
    }
    const left = this.#bytes.length - this.#byteOffset(this.#at);
    if (left < 4) throw this.#error('eof_string', left);
    throw this.#error('invalid_escape', 4);
  }

  #separatorError(
    code: number,
    atEnd: JsonSyntaxErrorCode,
    elsewhere: JsonSyntaxErrorCode,
  ): JsonSyntaxError {
    return this.#error(code === END ? atEnd : elsewhere, 1);
  }

  /** Builds an error `extraBytes` after the current character, at most at the end. */
  #error(code: JsonSyntaxErrorCode, extraBytes: number): JsonSyntaxError {
    const bytes = this.#bytes;
    const offset = Math.min(bytes.length, this.#byteOffset(this.#at) + extraBytes);
    let line = 1;
    let lineStart = 0;
    for (let index = 0; index < offset; index += 1) {
      if (bytes[index] !== 0x0a) continue;
      line += 1;
      lineStart = index + 1;
    }
    return new JsonSyntaxError(code, line, offset - lineStart);
  }

  #byteOffset(at: number): number {
    if (!this.#isUtf8 || this.#text.length === this.#bytes.length) return at;
    return byteTools.utf8Length(this.#text.slice(0, at));
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * Parses one JSON text that must use all of `bytes`. Linear in its length; small strings hold the text of the whole
 * body in memory, so copy a value that lives long.
 * @throws JsonSyntaxError
 */
export function parseJson(bytes: Uint8Array, maxValueBytes = JSON_MAX_VALUE_BYTES): JsonValue {
  return new JsonParser(bytes, maxValueBytes).parse();
}
