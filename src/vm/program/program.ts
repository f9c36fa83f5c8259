/**
 * The linked modules of one version: functions, types and layouts that code looks up while it runs. Shared by all runs
 * at that version; what it caches follows from the modules alone.
 */
import { CACHE_BUDGETS } from '../../cache.ts';
import { andThen, type MaybePromise, settle } from '../../maybe-promise.ts';
import {
  type BinaryTables,
  type Instantiation,
  moduleIdOfHandle,
  type SignatureToken,
  structPathOfHandle,
} from '../../move/modules/compiled.ts';
import { BinaryFormatError } from '../../move/modules/format.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { type ModuleId, moduleKey } from '../../move/types/module-id.ts';
import { formatStructPath } from '../../move/types/move-type.ts';
import type {
  AbilitySet,
  FunctionTypePart,
  StructTag,
  TypeTag,
} from '../../move/types/type-tag.ts';
import type { Layout } from '../../move/values/layout.ts';
import { VmError } from '../status/status.ts';
import type { Type } from '../verifier/model/type-table.ts';
import { abilitiesOf } from './abilities.ts';
import { makeLayout } from './layouts.ts';
import { Callee, checkLink, type LoadedFunction, LoadedModule, TypeList } from './loaded-module.ts';
import { VmType } from './vm-type.ts';

const MAX_TYPE_NODES = 128;
const MAX_TYPE_DEPTH = 20;
/**
 * Maximum number of types, lists of types, and links with type arguments that one program caches; a run that needs
 * more is refused.
 */
export const MAX_PROGRAM_ENTRIES = 131_072;
/** Measured: 450 for a list of types, 690 for a type with its text. */
const ENTRY_BYTES = 700;
/** A program that caches more is not used for another run. */
export const MAX_REUSED_ENTRIES = Math.floor(CACHE_BUDGETS.program.bytes / ENTRY_BYTES);
/** Entries that count for a function called from outside, whose callers cache what follows from its types. */
const CALLEE_ENTRIES = 4;

export class Program {
  readonly modules: ModuleLookup;
  readonly noTypes: TypeList;
  readonly #loaded = new Map<string, LoadedModule>();
  readonly #types = new Map<string, VmType>();
  readonly #lists = new Map<string, TypeList>();
  #entries = 0;

  constructor(modules: ModuleLookup) {
    this.modules = modules;
    this.noTypes = new TypeList([]);
    this.#lists.set('', this.noTypes);
  }

  /** Whether it caches so much that another program should replace it. */
  get isOverBudget(): boolean {
    return this.#entries > MAX_REUSED_ENTRIES;
  }

  /** @throws VmError LINKER_ERROR, or rejects with it */
  module(id: ModuleId): MaybePromise<LoadedModule> {
    const key = moduleKey(id);
    const known = this.#loaded.get(key);
    if (known !== undefined) return known;
    return settle(
      () => this.modules(id),
      (compiled) => {
        if (compiled === undefined) throw missingModule(id);
        let loaded = this.#loaded.get(key);
        if (loaded === undefined) {
          loaded = new LoadedModule(compiled);
          this.#loaded.set(key, loaded);
        }
        return loaded;
      },
      (failure) => {
        if (failure instanceof BinaryFormatError) throw missingModule(id);
        throw failure;
      },
    );
  }

  /** @throws VmError LINKER_ERROR, FUNCTION_RESOLUTION_FAILURE, or rejects with it */
  function(id: ModuleId, name: string): MaybePromise<LoadedFunction> {
    return andThen(this.module(id), (module) => {
      const found = module.function(name);
      if (found !== undefined) return found;
      const text = `Function ${formatStructPath(id, name)} does not exist`;
      throw new VmError('FUNCTION_RESOLUTION_FAILURE', { text });
    });
  }

  /** A list of types, always the same object. @throws VmError above the limits of types */
  typeList(types: readonly VmType[]): TypeList {
    if (types.length === 0) return this.noTypes;
    const key = types.map(({ id }) => id).join(',');
    let list = this.#lists.get(key);
    if (list === undefined) {
      this.#count();
      list = new TypeList(types);
      this.#lists.set(key, list);
    }
    return list;
  }

