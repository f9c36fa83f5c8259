/**
 * Resolves the layout by which stored bytes (event data, resources) are rendered: structs are looked up by name in
 * the handle's module, extra type arguments are ignored, phantom ones must resolve too
 * (docs/spec/move.md §4.3, column "decode"; docs/spec/encode.md §B2).
 */
import { MoveError } from '../errors.ts';
import {
  type BinaryTables,
  type CompiledModule,
  type FieldDefinition,
  type SignatureToken,
  structPathOfHandle,
  type VariantDefinition,
} from '../modules/compiled.ts';
import type { ModuleLookup } from '../modules/lookup.ts';
import { debugString } from '../rust-debug.ts';
import { ADDRESS_ONE } from '../types/address.ts';
import type { ModuleId } from '../types/module-id.ts';
import { PRIMITIVE_KINDS, type PrimitiveKind, type TypeTag } from '../types/type-tag.ts';
import {
  ADDRESS_COST_BYTES,
  type DecodeLayout,
  debugModuleId,
  type FoundStruct,
  findStruct,
  isOptionModule,
  isStringStruct,
  LayoutError,
  MAX_LAYOUT_DEPTH,
  type NamedField,
  objectTemplate,
  optionTemplate,
} from './layout.ts';

/**
 * Bytes of names that laying out one type may cost: for every struct, each time it occurs, 32 for its address, the
 * lengths of its module's and its own name, and of its field and variant names (docs/spec/encode.md §B2).
 */
export const LAYOUT_BUDGET_BYTES = 100_000_000;

/**
 * Most types visited for one layout: each type of the tag, and each type token of each different struct's fields.
 * The byte budget alone would let a hostile module take many seconds; real layouts have at most 144.
 */
export const MAX_LAYOUT_TOKENS = 50_000;

interface Resolved {
  readonly layout: DecodeLayout;
  /** Tells types apart, so that equal types are laid out once. */
  readonly id: string;
  /** The cost of the type's tag in the byte budget, for each value. */
  readonly tagBytes: number;
  readonly costBytes: number;
  /** How deeply types nest below this one. */
  readonly height: number;
}

/**
 * The layout of a type.
 * @throws LayoutError: `module_not_found`, `module_not_loadable`, `struct_not_found`, `type_argument_count`,
 * `native_struct`, `reference`, `too_large`, `too_deep`.
 */
export async function resolveDecodeLayout(
  tag: TypeTag,
  lookup: ModuleLookup,
): Promise<DecodeLayout> {
  const resolved = await new DecodeResolver(lookup).tag(tag, 0);
  return resolved.layout;
}

/**
 * The layouts of those parameters of a function or script that have an argument: not of `signer`, `&signer` and
 * function types. Without type arguments nothing is put in for type parameters (docs/spec/transactions.md §2.5).
 * @throws LayoutError
 */
export async function resolveParameterLayouts(
  binary: BinaryTables,
  parameters: readonly SignatureToken[],
  typeArguments: readonly TypeTag[],
  lookup: ModuleLookup,
): Promise<DecodeLayout[]> {
  const resolver = new DecodeResolver(lookup);
  const resolvedArguments: Resolved[] = [];
  for (const tag of typeArguments) resolvedArguments.push(await resolver.tag(tag, 0));
  const layouts: DecodeLayout[] = [];
  for (const token of parameters) {
    if (token.kind === 'signer' || isSignerReference(token)) continue;
    const { layout } = await resolver.token(binary, token, resolvedArguments, 0);
    if (layout.kind !== 'function') layouts.push(layout);
  }
  return layouts;
}

function isSignerReference(token: SignatureToken): boolean {
  return token.kind === 'reference' && !token.mutable && token.to.kind === 'signer';
}

const PRIMITIVES: ReadonlyMap<PrimitiveKind, Resolved> = new Map(
  PRIMITIVE_KINDS.map((kind) => [kind, leaf({ kind })]),
);
const FUNCTION = leaf({ kind: 'function' });
const BYTES = leaf({ kind: 'bytes' });

function leaf(layout: DecodeLayout): Resolved {
  return { layout, id: layout.kind, tagBytes: 0, costBytes: 0, height: 0 };
}

class DecodeResolver {
  readonly #lookup: ModuleLookup;
  readonly #modules = new Map<string, CompiledModule>();
  /** Types by their structure; `undefined` while a type is being laid out. */
  readonly #types = new Map<string, Resolved | undefined>();
  #leftBytes = LAYOUT_BUDGET_BYTES;
  #lastId = 0;
  #tokens = 0;

  constructor(lookup: ModuleLookup) {
    this.#lookup = lookup;
  }

