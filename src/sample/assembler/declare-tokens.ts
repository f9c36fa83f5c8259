/** Tokens of the declaration language (see declare-parse.ts): one pass, with line numbers for errors. */
import { DeclarationError } from './declare.ts';

export interface Token {
  readonly kind: 'name' | 'address' | 'number' | 'text' | 'sign' | 'end';
  readonly text: string;
  readonly line: number;
}

const TOKEN =
  /(?<space>[ \t\r]+|\/\/[^\n]*)|(?<newline>\n)|(?<address>0x[0-9a-fA-F]+)|(?<number>[0-9]+)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|"(?<text>[^"\n]*)"|(?<sign>#\[|::|\.\.|[{}()<>,;:&|+=\]])/y;

/** Splits a text into tokens, `end` last. @throws DeclarationError `unexpected_token` */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let offset = 0;
  while (offset < text.length) {
    TOKEN.lastIndex = offset;
    const groups = TOKEN.exec(text)?.groups;
    if (groups === undefined) {
      throw new DeclarationError(
        'unexpected_token',
        `unexpected ${JSON.stringify(text[offset])}`,
        line,
      );
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
