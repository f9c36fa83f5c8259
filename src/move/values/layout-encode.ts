/**
 * Resolves the layout by which JSON arguments are encoded: exact type argument counts, a budget of nodes, the enum
 * `0x1::option::Option` as the struct it once was (docs/spec/move.md §4.3, column "encode"; docs/spec/encode.md §A4).
 */
import type { MaybePromise } from '../../maybe-promise.ts';
import { MoveError } from '../errors.ts';
import {
  type CompiledModule,
  type FieldDefinition,
  type SignatureToken,
  structPathOfHandle,
  type VariantDefinition,
} from '../modules/compiled.ts';
import type { ModuleLookup } from '../modules/lookup.ts';
import { ADDRESS_ONE } from '../types/address.ts';
import type { ModuleId } from '../types/module-id.ts';
import type { PrimitiveKind, StructTag, TypeTag } from '../types/type-tag.ts';
import {
  type EncodeField,
  type EncodeLayout,
  type EncodeVariant,
  type FoundStruct,
  findStruct,
  findStructByHandle,
  isOptionModule,
  isStringStruct,
  LayoutError,
} from './layout.ts';

/**
 * Maximum number of nodes of one layout: each type of the tag and each type token of each field counts as one, every
 * time it is used. The reference's text states 512; it refuses the 514th (docs/spec/encode.md §A4).
 */
export const MAX_LAYOUT_NODES = 513;

/**
 * The layout of a type inside an argument.
 * @throws LayoutError: `module_not_found`, `struct_not_found`, `type_argument_count`, `native_struct`, `reference`,
 * `signer`, `function_type`, `bad_option`, `too_large`. A module that does not load counts as not found.
 */
export async function resolveEncodeLayout(
  tag: TypeTag,
  lookup: ModuleLookup,
): Promise<EncodeLayout> {
  return new EncodeResolver(lookup).tag(tag);
}

/**
 * The layout of a whole argument, at once where no module is needed: `0x1::object::Object<T>` is an address, and T is
 * not looked up (docs/spec/encode.md §A4, docs/spec/move.md §4.4). Throws or rejects as resolveEncodeLayout.
 */
export function resolveArgumentLayout(
  tag: TypeTag,
  lookup: ModuleLookup,
): MaybePromise<EncodeLayout> {
  switch (tag.kind) {
    case 'struct':
      return isObject(tag.struct) ? { kind: 'address' } : resolveEncodeLayout(tag, lookup);
    case 'vector':
      return tag.element.kind === 'u8'
        ? { kind: 'vector', element: { kind: 'u8' } }
        : resolveEncodeLayout(tag, lookup);
    case 'function':
      return { kind: 'function' };
    default:
      return primitive(tag.kind);
  }
}

function isObject({ address, module, name }: StructTag): boolean {
  return name === 'Object' && module === 'object' && address === ADDRESS_ONE;
}

class EncodeResolver {
  readonly #lookup: ModuleLookup;
  #nodes = 0;

  constructor(lookup: ModuleLookup) {
    this.#lookup = lookup;
  }

  async tag(tag: TypeTag): Promise<EncodeLayout> {
    this.#countNode();
    switch (tag.kind) {
      case 'vector':
        return { kind: 'vector', element: await this.tag(tag.element) };
      case 'struct': {
        const { address, module, name, typeArguments } = tag.struct;
        const layouts: EncodeLayout[] = [];
        for (const argument of typeArguments) layouts.push(await this.tag(argument));
        return this.#struct(await this.#find({ address, name: module }, name), layouts);
      }
      case 'function':
        return { kind: 'function' };
      default:
        return primitive(tag.kind);
    }
  }