  /** The type of a tag, without checking that it exists. @throws VmError above the limits of types */
  type(tag: TypeTag): VmType {
    switch (tag.kind) {
      case 'vector':
        return this.vectorOf(this.type(tag.element));
      case 'struct':
        return this.struct(
          tag.struct,
          tag.struct.typeArguments.map((argument) => this.type(argument)),
        );
      case 'function':
        return this.#functionType(
          tag.args.map((part) => this.#part(part, (to) => this.type(to))),
          tag.results.map((part) => this.#part(part, (to) => this.type(to))),
          tag.abilities,
        );
      default:
        return this.#type(tag.kind, tag, []);
    }
  }

  /** A token's type with type arguments substituted. @throws VmError for references, and above the limits of types */
  typeOfToken(
    tables: BinaryTables,
    token: SignatureToken,
    typeArguments: readonly VmType[],
  ): VmType {
    const inner = (part: SignatureToken) => this.typeOfToken(tables, part, typeArguments);
    switch (token.kind) {
      case 'vector':
        return this.vectorOf(inner(token.element));
      case 'typeParameter':
        return typeArguments[token.index]!;
      case 'struct': {
        const { module, name } = structPathOfHandle(tables, token.handle);
        const path = { address: module.address, module: module.name, name };
        return this.struct(path, token.typeArguments.map(inner));
      }
      case 'function': {
        const part = (one: SignatureToken): TypePart =>
          one.kind === 'reference'
            ? { type: inner(one.to), mutable: one.mutable }
            : { type: inner(one), mutable: undefined };
        return this.#functionType(token.args.map(part), token.results.map(part), token.abilities);
      }
      case 'reference':
        throw new VmError('VERIFICATION_ERROR', { text: 'reference inside a type' });
      default:
        return this.#type(token.kind, token, []);
    }
  }

  vectorOf(element: VmType): VmType {
    const key = `[${element.id}`;
    return (
      this.#types.get(key) ?? this.#type(key, { kind: 'vector', element: element.tag }, [element])
    );
  }

  struct(
    path: Pick<StructTag, 'address' | 'module' | 'name'>,
    typeArguments: readonly VmType[],
  ): VmType {
    const { address, module, name } = path;
    const ids = typeArguments.map(({ id }) => id).join(',');
    const key = `${address}::${module}::${name}<${ids}`;
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    const struct = { address, module, name, typeArguments: typeArguments.map(({ tag }) => tag) };
    return this.#type(key, { kind: 'struct', struct }, typeArguments);
  }

  /** The layout of values of a type. @throws VmError for a type that does not exist; or rejects with it */
  layout(type: VmType): MaybePromise<Layout> {
    return makeLayout(this, type);
  }

  /** The layout of a type that the check of code has found. @throws VmError; or rejects with it */
  checkedLayout(from: LoadedModule, type: Type, typeArguments: TypeList): MaybePromise<Layout> {
    if (type.kind === 'function') return { kind: 'function' };
    if (type.kind === 'vector' && type.parts[0]!.kind === 'function') {
      return { kind: 'vector', element: { kind: 'function' } };
    }
    return this.layout(this.#typeOfChecked(from, type, typeArguments));
  }

  #typeOfChecked(from: LoadedModule, type: Type, typeArguments: TypeList): VmType {
    const parts = () => type.parts.map((part) => this.#typeOfChecked(from, part, typeArguments));
    switch (type.kind) {
      case 'typeParameter':
        return typeArguments.types[type.index]!;
      case 'vector':
        return this.vectorOf(parts()[0]!);
      case 'struct': {
        const { module, name } = structPathOfHandle(from.compiled, type.index);
        return this.struct({ address: module.address, module: module.name, name }, parts());
      }
      case 'reference':
      case 'function':
        throw new VmError('VERIFICATION_ERROR', { text: 'no type of a value' });
      default:
        return this.type({ kind: type.kind });
    }
  }

  /** @throws VmError for a type that does not exist; or rejects with it */
  abilities(type: VmType): MaybePromise<AbilitySet> {
    return abilitiesOf(this, type);
  }

  /** A function with type arguments, always the same object. @throws VmError above the limits of types */
  callee(target: LoadedFunction, types: readonly VmType[]): Callee {
    const list = this.typeList(types);
    let callee = list.callees.get(target);
    if (callee === undefined) {
      callee = new Callee(target, list);
      list.callees.set(target, callee);
    }
    return callee;
  }

  /** The same for a call from outside. @throws VmError above the limits of types */
  outerCallee(target: LoadedFunction, types: readonly VmType[]): Callee {
    if (!this.typeList(types).callees.has(target)) this.#count(CALLEE_ENTRIES);
    return this.callee(target, types);
  }

  /** Links a function handle to the function that it names. @throws VmError; or rejects with it */
  link(from: LoadedModule, handleIndex: number): MaybePromise<Callee> {
    const known = from.callees[handleIndex];
    if (known !== undefined) return known;
    const { compiled } = from;
    const handle = compiled.functionHandles[handleIndex]!;
    const id = moduleIdOfHandle(compiled, compiled.moduleHandles[handle.module]!);
    return andThen(this.function(id, compiled.identifiers[handle.name]!), (target) => {
      checkLink(from, handle, target);
      const callee = this.callee(target, []);
      from.callees[handleIndex] = callee;
      return callee;
    });
  }

  /** The same with type arguments, into which the caller's are substituted. @throws VmError; or rejects with it */
  linkGeneric(
    from: LoadedModule,
    instantiation: Instantiation,
    typeArguments: TypeList,
  ): MaybePromise<Callee> {
    const known = typeArguments.callees.get(instantiation);
    if (known !== undefined) return known;
    return andThen(this.link(from, instantiation.handle), ({ function: target }) => {
      const types = this.instantiate(from, instantiation.signature, typeArguments);
      const callee = this.callee(target, types);
      this.#count();
      typeArguments.callees.set(instantiation, callee);
      return callee;
    });
  }

  /** The types of a signature with type arguments substituted. @throws VmError as typeOfToken */
  instantiate(from: LoadedModule, signature: number, { types }: TypeList): VmType[] {
    const tokens = from.compiled.signatures[signature]!;
    return tokens.map((token) => this.typeOfToken(from.compiled, token, types));
  }

  definedStruct(from: LoadedModule, definition: number): VmType {
    let type = from.structs[definition];
    if (type === undefined) {
      type = this.#structOfDefinition(from, definition, []);
      from.structs[definition] = type;
    }
    return type;
  }

  /** The type of an instantiation of a struct definition. @throws VmError as typeOfToken */
  definedGenericStruct(
    from: LoadedModule,
    instantiation: Instantiation,
    typeArguments: TypeList,
  ): VmType {
    return this.variantStruct(from, instantiation, instantiation.handle, typeArguments);
  }

  /** The type of an instantiation of a variant of an enum. @throws VmError as typeOfToken */
  variantStruct(
    from: LoadedModule,
    instantiation: Instantiation,
    definition: number,
    typeArguments: TypeList,
  ): VmType {
    let type = typeArguments.instances.get(instantiation);
    if (type === undefined) {
      const types = this.instantiate(from, instantiation.signature, typeArguments);
      type = this.#structOfDefinition(from, definition, types);
      this.#count();
      typeArguments.instances.set(instantiation, type);
    }
    return type;
  }

  /** The type of vectors of the one type of a signature. @throws VmError as typeOfToken */
  vectorOfSignature(from: LoadedModule, signature: number, typeArguments: TypeList): VmType {
    const tokens = from.compiled.signatures[signature]!;
    let type = typeArguments.instances.get(tokens);
    if (type === undefined) {
      type = this.vectorOf(this.typeOfToken(from.compiled, tokens[0]!, typeArguments.types));
      this.#count();
      typeArguments.instances.set(tokens, type);
    }
    return type;
  }

  #structOfDefinition(from: LoadedModule, definition: number, types: readonly VmType[]): VmType {
    const { handle } = from.compiled.structDefinitions[definition]!;
    const { module, name } = structPathOfHandle(from.compiled, handle);
    return this.struct({ address: module.address, module: module.name, name }, types);
  }

  #part(part: FunctionTypePart, type: (tag: TypeTag) => VmType): TypePart {
    return part.kind === 'reference'
      ? { type: type(part.to), mutable: part.mutable }
      : { type: type(part), mutable: undefined };
  }