  async tag(tag: TypeTag, depth: number): Promise<Resolved> {
    this.#visit(depth);
    switch (tag.kind) {
      case 'vector':
        return this.#vector(await this.tag(tag.element, depth + 1));
      case 'struct': {
        const { address, module, name, typeArguments } = tag.struct;
        const found = await this.#find({ address, name: module }, name);
        const resolved: Resolved[] = [];
        for (const argument of typeArguments) resolved.push(await this.tag(argument, depth + 1));
        return this.#struct(found, resolved, depth);
      }
      case 'function':
        // The captured values are described in the closure itself, but the types must exist.
        for (const part of [...tag.args, ...tag.results]) {
          await this.tag(part.kind === 'reference' ? part.to : part, depth + 1);
        }
        return FUNCTION;
      default:
        return PRIMITIVES.get(tag.kind)!;
    }
  }

  async token(
    module: BinaryTables,
    token: SignatureToken,
    typeArguments: readonly Resolved[],
    depth: number,
  ): Promise<Resolved> {
    this.#visit(depth);
    switch (token.kind) {
      case 'vector':
        return this.#vector(await this.token(module, token.element, typeArguments, depth + 1));
      case 'struct': {
        const { module: id, name } = structPathOfHandle(module, token.handle);
        const found = await this.#find(id, name);
        const resolved: Resolved[] = [];
        for (const argument of token.typeArguments) {
          resolved.push(await this.token(module, argument, typeArguments, depth + 1));
        }
        return this.#struct(found, resolved, depth);
      }
      case 'typeParameter': {
        const argument = typeArguments[token.index];
        if (argument === undefined)
          throw missingArgument('ABORT_TYPE_MISMATCH_ERROR', 'Verification');
        this.#charge(argument.costBytes);
        return argument;
      }
      case 'function':
        for (const part of [...token.args, ...token.results]) {
          const type = part.kind === 'reference' ? part.to : part;
          await this.token(module, type, typeArguments, depth + 1);
        }
        return FUNCTION;
      case 'reference':
        throw new LayoutError('reference', 'Unexpected Reference');
      default:
        return PRIMITIVES.get(token.kind)!;
    }
  }

  #vector(element: Resolved): Resolved {
    if (element.layout.kind === 'u8') return BYTES;
    const id = `vector<${element.id}>`;
    const known = this.#types.get(id);
    if (known !== undefined) return known;
    const { tagBytes, costBytes } = element;
    const layout: DecodeLayout = { kind: 'vector', element: element.layout, tagBytes };
    const height = above(element.height);
    return this.#remember(id, { layout, id: this.#newId(), tagBytes, costBytes, height });
  }

  async #struct(
    found: FoundStruct,
    givenArguments: readonly Resolved[],
    depth: number,
  ): Promise<Resolved> {
    const { id, name, definition } = found;
    if (definition.kind === 'native') {
      throw new LayoutError('native_struct', 'Unexpected Native Struct');
    }
    const declared = found.handle.typeParameters.length;
    const typeArguments = givenArguments.slice(0, declared);
    const key = structKey(found, typeArguments);
    const known = this.#types.get(key);
    if (known !== undefined) {
      this.#charge(known.costBytes);
      return known;
    }
    // A type that contains itself would exhaust any budget.
    if (this.#types.has(key)) throw tooLarge();
    this.#remember(key, undefined);
    const nameBytes = ADDRESS_COST_BYTES + id.name.length + name.length;
    this.#charge(nameBytes);
    const before = this.#leftBytes;
    const variants = await this.#variants(found, typeArguments, depth);
    if (typeArguments.length < declared) {
      throw missingArgument('UNKNOWN_INVARIANT_VIOLATION_ERROR', 'Invariant violation');
    }
    const tagBytes = typeArguments.reduce((sum, { tagBytes: more }) => sum + more, nameBytes);
    return this.#remember(key, {
      layout: structLayout(found, variants, tagBytes),
      id: this.#newId(),
      tagBytes,
      costBytes: nameBytes + before - this.#leftBytes,
      height: above(Math.max(0, ...variants.map((variant) => variant.height))),
    });
  }

  /** The fields of each variant; a struct is one variant without a name. */
  async #variants(
    { module, definition }: FoundStruct,
    typeArguments: readonly Resolved[],
    depth: number,
  ): Promise<ResolvedVariant[]> {
    const list: readonly (Pick<VariantDefinition, 'fields'> & { name?: number })[] =
      definition.kind === 'enum'
        ? definition.variants
        : [{ fields: definition.kind === 'struct' ? definition.fields : [] }];
    const variants: ResolvedVariant[] = [];
    for (const variant of list) {
      const name = variant.name === undefined ? '' : module.identifiers[variant.name]!;
      const { fields, height } = await this.#fields(module, variant.fields, typeArguments, depth);
      const nameBytes = fields.reduce((sum, field) => sum + field.name.length, name.length);
      this.#charge(nameBytes);
      variants.push({ name, fields, nameBytes, height });
    }
    return variants;
  }

  async #fields(
    module: CompiledModule,
    definitions: readonly FieldDefinition[],
    typeArguments: readonly Resolved[],
    depth: number,
  ): Promise<{ fields: NamedField[]; height: number }> {
    const fields: NamedField[] = [];
    let height = 0;
    for (const { name, type } of definitions) {
      const resolved = await this.token(module, type, typeArguments, depth + 1);
      fields.push({ name: module.identifiers[name]!, layout: resolved.layout });
      height = Math.max(height, resolved.height);
    }
    return { fields, height };
  }

  async #find(id: ModuleId, name: string): Promise<FoundStruct> {
    const found = findStruct(await this.#module(id), name);
    if (found !== undefined) return found;
    throw new LayoutError(
      'struct_not_found',
      `Struct IdentStr(${debugString(name)}) not found in ${debugModuleId(id)}`,
    );
  }

  async #module(id: ModuleId): Promise<CompiledModule> {
    const key = `${id.address}::${id.name}`;
    const known = this.#modules.get(key);
    if (known !== undefined) return known;
    let module: CompiledModule | undefined;
    try {
      module = await this.#lookup(id);
    } catch (error) {
      if (!(error instanceof MoveError)) throw error;
      throw new LayoutError(
        'module_not_loadable',
        `Module ${debugModuleId(id)} deserialize with error code ${error.message}`,
      );
    }
    if (module === undefined) {
      throw new LayoutError('module_not_found', `Module ${debugModuleId(id)} can't be found`);
    }
    this.#modules.set(key, module);
    return module;
  }

  #remember<T extends Resolved | undefined>(key: string, resolved: T): T {
    this.#types.set(key, resolved);
    return resolved;
  }

  #visit(depth: number): void {
    checkDepth(depth);
    this.#tokens += 1;
    if (this.#tokens > MAX_LAYOUT_TOKENS) throw tooLarge();
  }

  #newId(): string {
    this.#lastId += 1;
    return `#${this.#lastId}`;
  }

  #charge(costBytes: number): void {
    this.#leftBytes -= costBytes;
    if (this.#leftBytes < 0) throw tooLarge();
  }
}