  async #token(
    module: CompiledModule,
    token: SignatureToken,
    typeArguments: readonly EncodeLayout[],
  ): Promise<EncodeLayout> {
    this.#countNode();
    switch (token.kind) {
      case 'vector':
        return {
          kind: 'vector',
          element: await this.#token(module, token.element, typeArguments),
        };
      case 'struct': {
        const layouts: EncodeLayout[] = [];
        for (const argument of token.typeArguments) {
          layouts.push(await this.#token(module, argument, typeArguments));
        }
        return this.#struct(await this.#findByHandle(module, token.handle), layouts);
      }
      case 'typeParameter':
        // The loader has checked that the struct declares it.
        return typeArguments[token.index]!;
      case 'function':
        throw new LayoutError('function_type', 'function types NYI for MoveTypeLayout');
      case 'reference':
        throw new LayoutError('reference', 'Type layouts cannot contain references');
      default:
        return primitive(token.kind);
    }
  }

  async #struct(found: FoundStruct, typeArguments: readonly EncodeLayout[]): Promise<EncodeLayout> {
    const { id, module, name, definition } = found;
    if (typeArguments.length !== found.handle.typeParameters.length) {
      throw new LayoutError('type_argument_count', 'Wrong number of type arguments for struct');
    }
    if (definition.kind === 'native') {
      throw new LayoutError('native_struct', "Can't extract fields for native struct");
    }
    if (definition.kind === 'struct') {
      const fields = await this.#fields(module, definition.fields, typeArguments);
      const kind = isStringStruct(id, name) ? 'string' : 'struct';
      return { kind, tag: structTag(found, typeArguments), fields };
    }
    if (isOptionModule(id)) return this.#option(found, definition.variants, typeArguments);
    const variants: EncodeVariant[] = [];
    for (const variant of definition.variants) {
      const fields = await this.#fields(module, variant.fields, typeArguments);
      variants.push({ name: module.identifiers[variant.name]!, fields });
    }
    return { kind: 'enum', tag: structTag(found, typeArguments), variants };
  }

  /**
   * `{ vec: vector<X> }`, where X is the content of `Some`: the same bytes as the enum, and the older struct's JSON.
   */
  async #option(
    found: FoundStruct,
    variants: readonly VariantDefinition[],
    typeArguments: readonly EncodeLayout[],
  ): Promise<EncodeLayout> {
    const tag = structTag(found, typeArguments);
    const some = variants[1];
    if (variants.length !== 2 || some === undefined) {
      throw new LayoutError('bad_option', 'Option must have exactly two variants');
    }
    if (found.module.identifiers[some.name] !== 'Some') {
      throw new LayoutError('bad_option', 'Variant name must be `Some`');
    }
    const field = some.fields[0];
    if (some.fields.length !== 1 || field === undefined) {
      throw new LayoutError('bad_option', 'Variant `Some` must have exactly one field');
    }
    const element = await this.#token(found.module, field.type, typeArguments);
    return { kind: 'struct', tag, fields: [{ name: 'vec', layout: { kind: 'vector', element } }] };
  }

  async #fields(
    module: CompiledModule,
    definitions: readonly FieldDefinition[],
    typeArguments: readonly EncodeLayout[],
  ): Promise<EncodeField[]> {
    const fields: EncodeField[] = [];
    for (const { name, type } of definitions) {
      const layout = await this.#token(module, type, typeArguments);
      fields.push({ name: module.identifiers[name]!, layout });
    }
    return fields;
  }

  async #findByHandle(module: CompiledModule, structHandle: number): Promise<FoundStruct> {
    const own = findStructByHandle(module, structHandle);
    if (own !== undefined) return own;
    const { module: id, name } = structPathOfHandle(module, structHandle);
    return this.#find(id, name);
  }

  async #find(id: ModuleId, name: string): Promise<FoundStruct> {
    const found = findStruct(await this.#module(id), name);
    if (found !== undefined) return found;
    throw new LayoutError(
      'struct_not_found',
      `Could not find struct named ${name} in module ${id.address}::${id.name}`,
    );
  }

  async #module(id: ModuleId): Promise<CompiledModule> {
    let module: CompiledModule | undefined;
    try {
      module = await this.#lookup(id);
    } catch (error) {
      if (!(error instanceof MoveError)) throw error;
    }
    if (module !== undefined) return module;
    throw new LayoutError('module_not_found', 'Could not find module');
  }

  #countNode(): void {
    if (this.#nodes === MAX_LAYOUT_NODES) {
      const limit = MAX_LAYOUT_NODES - 1;
      throw new LayoutError('too_large', `type layout exceeds the maximum of ${limit} nodes`);
    }
    this.#nodes += 1;
  }
}

function primitive(kind: PrimitiveKind): EncodeLayout {
  if (kind === 'signer') {
    throw new LayoutError('signer', 'Type layouts cannot contain signer');
  }
  return { kind };
}

/** The tag of a struct whose arguments are known by their layouts, which omit the parameters of function types. */
function structTag(found: FoundStruct, typeArguments: readonly EncodeLayout[]): StructTag {
  return {
    address: found.id.address,
    module: found.id.name,
    name: found.name,
    typeArguments: typeArguments.map(layoutTag),
  };
}

function layoutTag(layout: EncodeLayout): TypeTag {
  switch (layout.kind) {
    case 'vector':
      return { kind: 'vector', element: layoutTag(layout.element) };
    case 'struct':
    case 'string':
    case 'enum':
      return { kind: 'struct', struct: layout.tag };
    case 'function':
      throw new LayoutError('function_type', 'Function layout cannot be constructed from type tag');
    default:
      return { kind: layout.kind };
  }
}
