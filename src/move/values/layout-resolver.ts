/** Resolves layouts by the rules for shown values or by those for arguments (layout-rules.ts). */
import type { MaybePromise } from '../../maybe-promise.ts';
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
import { ADDRESS_ONE } from '../types/address.ts';
import { isFrameworkStruct } from '../types/framework-tag.ts';
import { type ModuleId, moduleKey } from '../types/module-id.ts';
import { PRIMITIVE_KINDS, type PrimitiveKind, type TypeTag } from '../types/type-tag.ts';
import {
  ADDRESS_COST_BYTES,
  type FoundStruct,
  findStruct,
  isOptionModule,
  type Layout,
  LayoutError,
  type LayoutField,
  MAX_LAYOUT_DEPTH,
  variantsOf,
} from './layout.ts';
import {
  ARGUMENT_RULES,
  JSON_RULES,
  type LayoutRules,
  type ResolvedVariant,
} from './layout-rules.ts';

/**
 * Most types visited for one layout: each type of the tag, and each type token of each different struct's fields.
 * The byte budget alone would let a hostile module take many seconds; real layouts have at most 144.
 */
export const MAX_LAYOUT_TOKENS = 50_000;

/**
 * The layout of values that are shown.
 * @throws LayoutError: `module_not_found`, `module_not_loadable`, `struct_not_found`, `type_argument_count`,
 * `native_struct`, `reference`, `too_large`, `too_deep`.
 */
export async function resolveLayout(tag: TypeTag, lookup: ModuleLookup): Promise<Layout> {
  return (await new LayoutResolver(lookup, JSON_RULES).type(tag, 0)).layout;
}

/**
 * The layouts of those parameters of a function or script that have an argument: not of `signer`, `&signer` and
 * function types. Without type arguments, type parameters are not substituted (docs/spec/transactions.md §2.5).
 * @throws LayoutError
 */
export async function resolveParameterLayouts(
  binary: BinaryTables,
  parameters: readonly SignatureToken[],
  typeArguments: readonly TypeTag[],
  lookup: ModuleLookup,
): Promise<Layout[]> {
  const resolver = new LayoutResolver(lookup, JSON_RULES);
  const resolved: ResolvedLayout[] = [];
  for (const tag of typeArguments) resolved.push(await resolver.type(tag, 0));
  const layouts: Layout[] = [];
  for (const token of parameters) {
    if (token.kind === 'signer' || isSignerReference(token)) continue;
    const { layout } = await resolver.type(token, 0, { binary, typeArguments: resolved });
    if (layout.kind !== 'function') layouts.push(layout);
  }
  return layouts;
}

function isSignerReference(token: SignatureToken): boolean {
  return token.kind === 'reference' && !token.mutable && token.to.kind === 'signer';
}

/**
 * The layout of a type inside an argument.
 * @throws LayoutError: `module_not_found`, `struct_not_found`, `type_argument_count`, `native_struct`, `reference`,
 * `signer`, `function_type`, `bad_option`, `too_large`. A module that does not load counts as not found.
 */
export async function resolveInnerArgumentLayout(
  tag: TypeTag,
  lookup: ModuleLookup,
): Promise<Layout> {
  return (await new LayoutResolver(lookup, ARGUMENT_RULES).type(tag, 0)).layout;
}

/**
 * The layout of a whole argument, synchronously if no module is needed: `0x1::object::Object<T>` is an address, and T
 * is not looked up (docs/spec/encode.md §A4, docs/spec/move.md §4.4). Throws or rejects as resolveInnerArgumentLayout.
 */
export function resolveArgumentLayout(tag: TypeTag, lookup: ModuleLookup): MaybePromise<Layout> {
  switch (tag.kind) {
    case 'struct':
      return isFrameworkStruct(tag.struct, 'object', 'Object')
        ? { kind: 'address' }
        : resolveInnerArgumentLayout(tag, lookup);
    case 'vector':
      return tag.element.kind === 'u8' ? BYTES.layout : resolveInnerArgumentLayout(tag, lookup);
    case 'function':
      return FUNCTION.layout;
    case 'signer':
      throw noSigner();
    default:
      return PRIMITIVES.get(tag.kind)!.layout;
  }
}

function noSigner(): LayoutError {
  return new LayoutError('signer', 'Type layouts cannot contain signer');
}

interface ResolvedLayout {
  readonly layout: Layout;
  /** Equal types have the same id, so that they are laid out once. */
  readonly id: string;
  /** Charged to the budget each time the type is used again. */
  readonly cost: number;
  /** The cost of showing the type of one value. */
  readonly tagBytes: number;
  /** How deeply types nest below this one. */
  readonly height: number;
}

function leaf(layout: Layout): ResolvedLayout {
  return { layout, id: layout.kind, cost: 0, tagBytes: 0, height: 0 };
}