interface ResolvedVariant {
  readonly name: string;
  readonly fields: readonly NamedField[];
  readonly nameBytes: number;
  readonly height: number;
}

function structLayout(
  { id, name, definition }: FoundStruct,
  variants: readonly ResolvedVariant[],
  tagBytes: number,
): DecodeLayout {
  if (definition.kind !== 'enum') {
    const { fields, nameBytes } = variants[0]!;
    const isText = fields.length === 1 && fields[0]!.layout.kind === 'bytes';
    if (isText && isStringStruct(id, name)) {
      return { kind: 'string', tagBytes: tagBytes + nameBytes };
    }
    return { kind: 'struct', template: objectTemplate(fields, undefined, nameBytes), tagBytes };
  }
  const isOption = name === 'Option' && isOptionModule(id);
  const templates = variants.map((variant) => {
    if (isOption) return optionTemplate(variant.fields, variant.nameBytes);
    const fixed = { name: '__variant__', json: JSON.stringify(variant.name) };
    return objectTemplate(variant.fields, fixed, variant.nameBytes);
  });
  return { kind: 'enum', variants: templates, tagBytes };
}

function structKey(found: FoundStruct, typeArguments: readonly Resolved[]): string {
  const address = found.id.address === ADDRESS_ONE ? '1' : found.id.address;
  const ids = typeArguments.map((argument) => argument.id).join(',');
  return `${address}::${found.id.name}::${found.name}<${ids}>`;
}

/** The height of a type around one of a given height. */
function above(height: number): number {
  checkDepth(height + 1);
  return height + 1;
}

function checkDepth(depth: number): void {
  if (depth <= MAX_LAYOUT_DEPTH) return;
  throw new LayoutError('too_deep', `type nests more than ${MAX_LAYOUT_DEPTH} levels deep`);
}

function tooLarge(): LayoutError {
  return new LayoutError('too_large', 'Query exceeds size limit');
}

/** The reference notices a missing type argument late, as a status of its virtual machine (docs/spec/encode.md §B2). */
function missingArgument(status: string, type: string): LayoutError {
  return new LayoutError('type_argument_count', `status ${status} of type ${type}`);
}
