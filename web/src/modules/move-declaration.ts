/**
 * Formats structs and functions of an ABI as Move declarations, in lines of tokens. The ABI has no parameter names and
 * does not tell which type parameters are phantom, so neither is shown (docs/spec/http.md §8.2).
 */
import type { StructAbi } from '../../../src/move/modules/abi-shapes.ts';
import type { AbiFunction } from '../asking/answers.ts';

/** A piece of a line; `target` is the full name of a struct that can be looked up. */
export interface Token {
  readonly kind: 'keyword' | 'name' | 'type' | 'attribute' | 'plain';
  readonly text: string;
  readonly target?: { readonly address: string; readonly module: string; readonly name: string };
}

/** A line: its indentation in levels, and its tokens. */
export interface Line {
  readonly indent: number;
  readonly tokens: readonly Token[];
}

/** Longer declarations are broken, one item per line. */
const MAX_LINE_COLUMNS = 76;

const PIECE = new RegExp(
  [
    '(?<address>0x[0-9a-fA-F]+)::(?<module>[A-Za-z_$][\\w$]*)::(?<struct>[A-Za-z_$][\\w$]*)',
    '(?<plain>[\\w$]+: )',
    '(?<name>(?<=\\b(?:fun|struct|enum) )[\\w$]+)',
    '(?<attribute>#\\[\\w+\\])',
    '(?<keyword>&mut\\b|&|\\b(?:public|friend|entry|fun|native|struct|enum|has|copy|drop|store|key)\\b)',
    '(?<type>[A-Za-z_]\\w*)',
    '\\s+|.',
  ].join('|'),
  'gsu',
);

/** Tokens of a type or a declaration; struct names have a target. */
export function typeTokens(code: string): Token[] {
  return Array.from(code.matchAll(PIECE), ({ 0: text, groups = {} }): Token => {
    const { address, module, struct: name } = groups;
    if (address !== undefined) {
      return { kind: 'type', text, target: { address, module: module!, name: name! } };
    }
    const kinds = ['name', 'attribute', 'keyword', 'type'] as const;
    return { kind: kinds.find((kind) => groups[kind] !== undefined) ?? 'plain', text };
  });
}

function line(text: string, indent = 0): Line {
  return { indent, tokens: typeTokens(text) };
}

function generics(parameters: AbiFunction['generic_type_params']): string {
  const each = parameters.map(({ constraints }, at) =>
    constraints.length === 0 ? `T${at}` : `T${at}: ${constraints.join(' + ')}`,
  );
  return each.length === 0 ? '' : `<${each.join(', ')}>`;
}

/** `public entry fun transfer<T0: key>(&signer, address): u64`, with its attributes above. */
export function functionLines(declared: AbiFunction): Line[] {
  const visibility = { public: 'public ', friend: 'public(friend) ' }[
    declared.visibility as string
  ];
  const entry = declared.is_entry ? 'entry ' : '';
  const parameters = generics(declared.generic_type_params);
  const head = `${visibility ?? ''}${entry}fun ${declared.name}${parameters}(`;
  const results = declared.return.join(', ');
  const tail = [')', `): ${results}`][declared.return.length] ?? `): (${results})`;
  const whole = head + declared.params.join(', ') + tail;
  const isShort = whole.length <= MAX_LINE_COLUMNS || declared.params.length === 0;
  return [
    ...(declared.is_view ? [line('#[view]')] : []),
    ...(isShort
      ? [line(whole)]
      : [line(head), ...declared.params.map((type) => line(`${type},`, 1)), line(tail)]),
  ];
}

/** `struct Coin<T0> has store { value: u64 }` or an enum with its variants, with attributes above. */
export function structLines(declared: StructAbi): Line[] {
  const { abilities, fields, is_enum, is_native, variants } = declared;
  const has = abilities.length === 0 ? '' : ` has ${abilities.join(', ')}`;
  const kind = `${is_native ? 'native ' : ''}${is_enum ? 'enum' : 'struct'}`;
  const head = `${kind} ${declared.name}${generics(declared.generic_type_params)}${has}`;
  const members = is_enum ? variants.flatMap(variantLines) : fieldLines(fields, 1);
  const body =
    members.length === 0 ? [line(`${head} {}`)] : [line(`${head} {`), ...members, line('}')];
  return [
    ...(declared.is_event ? [line('#[event]')] : []),
    ...(is_native ? [line(`${head};`)] : body),
  ];
}

function fieldLines(fields: StructAbi['fields'], indent: number): Line[] {
  return fields.map(({ name, type }) => line(`${name}: ${type},`, indent));
}

function variantLines({ name, fields }: StructAbi['variants'][number]): Line[] {
  if (fields.length === 0) return [line(`${name},`, 1)];
  if (fields.every((member) => /^_?\d+$/.test(member.name))) {
    return [line(`${name}(${fields.map(({ type }) => type).join(', ')}),`, 1)];
  }
  return [line(`${name} {`, 1), ...fieldLines(fields, 2), line('},', 1)];
}