const PRIMITIVES: ReadonlyMap<PrimitiveKind, ResolvedLayout> = new Map(
  PRIMITIVE_KINDS.map((kind) => [kind, leaf({ kind })]),
);
const FUNCTION = leaf({ kind: 'function' });
const BYTES = leaf({ kind: 'bytes' });

/** The binary that contains a type, and the type arguments there. */
interface Scope {
  readonly binary: BinaryTables;
  readonly typeArguments: readonly ResolvedLayout[];
}

class LayoutResolver {
  readonly #lookup: ModuleLookup;
  readonly #rules: LayoutRules;
  readonly #modules = new Map<string, CompiledModule>();
  /** Types by their structure; `undefined` while a type is being laid out. */
  readonly #types = new Map<string, ResolvedLayout | undefined>();
  #budgetLeft: number;
  #lastId = 0;
  #tokens = 0;

  constructor(lookup: ModuleLookup, rules: LayoutRules) {
    this.#lookup = lookup;
    this.#rules = rules;
    this.#budgetLeft = rules.budget;
  }

  /** @param scope absent for a type tag, present for a token */
  async type(
    type: TypeTag | SignatureToken,
    depth: number,
    scope?: Scope,
  ): Promise<ResolvedLayout> {
    this.#visit(depth);
    const { countsNodes, hasOnlyData, resolvesStructLast, reference } = this.#rules;
    switch (type.kind) {
      case 'vector':
        return this.#vector(await this.type(type.element, depth + 1, scope));
      case 'struct': {
        const { module, name } = structPathOf(type, scope);
        const parts = 'struct' in type ? type.struct.typeArguments : type.typeArguments;
        const early = resolvesStructLast ? undefined : await this.#find(module, name);
        const typeArguments: ResolvedLayout[] = [];
        for (const part of parts) typeArguments.push(await this.type(part, depth + 1, scope));
        return this.#struct(early ?? (await this.#find(module, name)), typeArguments, depth);
      }
      case 'typeParameter': {
        const argument = scope!.typeArguments[type.index];
        if (argument === undefined) {
          throw missingArgument('ABORT_TYPE_MISMATCH_ERROR', 'Verification');
        }
        // It counts as one node, whatever it stands for.
        if (!countsNodes) this.#charge(argument.cost);
        return argument;
      }
      case 'function':
        if (hasOnlyData && scope !== undefined) {
          throw new LayoutError('function_type', 'function types NYI for MoveTypeLayout');
        }
        // The captured values are described in the closure itself, but the types must exist.
        for (const part of hasOnlyData ? [] : [...type.args, ...type.results]) {
          await this.type(part.kind === 'reference' ? part.to : part, depth + 1, scope);
        }
        return FUNCTION;
      case 'reference':
        throw new LayoutError('reference', reference);
      default:
        if (type.kind === 'signer' && hasOnlyData) throw noSigner();
        return PRIMITIVES.get(type.kind)!;
    }
  }

