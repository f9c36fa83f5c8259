/** The tokens of a declaration text. */
import { declarationError } from './declare.ts';

export interface Token {
  readonly kind: 'name' | 'address' | 'number' | 'text' | 'sign' | 'end';
  readonly text: string;
  readonly line: number;
}

export class TokenReader {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  /** The next token, or the one `ahead` tokens after it. At the end of the text it is always the `end` token. */
  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!;
  }

  take(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.#next += 1;
    return token;
  }

  accept(text: string): boolean {
    if (this.peek().text !== text || this.peek().kind === 'text') return false;
    this.#next += 1;
    return true;
  }

  expect(text: string): void {
    if (!this.accept(text)) throw this.unexpected(`expected ${JSON.stringify(text)}`);
  }

  unexpected(expected: string): RangeError {
    const { text, line } = this.peek();
    return declarationError(`${expected}, found ${JSON.stringify(text)}`, line);
  }

  name(): string {
    if (this.peek().kind !== 'name') throw this.unexpected('expected a name');
    return this.take().text;
  }

  number(): bigint {
    if (this.peek().kind !== 'number') throw this.unexpected('expected a number');
    return BigInt(this.take().text);
  }

  text(): string {
    if (this.peek().kind !== 'text') throw this.unexpected('expected a text in quotes');
    return this.take().text;
  }

  /** Items up to a closing sign, separated by commas; a trailing comma is allowed. */
  list<T>(close: string, item: (index: number) => T): T[] {
    const items: T[] = [];
    while (!this.accept(close)) {
      items.push(item(items.length));
      if (!this.accept(',')) {
        this.expect(close);
        break;
      }
    }
    return items;
  }
}

const TOKEN =
  /(?<space>[ \t\r]+|\/\/[^\n]*)|(?<newline>\n)|(?<address>0x[0-9a-fA-F]+)|(?<number>[0-9]+)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|"(?<text>[^"\n]*)"|(?<sign>#\[|::|\.\.|[{}()<>,;:&|+=\].@-])/y;

/** Splits a text into tokens, `end` last. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let offset = 0;
  while (offset < text.length) {
    TOKEN.lastIndex = offset;
    const groups = TOKEN.exec(text)?.groups;
    if (groups === undefined) {
      throw declarationError(`unexpected ${JSON.stringify(text[offset])}`, line);
    }
    offset = TOKEN.lastIndex;
    if (groups['newline'] !== undefined) line += 1;
    for (const kind of ['address', 'number', 'name', 'text', 'sign'] as const) {
      const found = groups[kind];
      if (found !== undefined) tokens.push({ kind, text: found, line });
    }
  }
  tokens.push({ kind: 'end', text: 'end of text', line });
  return tokens;
}
