/** Compiled modules built from a short description of their structs, for tests of layouts. */

import { randomUUID } from 'node:crypto';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import type { JsonValue } from '../../../src/move/json/json-text.ts';
import type {
  CompiledModule,
  FieldDefinition,
  SignatureToken,
  StructDefinition,
} from '../../../src/move/modules/compiled.ts';
import type { ModuleLookup } from '../../../src/move/modules/lookup.ts';
import { parseAddress } from '../../../src/move/types/address.ts';
import type { PrimitiveKind } from '../../../src/move/types/type-tag.ts';
import type { Layout } from '../../../src/move/values/layout.ts';
import { encodeValue } from '../../../src/move/values/value-encode.ts';

/** A type: `{ is: '0x2::m::S', of: [] }` is a struct with type arguments. */
export type SourceType =
  | PrimitiveKind
  | { readonly vector: SourceType }
  | { readonly parameter: number }
  | { readonly reference: SourceType }
  | { readonly args: readonly SourceType[]; readonly results: readonly SourceType[] }
  | { readonly is: string; readonly of?: readonly SourceType[] };

export type SourceFields = readonly (readonly [name: string, type: SourceType])[];

/** One struct; `parameters` is its number of type parameters. */
export type SourceStruct = { readonly parameters?: number } & (
  | { readonly fields: SourceFields }
  | { readonly variants: readonly (readonly [name: string, fields: SourceFields])[] }
  | { readonly native: true }
);

/** Structs by full name, such as `0x2::m::S`. */
export type Source = Readonly<Record<string, SourceStruct>>;

/** A lookup of the modules with the described structs. */
export function moduleLookup(source: Source): ModuleLookup {
  const modules = new Map<string, ModuleMaker>();
  for (const [path, struct] of Object.entries(source)) {
    const [address = '', module = '', name = ''] = path.split('::');
    const key = `${parseAddress(address)}::${module}`;
    const maker = modules.get(key) ?? new ModuleMaker(address, module);
    modules.set(key, maker);
    maker.define(name, struct);
  }
  return ({ address, name }) => modules.get(`${address}::${name}`)?.compiled();
}

class Table<T> {
  readonly items: T[] = [];
  readonly #indexes = new Map<string, number>();

  index(item: T): number {
    const key = JSON.stringify(item);
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    this.#indexes.set(key, this.items.length);
    return this.items.push(item) - 1;
  }
}

class ModuleMaker {
  readonly #path: string;
  readonly #identifiers = new Table<string>();
  readonly #addresses = new Table<string>();
  readonly #moduleHandles = new Table<{ address: number; name: number }>();
  readonly #structHandles = new Table<{ module: number; name: number }>();
  readonly #parameters: number[] = [];
  readonly #definitions: StructDefinition[] = [];
  #compiled: CompiledModule | undefined;

  constructor(address: string, module: string) {
    this.#path = `${address}::${module}`;
    this.#moduleHandle(address, module);
  }

  define(name: string, struct: SourceStruct): void {
    const handle = this.#structHandle(`${this.#path}::${name}`);
    this.#parameters[handle] = struct.parameters ?? 0;
    if ('native' in struct) this.#definitions.push({ kind: 'native', handle });
    else if ('fields' in struct) {
      this.#definitions.push({ kind: 'struct', handle, fields: this.#fields(struct.fields) });
    } else {
      const variants = struct.variants.map(([variant, fields]) => ({
        name: this.#identifiers.index(variant),
        fields: this.#fields(fields),
      }));
      this.#definitions.push({ kind: 'enum', handle, variants });
    }
  }

  compiled(): CompiledModule {
    this.#compiled ??= {
      kind: 'module',
      digest: `made by hand, ${randomUUID()}`,
      versionWord: 0x0a00_000a,
      version: 10,
      selfHandle: 0,
      moduleHandles: this.#moduleHandles.items,
      structHandles: this.#structHandles.items.map((handle, index) => ({
        ...handle,
        abilities: 0,
        typeParameters: Array.from({ length: this.#parameters[index] ?? 0 }, () => ({
          constraints: 0,
          isPhantom: false,
        })),
      })),
      structDefinitions: this.#definitions,
      identifiers: this.#identifiers.items,
      addresses: this.#addresses.items,
      functionHandles: [],
      functionInstantiations: [],
      signatures: [],
      constants: [],
      metadata: [],
      structInstantiations: [],
      functionDefinitions: [],
      fieldHandles: [],
      fieldInstantiations: [],
      friends: [],
      variantFieldHandles: [],
      variantFieldInstantiations: [],
      structVariantHandles: [],
      structVariantInstantiations: [],
    };
    return this.#compiled;
  }

  #fields(fields: SourceFields): FieldDefinition[] {
    return fields.map(([name, type]) => ({
      name: this.#identifiers.index(name),
      type: this.#token(type),
    }));
  }

  #token(type: SourceType): SignatureToken {
    if (typeof type === 'string') return { kind: type };
    if ('vector' in type) return { kind: 'vector', element: this.#token(type.vector) };
    if ('parameter' in type) return { kind: 'typeParameter', index: type.parameter };
    if ('reference' in type) {
      return { kind: 'reference', mutable: false, to: this.#token(type.reference) };
    }
    if ('args' in type) {
      const args = type.args.map((part) => this.#token(part));
      const results = type.results.map((part) => this.#token(part));
      return { kind: 'function', args, results, abilities: 0 };
    }
    const typeArguments = (type.of ?? []).map((argument) => this.#token(argument));
    const instantiated = typeArguments.length > 0;
    return { kind: 'struct', handle: this.#structHandle(type.is), instantiated, typeArguments };
  }

  #structHandle(path: string): number {
    const [address = '', module = '', name = ''] = path.split('::');
    return this.#structHandles.index({
      module: this.#moduleHandle(address, module),
      name: this.#identifiers.index(name),
    });
  }

  #moduleHandle(address: string, module: string): number {
    return this.#moduleHandles.index({
      address: this.#addresses.index(parseAddress(address)),
      name: this.#identifiers.index(module),
    });
  }
}

/** The framework's String, and Option as the struct of old ledgers. */
export const OLD_FRAMEWORK: Source = {
  '0x1::string::String': { fields: [['bytes', { vector: 'u8' }]] },
  '0x1::option::Option': { parameters: 1, fields: [['vec', { vector: { parameter: 0 } }]] },
};

/** The framework's String, and Option as the enum of new ledgers. */
export const NEW_FRAMEWORK: Source = {
  '0x1::string::String': { fields: [['bytes', { vector: 'u8' }]] },
  '0x1::option::Option': {
    parameters: 1,
    variants: [
      ['None', []],
      ['Some', [['e', { parameter: 0 }]]],
    ],
  },
};

/** The BCS of a JSON value. @throws ValueEncodeError */
export function encodeValueBytes(layout: Layout, json: JsonValue): Buffer {
  return encodeBcs((writer) => encodeValue(layout, json, writer));
}