  #vector(element: ResolvedLayout): ResolvedLayout {
    if (element.layout.kind === 'u8') return BYTES;
    const id = `vector<${element.id}>`;
    const known = this.#types.get(id);
    if (known !== undefined) return known;
    const { tagBytes, cost } = element;
    const layout: Layout = { kind: 'vector', element: element.layout, tagBytes };
    const height = above(element.height);
    return this.#remember(id, { layout, id: this.#newId(), tagBytes, cost, height });
  }

  async #struct(
    found: FoundStruct,
    args: readonly ResolvedLayout[],
    depth: number,
  ): Promise<ResolvedLayout> {
    const { needsExactArguments, nativeStruct, layout } = this.#rules;
    const declared = found.handle.typeParameters.length;
    if (needsExactArguments && args.length !== declared) {
      throw new LayoutError('type_argument_count', 'Wrong number of type arguments for struct');
    }
    if (found.definition.kind === 'native') throw new LayoutError('native_struct', nativeStruct);
    const typeArguments = args.slice(0, declared);
    const key = structKey(found, typeArguments);
    const known = this.#types.get(key);
    if (known !== undefined) {
      this.#charge(known.cost);
      return known;
    }
    // A type that contains itself would exhaust any budget.
    if (this.#types.has(key)) throw this.#tooLarge();
    this.#remember(key, undefined);
    const before = this.#budgetLeft;
    const nameBytes = ADDRESS_COST_BYTES + found.id.name.length + found.name.length;
    this.#chargeNames(nameBytes);
    const variants = await this.#variants(found, typeArguments, depth);
    if (typeArguments.length < declared) {
      throw missingArgument('UNKNOWN_INVARIANT_VIOLATION_ERROR', 'Invariant violation');
    }
    const tagBytes = typeArguments.reduce((sum, { tagBytes: more }) => sum + more, nameBytes);
    const layouts = typeArguments.map((argument) => argument.layout);
    return this.#remember(key, {
      layout: layout(found, variants, layouts, tagBytes),
      id: this.#newId(),
      cost: before - this.#budgetLeft,
      tagBytes,
      height: above(Math.max(0, ...variants.map((variant) => variant.height))),
    });
  }

  async #variants(
    found: FoundStruct,
    typeArguments: readonly ResolvedLayout[],
    depth: number,
  ): Promise<VariantWithHeight[]> {
    const { id, module, definition } = found;
    const variants: VariantWithHeight[] = [];
    if (this.#rules.optionIsVector && definition.kind === 'enum' && isOptionModule(id)) {
      const { type } = valueOfOption(module, definition.variants);
      const value = await this.type(type, depth + 1, { binary: module, typeArguments });
      const { layout, height } = this.#vector(value);
      return [{ name: '', fields: [{ name: 'vec', layout }], nameBytes: 0, height }];
    }
    for (const { name, fields: definitions } of variantsOf(found)) {
      const fields: LayoutField[] = [];
      let nameBytes = name.length;
      let height = 0;
      for (const { name: index, type } of definitions) {
        const resolved = await this.type(type, depth + 1, { binary: module, typeArguments });
        const field = module.identifiers[index]!;
        fields.push({ name: field, layout: resolved.layout });
        nameBytes += field.length;
        height = Math.max(height, resolved.height);
      }
      this.#chargeNames(nameBytes);
      variants.push({ name, fields, nameBytes, height });
    }
    return variants;
  }

  async #find(id: ModuleId, name: string): Promise<FoundStruct> {
    const found = findStruct(await this.#module(id), name);
    if (found !== undefined) return found;
    throw this.#rules.structNotFound(id, name);
  }

  async #module(id: ModuleId): Promise<CompiledModule> {
    const key = moduleKey(id);
    const known = this.#modules.get(key);
    if (known !== undefined) return known;
    let module: CompiledModule | undefined;
    try {
      module = await this.#lookup(id);
    } catch (error) {
      if (!(error instanceof MoveError)) throw error;
      throw this.#rules.moduleNotLoadable(id, error);
    }
    if (module === undefined) throw this.#rules.moduleNotFound(id);
    this.#modules.set(key, module);
    return module;
  }

  #remember<T extends ResolvedLayout | undefined>(key: string, resolved: T): T {
    this.#types.set(key, resolved);
    return resolved;
  }

  #visit(depth: number): void {
    if (this.#rules.countsNodes) this.#charge(1);
    checkDepth(depth);
    this.#tokens += 1;
    if (this.#tokens > MAX_LAYOUT_TOKENS) throw this.#tooLarge();
  }

  #newId(): string {
    this.#lastId += 1;
    return `#${this.#lastId}`;
  }

  #chargeNames(bytes: number): void {
    if (!this.#rules.countsNodes) this.#charge(bytes);
  }

  #charge(cost: number): void {
    this.#budgetLeft -= cost;
    if (this.#budgetLeft < 0) throw this.#tooLarge();
  }

  #tooLarge(): LayoutError {
    return new LayoutError('too_large', this.#rules.tooLarge);
  }
}

interface VariantWithHeight extends ResolvedVariant {
  readonly height: number;
}

function structPathOf(
  type: (TypeTag | SignatureToken) & { readonly kind: 'struct' },
  scope: Scope | undefined,
): { readonly module: ModuleId; readonly name: string } {
  if (!('struct' in type)) return structPathOfHandle(scope!.binary, type.handle);
  const { address, module, name } = type.struct;
  return { module: { address, name: module }, name };
}

/** The only field of the variant Some, whose enum is a vector in arguments. */
function valueOfOption(
  { identifiers }: CompiledModule,
  variants: readonly VariantDefinition[],
): FieldDefinition {
  const some = variants[1];
  if (variants.length !== 2 || some === undefined) {
    throw new LayoutError('bad_option', 'Option must have exactly two variants');
  }
  if (identifiers[some.name] !== 'Some') {
    throw new LayoutError('bad_option', 'Variant name must be `Some`');
  }
  const [value] = some.fields;
  if (some.fields.length !== 1 || value === undefined) {
    throw new LayoutError('bad_option', 'Variant `Some` must have exactly one field');
  }
  return value;
}

function structKey(found: FoundStruct, typeArguments: readonly ResolvedLayout[]): string {
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

/** The reference notices a missing type argument late, as a status of its virtual machine (docs/spec/encode.md §B2). */
function missingArgument(status: string, type: string): LayoutError {
  return new LayoutError('type_argument_count', `status ${status} of type ${type}`);
}
