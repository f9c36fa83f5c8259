/**
 * The text form of types: one tokenizer and grammar for type tags, struct tags and the types of requests
 * (docs/spec/move.md §3.1, §3.2). Printing is in type-tag.ts and move-type.ts.
 *
 * Texts of failures are the interface's. The reference splits the whole text into tokens before it reads any of
 * them, so a bad token anywhere outranks a grammar error before it; here tokens are read as they are needed, and a
 * grammar error first looks through the rest.
 */
import { byteTools } from '../bcs/bytes.ts';
import { MoveError } from '../errors.ts';
import { capitalized } from '../rust-debug.ts';
import { type Address, HexTextError, padAddress, parseAddress } from './address.ts';
import type { MoveType } from './move-type.ts';
import { PRIMITIVE_KINDS, type PrimitiveKind, type StructTag, type TypeTag } from './type-tag.ts';

/** Deepest nesting of a type text, the outermost type being 0. */
export const TYPE_TEXT_MAX_DEPTH = 8;

type TypeTextErrorCode =
  | 'unrecognized_token'
  | 'invalid_suffix'
  | 'unexpected_token'
  | 'too_deep'
  | 'bad_address'
  | 'not_a_struct';

/** A text that is not a type; `message` is the interface's own text. */
export class TypeTextError extends MoveError<TypeTextErrorCode> {}

type Token =
  | { readonly kind: 'word'; readonly debugText: string; readonly type?: PrimitiveKind | 'vector' }
  | { readonly kind: 'name' | 'address'; readonly text: string }
  | { readonly kind: 'other'; readonly debugText: string };

const LT: Token = { kind: 'word', debugText: 'Lt' };
const GT: Token = { kind: 'word', debugText: 'Gt' };
const COMMA: Token = { kind: 'word', debugText: 'Comma' };
const COLON_COLON: Token = { kind: 'word', debugText: 'ColonColon' };
const END: Token = { kind: 'word', debugText: 'EOF' };

const TYPE_WORDS = [
  ...(['u8', 'u16', 'u32', 'u64', 'u128', 'u256'] as const),
  ...(['bool', 'address', 'signer', 'vector'] as const),
];
const KEYWORDS: ReadonlyMap<string, Token> = new Map<string, Token>([
  ...TYPE_WORDS.map(
    (type) => [type, { kind: 'word', debugText: `${capitalized(type)}Type`, type }] as const,
  ),
  ['true', { kind: 'word', debugText: 'True' }],
  ['false', { kind: 'word', debugText: 'False' }],
]);

/** Shared: a hostile text of millions of `u8,` costs a pointer for each. */
const TAG_OF_PRIMITIVE: ReadonlyMap<PrimitiveKind, TypeTag> = new Map(
  PRIMITIVE_KINDS.map((kind) => [kind, { kind }]),
);

/** The debug name of a number token by its suffix. */
const NUMBER_TOKENS: ReadonlyMap<string, string> = new Map([
  ['', 'U64'],
  ...['u8', 'u16', 'u32', 'u64', 'u128', 'u256'].map((type) => [type, capitalized(type)] as const),
]);

const BLANKS = /[ \t\n\f\r]*/y;
const WORD = /[A-Za-z][A-Za-z0-9_$]*/y;
const ADDRESS = /0[xX][0-9A-Fa-f]+/y;
const NUMBER = /[0-9][0-9_]*/y;
const SUFFIX = /[\p{Alphabetic}\p{N}][A-Za-z0-9]*/uy;
/** A byte string, in ASCII or in hex digits. */
const BYTES = /b"([\0-!#-\x7f]*)"|x"([0-9A-Fa-f]*)"/y;

function describe(token: Token): string {
  if (token.kind === 'word' || token.kind === 'other') return token.debugText;
  return token.kind === 'name' ? `Name("${token.text}")` : `Address("${token.text}")`;
}

class TypeTextParser {
  readonly #text: string;
  #at = 0;
  #token: Token = END;

  constructor(text: string) {
    this.#text = text;
    this.#advance();
  }

  parse(): TypeTag {
    const tag = this.#type(0);
    this.#consume(END);
    return tag;
  }

