/**
 * The declaration language: Move's syntax for declarations, without code.
 *
 *     module 0x1::coin {
 *       use 0x1::string::String;
 *       friend 0x1::aptos_coin;
 *       error 10 EFROZEN "The store is frozen";
 *
 *       struct Coin<phantom CoinType> has store { value: u64 }
 *       #[event]
 *       struct CoinDeposit has drop, store { coin_type: String, account: address, amount: u64 }
 *       enum Side has copy, drop { Buy, Sell { limit: u64 }, Swap(u64, bool) }
 *
 *       #[view]
 *       public fun balance<CoinType>(owner: address): u64;
 *       public entry fun transfer<CoinType>(from: &signer, to: address, amount: u64);
 *       public(friend) fun freeze<CoinType>(owner: address): (bool, u64);
 *       native fun raw<T: copy + drop>(call: |T, &u64| bool has copy): vector<T>;
 *     }
 *
 * Attributes: `#[event]`, `#[view]`, `#[randomness]`, `#[resource_group(scope = global)]`,
 * `#[resource_group_member(group = 0x1::object::ObjectGroup)]`, and `#[bytecode_version(7)]` before a module. Names
 * resolve to type parameters, then `use`, then the module itself; `a::b::C` is written out. `..Other` repeats the
 * fields of a struct above: many events exist in two forms. `public struct` and `public enum` get functions
 * for other modules (see public-struct.ts). A parameter's name is for the reader only: binaries do not contain it.
 */
import type { Visibility } from '../../move/modules/compiled.ts';
import { ATTRIBUTE_KINDS, type MetadataAttribute } from '../../move/modules/metadata.ts';
import {
  ADDRESS_ONE,
  type Address,
  formatAddress,
  parseAddress,
} from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveStructTag, MoveType } from '../../move/types/move-type.ts';
import { type AbilitySet, PRIMITIVE_KINDS, type PrimitiveKind } from '../../move/types/type-tag.ts';
import {
  DEFAULT_BYTECODE_VERSION,
  DeclarationError,
  type DeclaredError,
  type DeclaredField,
  type DeclaredFunction,
  type DeclaredStruct,
  type DeclaredTypeParameter,
  type DeclaredVariant,
  type ModuleDeclaration,
  type NamedAddresses,
} from './declare.ts';
import { publicStructFunctions } from './public-struct.ts';

const ABILITY_BITS: ReadonlyMap<string, number> = new Map([
  ['copy', 1],
  ['drop', 2],
  ['store', 4],
  ['key', 8],
]);
const PRIMITIVES: ReadonlySet<string> = new Set(PRIMITIVE_KINDS);

/** Always in scope, so that most modules need no `use` at all. */
const PRELUDE: readonly (readonly [string, string])[] = [
  ['String', 'string'],
  ['Option', 'option'],
  ['Object', 'object'],
  ['EventHandle', 'event'],
  ['Table', 'table'],
];

/** Reads the modules that a text declares. @throws DeclarationError with the line. */
export function parseModules(
  text: string,
  addresses: NamedAddresses = new Map(),
): ModuleDeclaration[] {
  return new DeclarationParser(tokenize(text), addresses).modules();
}

class DeclarationParser {
  readonly #tokens: readonly Token[];
  readonly #addresses: NamedAddresses;
  #next = 0;
  #module: ModuleId = { address: ADDRESS_ONE, name: '' };
  #uses = new Map<string, ModuleId>();
  /** Of the module that is read, so far. */
  #structs: DeclaredStruct[] = [];
  #typeParameters: readonly DeclaredTypeParameter[] = [];

  constructor(tokens: readonly Token[], addresses: NamedAddresses) {
    this.#tokens = tokens;
    this.#addresses = addresses;
  }

  modules(): ModuleDeclaration[] {
    const modules: ModuleDeclaration[] = [];
    while (this.#peek().kind !== 'end') modules.push(this.#moduleDeclaration());
    return modules;
  }

  #peek(): Token {
    return this.#tokens[this.#next]!;
  }

