/**
 * Structs and functions of an ABI as Move declarations, in lines of tokens. The ABI has no parameter names and does not
 * tell which type parameters are phantom, so neither is shown (docs/spec/http.md §8.2).
 */
import type { AbiField, AbiFunction, AbiStruct, AbiVariant, Constraints } from './move-abi.ts';

/** Where a type is declared. */
export interface TypeTarget {
  readonly address: string;
  readonly module: string;
  readonly name: string;
}

/** A piece of a line; `target` marks the name of a struct that can be looked up. */
export interface Token {
  readonly kind: 'keyword' | 'name' | 'type' | 'attribute' | 'plain';
  readonly text: string;
  readonly target?: TypeTarget;
}

/** A line: its indentation in levels, and its tokens. */
export interface Line {
  readonly indent: number;
  readonly tokens: readonly Token[];
}

/** A declaration that is longer than this is broken, one item to a line. */
const MAX_LINE_COLUMNS = 76;

const keyword = (text: string): Token => ({ kind: 'keyword', text });
const plain = (text: string): Token => ({ kind: 'plain', text });
const declaredName = (text: string): Token => ({ kind: 'name', text });

const TYPE_PIECE =
  /(0x[0-9a-fA-F]+)::([A-Za-z_$][\w$]*)::([A-Za-z_$][\w$]*)|(?:&mut\b|&)|[A-Za-z_]\w*|\s+|./gsu;

/** A type's text in tokens; struct names carry their target, type parameters are names. */
export function typeTokens(type: string): Token[] {
  return Array.from(type.matchAll(TYPE_PIECE), ([text, address, module, name]): Token => {
    if (address !== undefined) {
      return { kind: 'type', text, target: { address, module: module!, name: name! } };
    }
    if (text.startsWith('&')) return keyword(text);
    return /^\w/.test(text) ? { kind: 'type', text } : plain(text);
  });
}

/** `public entry fun transfer<T0: key>(&signer, address): u64`, with its attributes above. */
export function functionLines(declared: AbiFunction): Line[] {
  const head: Token[] = [];
  if (declared.visibility === 'public') head.push(keyword('public '));
  if (declared.visibility === 'friend') head.push(keyword('public(friend) '));
  if (declared.isEntry) head.push(keyword('entry '));
  head.push(keyword('fun '), declaredName(declared.name));
  head.push(...typeParameterTokens(declared.typeParameters), plain('('));
  const tail = [plain(')'), ...resultTokens(declared.results)];
  const lines = enclosed(head, declared.parameters.map(typeTokens), tail);
  return declared.isView ? [attributeLine('#[view]'), ...lines] : lines;
}

/** `struct Coin<T0> has store { value: u64 }` or an enum with its variants, with attributes above. */
export function structLines(declared: AbiStruct): Line[] {
  const head: Token[] = [];
  if (declared.isNative) head.push(keyword('native '));
  head.push(keyword(declared.isEnum ? 'enum ' : 'struct '), declaredName(declared.name));
  head.push(...typeParameterTokens(declared.typeParameters));
  if (declared.abilities.length > 0) {
    head.push(keyword(' has '), keyword(declared.abilities.join(', ')));
  }
  const attributes = declared.isEvent ? [attributeLine('#[event]')] : [];
  if (declared.isNative) return [...attributes, { indent: 0, tokens: [...head, plain(';')] }];
  const members = declared.isEnum
    ? declared.variants.flatMap(variantLines)
    : declared.fields.map((member) => ({
        indent: 1,
        tokens: [...fieldTokens(member), plain(',')],
      }));
  if (members.length === 0) {
    return [...attributes, { indent: 0, tokens: [...head, plain(' {}')] }];
  }
  return [
    ...attributes,
    { indent: 0, tokens: [...head, plain(' {')] },
    ...members,
    { indent: 0, tokens: [plain('}')] },
  ];
}

function variantLines(variant: AbiVariant): Line[] {
  const name = declaredName(variant.name);
  if (variant.fields.length === 0) return [{ indent: 1, tokens: [name, plain(',')] }];
  if (variant.fields.every((member) => /^_?\d+$/.test(member.name))) {
    const types = joined(variant.fields.map((member) => typeTokens(member.type)));
    return [{ indent: 1, tokens: [name, plain('('), ...types, plain('),')] }];
  }
  return [
    { indent: 1, tokens: [name, plain(' {')] },
    ...variant.fields.map((member) => ({
      indent: 2,
      tokens: [...fieldTokens(member), plain(',')],
    })),
    { indent: 1, tokens: [plain('},')] },
  ];
}

function fieldTokens(member: AbiField): Token[] {
  return [plain(`${member.name}: `), ...typeTokens(member.type)];
}

function typeParameterTokens(parameters: readonly Constraints[]): Token[] {
  if (parameters.length === 0) return [];
  const each = parameters.map((constraints, at): Token[] => {
    const name: Token = { kind: 'type', text: `T${at}` };
    return constraints.length === 0
      ? [name]
      : [name, plain(': '), keyword(constraints.join(' + '))];
  });
  return [plain('<'), ...joined(each), plain('>')];
}

function resultTokens(results: readonly string[]): Token[] {
  if (results.length === 0) return [];
  const each = results.map(typeTokens);
  return results.length === 1
    ? [plain(': '), ...each[0]!]
    : [plain(': ('), ...joined(each), plain(')')];
}

/** All on one line when it fits, else one item to a line. */
function enclosed(head: Token[], items: Token[][], tail: Token[]): Line[] {
  const single = [...head, ...joined(items), ...tail];
  if (width(single) <= MAX_LINE_COLUMNS || items.length === 0) {
    return [{ indent: 0, tokens: single }];
  }
  return [
    { indent: 0, tokens: head },
    ...items.map((item) => ({ indent: 1, tokens: [...item, plain(',')] })),
    { indent: 0, tokens: tail },
  ];
}

function joined(items: readonly Token[][]): Token[] {
  return items.flatMap((item, at) => (at === 0 ? item : [plain(', '), ...item]));
}

function attributeLine(text: string): Line {
  return { indent: 0, tokens: [{ kind: 'attribute', text }] };
}

function width(tokens: readonly Token[]): number {
  return tokens.reduce((sum, token) => sum + token.text.length, 0);
}
