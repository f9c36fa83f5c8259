/**
 * The declaration language: Move's syntax for declarations. A function ends with `;`, or with a body of instructions
 * in braces (body-parse.ts).
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
 * resolve to type parameters, then `use`, then the module itself; others are qualified: `a::b::C`. `..Other` repeats
 * the fields of a struct above: many events exist in two forms. `public struct` and `public enum` get functions for
 * other modules (see public-struct.ts). Parameter names serve readers and bodies only: binaries do not contain them.
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
import { BodyParser } from './body-parse.ts';
import {
  DEFAULT_BYTECODE_VERSION,
  type DeclaredBody,
  type DeclaredError,
  type DeclaredField,
  type DeclaredFunction,
  type DeclaredStruct,
  type DeclaredTypeParameter,
  type DeclaredVariant,
  declarationError,
  type ModuleDeclaration,
  type NamedAddresses,
} from './declare.ts';
import { publicStructFunctions } from './public-struct.ts';
import { type Token, TokenReader } from './tokens.ts';

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

export function parseModules(
  text: string,
  addresses: NamedAddresses = new Map(),
): ModuleDeclaration[] {
  return new DeclarationParser(new TokenReader(text), addresses).modules();
}

class DeclarationParser {
  readonly #tokens: TokenReader;
  readonly #addresses: NamedAddresses;
  #module: ModuleId = { address: ADDRESS_ONE, name: '' };
  #uses = new Map<string, ModuleId>();
  /** Structs of the current module that are parsed so far. */
  #structs: DeclaredStruct[] = [];
  #typeParameters: readonly DeclaredTypeParameter[] = [];

  constructor(tokens: TokenReader, addresses: NamedAddresses) {
    this.#tokens = tokens;
    this.#addresses = addresses;
  }

  modules(): ModuleDeclaration[] {
    const modules: ModuleDeclaration[] = [];
    while (this.#tokens.peek().kind !== 'end') modules.push(this.#moduleDeclaration());
    return modules;
  }

  #address(): Address {
    const token = this.#tokens.peek();
    if (token.kind === 'address') return parseAddress(this.#tokens.take().text);
    const address = this.#addresses.get(this.#tokens.name());
    if (address === undefined) {
      throw declarationError(`unknown address ${token.text}`, token.line);
    }
    return address;
  }

  #moduleId(): ModuleId {
    const address = this.#address();
    this.#tokens.expect('::');
    return { address, name: this.#tokens.name() };
  }

  #moduleDeclaration(): ModuleDeclaration {
    let bytecodeVersion = DEFAULT_BYTECODE_VERSION;
    if (this.#tokens.accept('#[')) {
      this.#tokens.expect('bytecode_version');
      this.#tokens.expect('(');
      bytecodeVersion = Number(this.#tokens.number());
      this.#tokens.expect(')');
      this.#tokens.expect(']');
    }
    this.#tokens.expect('module');
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
    this.#tokens.expect('{');
    while (!this.#tokens.accept('}')) {
      if (this.#tokens.accept('use')) this.#use();
      else if (this.#tokens.accept('friend')) friends.push(this.#statement(() => this.#moduleId()));
      else if (this.#tokens.accept('error'))
        errors.push(this.#statement(() => this.#errorDeclaration()));
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
    this.#tokens.expect(';');
    return value;
  }

  #use(): void {
    const module = this.#moduleId();
    this.#tokens.expect('::');
    const names = this.#tokens.accept('{')
      ? this.#tokens.list('}', () => this.#tokens.name())
      : [this.#tokens.name()];
    this.#tokens.expect(';');
    for (const name of names) this.#uses.set(name, module);
  }

  #errorDeclaration(): DeclaredError {
    return {
      abortCode: this.#tokens.number(),
      name: this.#tokens.name(),
      description: this.#tokens.text(),
    };
  }

  #member(functions: DeclaredFunction[], wrappers: DeclaredFunction[]): void {
    const attributes: MetadataAttribute[] = [];
    while (this.#tokens.accept('#['))
      attributes.push(...this.#tokens.list(']', () => this.#attribute()));
    const isNative = this.#tokens.accept('native');
    const visibility = this.#visibility();
    const isEntry = this.#tokens.accept('entry');
    if (this.#tokens.accept('fun')) {
      functions.push(this.#function({ attributes, isNative, visibility, isEntry }));
      return;
    }
    if (isNative || isEntry) throw this.#tokens.unexpected('expected "fun"');
    const isEnum = this.#tokens.accept('enum');
    if (!isEnum) this.#tokens.expect('struct');
    const struct = this.#struct(isEnum, attributes);
    this.#structs.push(struct);
    if (visibility === 'public') wrappers.push(...publicStructFunctions(this.#module, struct));
  }

  #visibility(): Visibility {
    if (!this.#tokens.accept('public')) return 'private';
    if (!this.#tokens.accept('(')) return 'public';
    this.#tokens.expect('friend');
    this.#tokens.expect(')');
    return 'friend';
  }

  #attribute(): MetadataAttribute {
    const { text: name, line } = this.#tokens.peek();
    this.#tokens.name();
    switch (name) {
      case 'event':
        return { kind: ATTRIBUTE_KINDS.event, args: [] };
      case 'view':
        return { kind: ATTRIBUTE_KINDS.viewFunction, args: [] };
      case 'randomness':
        return { kind: ATTRIBUTE_KINDS.randomness, args: [] };
      case 'resource_group': {
        const scope = this.#setting('scope', () => this.#tokens.name());
        return { kind: ATTRIBUTE_KINDS.resourceGroup, args: [scope] };
      }
      case 'resource_group_member': {
        const group = this.#setting('group', () => {
          const id = this.#moduleId();
          this.#tokens.expect('::');
          return `${formatAddress(id.address)}::${id.name}::${this.#tokens.name()}`;
        });
        return { kind: ATTRIBUTE_KINDS.resourceGroupMember, args: [group] };
      }
      default:
        throw declarationError(`unknown attribute ${name}`, line);
    }
  }

  #setting<T>(key: string, read: () => T): T {
    this.#tokens.expect('(');
    this.#tokens.expect(key);
    this.#tokens.expect('=');
    const value = read();
    this.#tokens.expect(')');
    return value;
  }

  #abilities(separator: ',' | '+'): AbilitySet {
    let abilities = 0;
    do {
      const bit = ABILITY_BITS.get(this.#tokens.peek().text);
      if (bit === undefined) throw this.#tokens.unexpected('expected an ability');
      this.#tokens.take();
      abilities |= bit;
    } while (this.#tokens.accept(separator));
    return abilities;
  }

  #typeParameterList(): DeclaredTypeParameter[] {
    if (!this.#tokens.accept('<')) return [];
    return this.#tokens.list('>', () => {
      const isPhantom = this.#tokens.accept('phantom');
      const name = this.#tokens.name();
      return { name, isPhantom, constraints: this.#tokens.accept(':') ? this.#abilities('+') : 0 };
    });
  }

  #struct(isEnum: boolean, attributes: readonly MetadataAttribute[]): DeclaredStruct {
    const name = this.#tokens.name();
    const typeParameters = this.#typeParameterList();
    this.#typeParameters = typeParameters;
    const abilities = this.#tokens.accept('has') ? this.#abilities(',') : 0;
    this.#tokens.expect('{');
    const body = isEnum
      ? ({ kind: 'enum', variants: this.#tokens.list('}', () => this.#variant()) } as const)
      : ({ kind: 'struct', fields: withoutEmpty(this.#namedFields()) } as const);
    return { name, typeParameters, attributes, abilities, body };
  }

  #variant(): DeclaredVariant {
    const name = this.#tokens.name();
    if (this.#tokens.accept('{')) return { name, fields: this.#namedFields() };
    if (!this.#tokens.accept('(')) return { name, fields: [] };
    const fields = this.#tokens.list(')', (index) => ({ name: `_${index}`, type: this.#type() }));
    return { name, fields };
  }

  #namedFields(): DeclaredField[] {
    const parts = this.#tokens.list('}', () => {
      if (this.#tokens.accept('..')) return this.#fieldsOf(this.#tokens.peek());
      const name = this.#tokens.name();
      this.#tokens.expect(':');
      return [{ name, type: this.#type() }];
    });
    return parts.flat();
  }

  #fieldsOf({ text, line }: Token): readonly DeclaredField[] {
    this.#tokens.name();
    const body = this.#structs.find(({ name }) => name === text)?.body;
    if (body?.kind !== 'struct') {
      throw declarationError(`no struct ${text} above`, line);
    }
    return body.fields;
  }

  #function(
    head: Pick<DeclaredFunction, 'attributes' | 'isNative' | 'visibility' | 'isEntry'>,
  ): DeclaredFunction {
    const name = this.#tokens.name();
    const typeParameters = this.#typeParameterList();
    this.#typeParameters = typeParameters;
    this.#tokens.expect('(');
    const names: string[] = [];
    const parameters = this.#tokens.list(')', () => {
      names.push(this.#tokens.name());
      this.#tokens.expect(':');
      return this.#type();
    });
    const results = this.#tokens.accept(':') ? this.#results() : [];
    const body = this.#tokens.accept(';') ? undefined : this.#body(names);
    return { ...head, name, typeParameters, parameters, results, handleAttributes: [], body };
  }

  #body(parameters: readonly string[]): DeclaredBody {
    return new BodyParser(this.#tokens, parameters, {
      module: this.#module,
      type: () => this.#type(),
      moduleId: () => this.#moduleId(),
      address: () => this.#address(),
    }).body();
  }

  #results(): MoveType[] {
    return this.#tokens.accept('(') ? this.#tokens.list(')', () => this.#type()) : [this.#type()];
  }

  #type(): MoveType {
    if (this.#tokens.accept('&')) {
      return { kind: 'reference', mutable: this.#tokens.accept('mut'), to: this.#type() };
    }
    if (this.#tokens.accept('|')) {
      const args = this.#tokens.list('|', () => this.#type());
      const ends = [',', ')', '}', '>', ';', 'has'];
      const results = ends.includes(this.#tokens.peek().text) ? [] : this.#results();
      const abilities = this.#tokens.accept('has') ? this.#abilities('+') : 0;
      return { kind: 'function', args, results, abilities };
    }
    const { text, kind, line } = this.#tokens.peek();
    const following = this.#tokens.peek(1).text;
    if (kind === 'name' && following !== '::') {
      this.#tokens.take();
      if (PRIMITIVES.has(text)) return { kind: text as PrimitiveKind };
      if (text === 'vector') return { kind: 'vector', element: this.#typeArguments()[0]! };
      const index = this.#typeParameters.findIndex((parameter) => parameter.name === text);
      if (index >= 0) return { kind: 'typeParameter', index };
      return this.#structType(this.#uses.get(text) ?? this.#module, text);
    }
    const module = this.#moduleId();
    if (!this.#tokens.accept('::')) {
      throw declarationError(`expected a type, found ${text}`, line);
    }
    return this.#structType(module, this.#tokens.name());
  }

  #structType(module: ModuleId, name: string): MoveType {
    const struct: MoveStructTag = {
      address: module.address,
      module: module.name,
      name,
      typeArguments: this.#tokens.peek().text === '<' ? this.#typeArguments() : [],
    };
    return { kind: 'struct', struct };
  }

  #typeArguments(): MoveType[] {
    this.#tokens.expect('<');
    const types = this.#tokens.list('>', () => this.#type());
    if (types.length === 0) throw this.#tokens.unexpected('expected a type argument');
    return types;
  }
}

/** A struct declared without fields gets the field that the compiler adds (docs/spec/http.md §8.4). */
function withoutEmpty(fields: readonly DeclaredField[]): readonly DeclaredField[] {
  return fields.length > 0 ? fields : [{ name: 'dummy_field', type: { kind: 'bool' } }];
}