  #type(depth: number): TypeTag {
    if (depth > TYPE_TEXT_MAX_DEPTH) {
      throw this.#grammarError(
        'too_deep',
        `Exceeded TypeTag nesting limit during parsing: ${depth}`,
      );
    }
    const token = this.#token;
    if (token.kind === 'address') {
      this.#advance();
      return { kind: 'struct', struct: this.#struct(token.text, depth) };
    }
    if (token.kind !== 'word' || token.type === undefined) {
      throw this.#unexpected(`unexpected token ${describe(token)}, expected type tag`);
    }
    this.#advance();
    if (token.type !== 'vector') return TAG_OF_PRIMITIVE.get(token.type)!;
    this.#consume(LT);
    const element = this.#type(depth + 1);
    this.#consume(GT);
    return { kind: 'vector', element };
  }

  #struct(addressText: string, depth: number): StructTag {
    this.#consume(COLON_COLON);
    const module = this.#name();
    this.#consume(COLON_COLON);
    const name = this.#name();
    const typeArguments = this.#token === LT ? this.#typeArguments(depth) : [];
    // The address is parsed last, as in the reference.
    return { address: this.#address(addressText), module, name, typeArguments };
  }

  #typeArguments(depth: number): TypeTag[] {
    this.#advance();
    const tags: TypeTag[] = [];
    while (this.#token !== GT) {
      tags.push(this.#type(depth + 1));
      if (this.#token !== GT) this.#consume(COMMA);
    }
    this.#advance();
    return tags;
  }

  #address(text: string): Address {
    const digits = text.slice(2);
    if (digits.length <= 64) return padAddress(digits.toLowerCase());
    try {
      return parseAddress(digits);
    } catch (error) {
      if (!(error instanceof HexTextError)) throw error;
      throw this.#grammarError('bad_address', error.message);
    }
  }

  #name(): string {
    const token = this.#token;
    if (token.kind !== 'name') {
      throw this.#unexpected(`expected name, got ${describe(token)}`);
    }
    this.#advance();
    return token.text;
  }

  #consume(expected: Token): void {
    if (this.#token !== expected) {
      throw this.#unexpected(`expected token ${describe(expected)}, got ${describe(this.#token)}`);
    }
    if (expected !== END) this.#advance();
  }

  #unexpected(message: string): TypeTextError {
    return this.#grammarError('unexpected_token', message);
  }

  /** Builds a grammar error, or throws the error of a bad token later in the text, which has precedence. */
  #grammarError(code: TypeTextErrorCode, message: string): TypeTextError {
    while (this.#token !== END) this.#advance();
    return new TypeTextError(code, message);
  }

  #advance(): void {
    this.#match(BLANKS);
    if (this.#at === this.#text.length) this.#token = END;
    else this.#token = this.#punctuation() ?? this.#word() ?? this.#number();
  }

  #punctuation(): Token | undefined {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x3c:
        this.#at += 1;
        return LT;
      case 0x3e:
        this.#at += 1;
        return GT;
      case 0x2c:
        this.#at += 1;
        return COMMA;
      case 0x3a:
        if (this.#text.charCodeAt(this.#at + 1) !== 0x3a) throw unrecognizedToken();
        this.#at += 2;
        return COLON_COLON;
      default:
        return undefined;
    }
  }

  #word(): Token | undefined {
    const next = this.#text.charCodeAt(this.#at + 1);
    if (next === 0x22) {
      const bytes = this.#bytes();
      if (bytes !== undefined) return bytes;
    }
    const word = this.#match(WORD);
    if (word === undefined) return undefined;
    return KEYWORDS.get(word) ?? { kind: 'name', text: word };
  }

  /** `b"…"` or `x"…"`: tokens of transaction arguments, never part of a type. */
  #bytes(): Token | undefined {
    const first = this.#text[this.#at];
    if (first !== 'b' && first !== 'x') return undefined;
    BYTES.lastIndex = this.#at;
    const match = BYTES.exec(this.#text);
    if (match === null) throw unrecognizedToken();
    this.#at = BYTES.lastIndex;
    const hex = match[2] ?? byteTools.hexText(byteTools.utf8Bytes(match[1]!), 0, match[1]!.length);
    return { kind: 'other', debugText: `Bytes("${hex}")` };
  }

  #number(): Token {
    const address = this.#match(ADDRESS);
    if (address !== undefined) return { kind: 'address', text: `0x${address.slice(2)}` };
    const first = this.#text.charCodeAt(this.#at + 1) | 0x20;
    if (this.#text[this.#at] === '0' && first === 0x78) throw unrecognizedToken();
    const digits = this.#match(NUMBER);
    if (digits === undefined) throw unrecognizedToken();
    const debugName = NUMBER_TOKENS.get(this.#match(SUFFIX) ?? '');
    if (debugName === undefined) throw new TypeTextError('invalid_suffix', 'invalid suffix');
    return { kind: 'other', debugText: `${debugName}("${digits}")` };
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return undefined;
    const start = this.#at;
    this.#at = pattern.lastIndex;
    return this.#text.slice(start, this.#at);
  }
}

function unrecognizedToken(): TypeTextError {
  return new TypeTextError('unrecognized_token', 'unrecognized token');
}

/** Reads a type tag. @throws TypeTextError with the texts E of docs/spec/move.md §3.2. */
export function parseTypeTag(text: string): TypeTag {
  return new TypeTextParser(text).parse();
}

/**
 * Reads a struct tag.
 * @throws TypeTextError: `invalid struct tag: {text}, {E}`, or without E when the text is another type.
 */
export function parseStructTag(text: string): StructTag {
  let tag: TypeTag;
  try {
    tag = parseTypeTag(text);
  } catch (error) {
    if (!(error instanceof TypeTextError)) throw error;
    throw new TypeTextError(error.code, `invalid struct tag: ${text}, ${error.message}`);
  }
  if (tag.kind === 'struct') return tag.struct;
  throw new TypeTextError('not_a_struct', `invalid struct tag: ${text}`);
}

export function readMoveType(text: string): MoveType {
  if (!text.startsWith('&')) return readValueType(text);
  const mutable = text.startsWith('&mut ');
  return { kind: 'reference', mutable, to: readValueType(text.slice(mutable ? 5 : 1)) };
}

function readValueType(text: string): MoveType {
  try {
    return parseTypeTag(text) as MoveType & TypeTag;
  } catch (error) {
    if (!(error instanceof TypeTextError)) throw error;
    return { kind: 'unparsable', text };
  }
}