  #take(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#next += 1;
    return token;
  }

  #accept(text: string): boolean {
    if (this.#peek().text !== text || this.#peek().kind === 'text') return false;
    this.#next += 1;
    return true;
  }

  #expect(text: string): void {
    if (!this.#accept(text)) throw this.#unexpected(`expected ${JSON.stringify(text)}`);
  }

  #unexpected(wanted: string): DeclarationError {
    const token = this.#peek();
    return new DeclarationError(
      'unexpected_token',
      `${wanted}, found ${JSON.stringify(token.text)}`,
      token.line,
    );
  }

  #name(): string {
    if (this.#peek().kind !== 'name') throw this.#unexpected('expected a name');
    return this.#take().text;
  }

  #number(): bigint {
    if (this.#peek().kind !== 'number') throw this.#unexpected('expected a number');
    return BigInt(this.#take().text);
  }

  #text(): string {
    if (this.#peek().kind !== 'text') throw this.#unexpected('expected a text in quotes');
    return this.#take().text;
  }

  /** Items up to a closing sign, separated by commas; a trailing comma is allowed. */
  #list<T>(close: string, item: (index: number) => T): T[] {
    const items: T[] = [];
    while (!this.#accept(close)) {
      items.push(item(items.length));
      if (!this.#accept(',')) {
        this.#expect(close);
        break;
      }
    }
    return items;
  }

  #address(): Address {
    const token = this.#peek();
    if (token.kind === 'address') return parseAddress(this.#take().text);
    const address = this.#addresses.get(this.#name());
    if (address === undefined) {
      throw new DeclarationError('unknown_name', `unknown address ${token.text}`, token.line);
    }
    return address;
  }

  #moduleId(): ModuleId {
    const address = this.#address();
    this.#expect('::');
    return { address, name: this.#name() };
  }

  #moduleDeclaration(): ModuleDeclaration {
    let bytecodeVersion = DEFAULT_BYTECODE_VERSION;
    if (this.#accept('#[')) {
      this.#expect('bytecode_version');
      this.#expect('(');
      bytecodeVersion = Number(this.#number());
      this.#expect(')');
      this.#expect(']');
    }
    this.#expect('module');
    const id = this.#moduleId();
    this.#module = id;
    this.#uses = new Map(
      PRELUDE.map(([name, module]) => [name, { address: ADDRESS_ONE, name: module }]),
    );
    const friends: ModuleId[] = [];
    const errors: DeclaredError[] = [];
    const structs: DeclaredStruct[] = [];
    this.#structs = structs;
    const functions: DeclaredFunction[] = [];
    const wrappers: DeclaredFunction[] = [];
    this.#expect('{');
    while (!this.#accept('}')) {
      if (this.#accept('use')) this.#use();
      else if (this.#accept('friend')) friends.push(this.#statement(() => this.#moduleId()));
      else if (this.#accept('error')) errors.push(this.#statement(() => this.#errorDeclaration()));
      else this.#member(functions, wrappers);
    }
    return {
      ...id,
      bytecodeVersion,
      friends,
      errors,
      structs,
      functions: [...functions, ...wrappers],
    };
  }

  #statement<T>(read: () => T): T {
    const value = read();
    this.#expect(';');
    return value;
  }

  #use(): void {
    const module = this.#moduleId();
    this.#expect('::');
    const names = this.#accept('{') ? this.#list('}', () => this.#name()) : [this.#name()];
    this.#expect(';');
    for (const name of names) this.#uses.set(name, module);
  }

  #errorDeclaration(): DeclaredError {
    return { abortCode: this.#number(), name: this.#name(), description: this.#text() };
  }

  #member(functions: DeclaredFunction[], wrappers: DeclaredFunction[]): void {
    const attributes: MetadataAttribute[] = [];
    while (this.#accept('#[')) attributes.push(...this.#list(']', () => this.#attribute()));
    const isNative = this.#accept('native');
    const visibility = this.#visibility();
    const isEntry = this.#accept('entry');
    if (this.#accept('fun')) {
      functions.push(this.#function({ attributes, isNative, visibility, isEntry }));
      return;
    }
    if (isNative || isEntry) throw this.#unexpected('expected "fun"');
    const isEnum = this.#accept('enum');
    if (!isEnum) this.#expect('struct');
    const struct = this.#struct(isEnum, attributes);
    this.#structs.push(struct);
    if (visibility === 'public') wrappers.push(...publicStructFunctions(this.#module, struct));
  }

  #visibility(): Visibility {
    if (!this.#accept('public')) return 'private';
    if (!this.#accept('(')) return 'public';
    this.#expect('friend');
    this.#expect(')');
    return 'friend';
  }

  #attribute(): MetadataAttribute {
    const { text: name, line } = this.#peek();
    this.#name();
    switch (name) {
      case 'event':
        return { kind: ATTRIBUTE_KINDS.event, args: [] };
      case 'view':
        return { kind: ATTRIBUTE_KINDS.viewFunction, args: [] };
      case 'randomness':
        return { kind: ATTRIBUTE_KINDS.randomness, args: [] };
      case 'resource_group': {
        const scope = this.#setting('scope', () => this.#name());
        return { kind: ATTRIBUTE_KINDS.resourceGroup, args: [scope] };
      }
      case 'resource_group_member': {
        const group = this.#setting('group', () => {
          const id = this.#moduleId();
          this.#expect('::');
          return `${formatAddress(id.address)}::${id.name}::${this.#name()}`;
        });
        return { kind: ATTRIBUTE_KINDS.resourceGroupMember, args: [group] };
      }
      default:
        throw new DeclarationError('unknown_name', `unknown attribute ${name}`, line);
    }
  }

  #setting<T>(key: string, read: () => T): T {
    this.#expect('(');
    this.#expect(key);
    this.#expect('=');
    const value = read();
    this.#expect(')');
    return value;
  }

  #abilities(separator: ',' | '+'): AbilitySet {
    let abilities = 0;
    do {
      const bit = ABILITY_BITS.get(this.#peek().text);
      if (bit === undefined) throw this.#unexpected('expected an ability');
      this.#take();
      abilities |= bit;
    } while (this.#accept(separator));
    return abilities;
  }

  #typeParameterList(): DeclaredTypeParameter[] {
    if (!this.#accept('<')) return [];
    return this.#list('>', () => {
      const isPhantom = this.#accept('phantom');
      const name = this.#name();
      return { name, isPhantom, constraints: this.#accept(':') ? this.#abilities('+') : 0 };
    });
  }

  #struct(isEnum: boolean, attributes: readonly MetadataAttribute[]): DeclaredStruct {
    const name = this.#name();
    const typeParameters = this.#typeParameterList();
    this.#typeParameters = typeParameters;
    const abilities = this.#accept('has') ? this.#abilities(',') : 0;
    this.#expect('{');
    const body = isEnum
      ? ({ kind: 'enum', variants: this.#list('}', () => this.#variant()) } as const)
      : ({ kind: 'struct', fields: withoutEmpty(this.#namedFields()) } as const);
    return { name, typeParameters, attributes, abilities, body };
  }

  #variant(): DeclaredVariant {
    const name = this.#name();
    if (this.#accept('{')) return { name, fields: this.#namedFields() };
    if (!this.#accept('(')) return { name, fields: [] };
    const fields = this.#list(')', (index) => ({ name: `_${index}`, type: this.#type() }));
    return { name, fields };
  }

  /** Fields up to the closing brace. */
  #namedFields(): DeclaredField[] {
    const parts = this.#list('}', () => {
      if (this.#accept('..')) return this.#fieldsOf(this.#peek());
      const name = this.#name();
      this.#expect(':');
      return [{ name, type: this.#type() }];
    });
    return parts.flat();
  }

  #fieldsOf({ text, line }: Token): readonly DeclaredField[] {
    this.#name();
    const body = this.#structs.find(({ name }) => name === text)?.body;
    if (body?.kind !== 'struct') {
      throw new DeclarationError('unknown_name', `no struct ${text} above`, line);
    }
    return body.fields;
  }

  #function(
    head: Pick<DeclaredFunction, 'attributes' | 'isNative' | 'visibility' | 'isEntry'>,
  ): DeclaredFunction {
    const name = this.#name();
    const typeParameters = this.#typeParameterList();
    this.#typeParameters = typeParameters;
    this.#expect('(');
    const parameters = this.#list(')', () => {
      this.#name();
      this.#expect(':');
      return this.#type();
    });
    const results = this.#accept(':') ? this.#results() : [];
    this.#expect(';');
    return { ...head, name, typeParameters, parameters, results, handleAttributes: [] };
  }

  #results(): MoveType[] {
    return this.#accept('(') ? this.#list(')', () => this.#type()) : [this.#type()];
  }

  #type(): MoveType {
    if (this.#accept('&')) {
      return { kind: 'reference', mutable: this.#accept('mut'), to: this.#type() };
    }
    if (this.#accept('|')) {
      const args = this.#list('|', () => this.#type());
      const ends = [',', ')', '}', '>', ';', 'has'];
      const results = ends.includes(this.#peek().text) ? [] : this.#results();
      const abilities = this.#accept('has') ? this.#abilities('+') : 0;
      return { kind: 'function', args, results, abilities };
    }
    const { text, kind, line } = this.#peek();
    const following = this.#tokens[this.#next + 1]?.text;
    if (kind === 'name' && following !== '::') {
      this.#take();
      if (PRIMITIVES.has(text)) return { kind: text as PrimitiveKind };
      if (text === 'vector') return { kind: 'vector', element: this.#typeArguments()[0]! };
      const index = this.#typeParameters.findIndex((parameter) => parameter.name === text);
      if (index >= 0) return { kind: 'typeParameter', index };
      return this.#structType(this.#uses.get(text) ?? this.#module, text);
    }
    const module = this.#moduleId();
    if (!this.#accept('::')) {
      throw new DeclarationError('unexpected_token', `expected a type, found ${text}`, line);
    }
    return this.#structType(module, this.#name());
  }

  #structType(module: ModuleId, name: string): MoveType {
    const struct: MoveStructTag = {
      address: module.address,
      module: module.name,
      name,
      typeArguments: this.#peek().text === '<' ? this.#typeArguments() : [],
    };
    return { kind: 'struct', struct };
  }

  #typeArguments(): MoveType[] {
    this.#expect('<');
    const types = this.#list('>', () => this.#type());
    if (types.length === 0) throw this.#unexpected('expected a type argument');
    return types;
  }
}

/** A struct declared without fields gets the one that the compiler gives it (docs/spec/http.md §8.4). */
function withoutEmpty(fields: readonly DeclaredField[]): readonly DeclaredField[] {
  return fields.length > 0 ? fields : [{ name: 'dummy_field', type: { kind: 'bool' } }];
}

interface Token {
  readonly kind: 'name' | 'address' | 'number' | 'text' | 'sign' | 'end';
  readonly text: string;
  readonly line: number;
}

const TOKEN =
  /(?<space>[ \t\r]+|\/\/[^\n]*)|(?<newline>\n)|(?<address>0x[0-9a-fA-F]+)|(?<number>[0-9]+)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|"(?<text>[^"\n]*)"|(?<sign>#\[|::|\.\.|[{}()<>,;:&|+=\]])/y;

/** Splits a text into tokens, `end` last. @throws DeclarationError `unexpected_token` */
function tokenize(text: string): Token[] {
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