  #functionType(
    args: readonly TypePart[],
    results: readonly TypePart[],
    abilities: AbilitySet,
  ): VmType {
    const text = (parts: readonly TypePart[]) =>
      parts.map(({ type, mutable }) => `${mutable === undefined ? '' : mutable}${type.id}`).join();
    const key = `|${text(args)}|${text(results)}|${abilities}`;
    const tag: TypeTag = {
      kind: 'function',
      args: args.map(tagOfPart),
      results: results.map(tagOfPart),
      abilities,
    };
    return this.#type(
      key,
      tag,
      [...args, ...results].map(({ type }) => type),
    );
  }

  #type(key: string, tag: TypeTag, parts: readonly VmType[]): VmType {
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    this.#count();
    const type = new VmType(this.#types.size, tag, parts);
    if (type.nodes > MAX_TYPE_NODES) throw new VmError('VM_MAX_TYPE_NODES_REACHED');
    if (type.depth > MAX_TYPE_DEPTH) throw new VmError('VM_MAX_TYPE_DEPTH_REACHED');
    this.#types.set(key, type);
    return type;
  }

  #count(entries = 1): void {
    if (this.#entries + entries > MAX_PROGRAM_ENTRIES) {
      throw new VmError('VM_MAX_TYPE_NODES_REACHED', { text: 'too many types' });
    }
    this.#entries += entries;
  }
}

interface TypePart {
  readonly type: VmType;
  /** Absent unless it is a reference. */
  readonly mutable: boolean | undefined;
}

function tagOfPart({ type, mutable }: TypePart): FunctionTypePart {
  return mutable === undefined ? type.tag : { kind: 'reference', mutable, to: type.tag };
}

export function missingModule({ address, name }: ModuleId): VmError {
  return new VmError('LINKER_ERROR', {
    text: `Linker Error: Module ${address}::${name} doesn't exist`,
  });
}
