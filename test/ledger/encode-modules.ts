/** Modules with entry functions, built from type texts, for encoder tests without a real ledger. */

import { randomUUID } from 'node:crypto';

import type {
  CompiledModule,
  FunctionDefinition,
  FunctionHandle,
  SignatureToken,
  StructHandle,
  Visibility,
} from '../../src/move/modules/compiled.ts';
import type { ModuleLookup } from '../../src/move/modules/lookup.ts';
import { parseAddress } from '../../src/move/types/address.ts';
import type { ModuleId } from '../../src/move/types/module-id.ts';
import type { MoveType } from '../../src/move/types/move-type.ts';
import { readMoveType } from '../../src/move/types/type-parser.ts';
import { moduleLookup, OLD_FRAMEWORK, type Source } from '../move/values/layout-modules.ts';

/** One function. Parameters are type texts, which may also be `T0`, `i64`, … */
export interface FunctionSource {
  readonly parameters: readonly string[];
  readonly typeParameters?: number;
  /** True when absent. */
  readonly isEntry?: boolean;
  readonly visibility?: Visibility;
}

/** Functions by full name, such as `0x1::coin::transfer`. */
export type Functions = Readonly<Record<string, FunctionSource | readonly FunctionSource[]>>;

/** A lookup of modules with the given functions and structs. Each module is always the same object. */
export function ledgerOf(functions: Functions, structs: Source = OLD_FRAMEWORK): ModuleLookup {
  const placeholders = Object.keys(functions).map((path) => {
    const module = path.slice(0, path.lastIndexOf('::'));
    return [`${module}::PlaceholderOfModule`, { fields: [] }] as const;
  });
  const bare = moduleLookup({ ...Object.fromEntries(placeholders), ...structs });
  const made = new Map<string, CompiledModule>();
  return (id) => {
    const key = `${id.address}::${id.name}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const base = bare(id) as CompiledModule | undefined;
    if (base === undefined) return undefined;
    const module = new FunctionAdder(base).add(id, functions);
    made.set(key, module);
    return module;
  };
}

/** Types that the text grammar lacks are written as structs of 0x0 and replaced afterwards. */
function parseParameter(text: string): MoveType {
  return restore(
    readMoveType(text.replaceAll(/\b(T\d+|i(?:8|16|32|64|128|256))\b/g, '0x0::x::$1')),
  );
}

function restore(type: MoveType): MoveType {
  if (type.kind === 'reference') return { ...type, to: restore(type.to) };
  if (type.kind === 'vector') return { kind: 'vector', element: restore(type.element) };
  if (type.kind !== 'struct') return type;
  const { name, module, typeArguments } = type.struct;
  if (module === 'x' && name.startsWith('T')) {
    return { kind: 'typeParameter', index: Number(name.slice(1)) };
  }
  if (module === 'x') return { kind: name as 'i8' };
  return { kind: 'struct', struct: { ...type.struct, typeArguments: typeArguments.map(restore) } };
}

class FunctionAdder {
  readonly #module: CompiledModule;
  readonly #identifiers: string[];
  readonly #addresses: string[];
  readonly #moduleHandles: { address: number; name: number }[];
  readonly #structHandles: StructHandle[];
  readonly #handles: FunctionHandle[] = [];
  readonly #definitions: FunctionDefinition[] = [];
  readonly #signatures: SignatureToken[][] = [[]];

  constructor(module: CompiledModule) {
    this.#module = module;
    this.#identifiers = [...module.identifiers];
    this.#addresses = [...module.addresses];
    this.#moduleHandles = [...module.moduleHandles];
    this.#structHandles = [...module.structHandles];
  }

  add(id: ModuleId, functions: Functions): CompiledModule {
    for (const [path, sources] of Object.entries(functions)) {
      const [address = '', module = '', name = ''] = path.split('::');
      if (parseAddress(address) !== id.address || module !== id.name) continue;
      for (const source of [sources].flat()) this.#define(name, source as FunctionSource);
    }
    return {
      ...this.#module,
      digest: `made by hand, ${randomUUID()}`,
      identifiers: this.#identifiers,
      addresses: this.#addresses,
      moduleHandles: this.#moduleHandles,
      structHandles: this.#structHandles,
      functionHandles: this.#handles,
      functionDefinitions: this.#definitions,
      signatures: this.#signatures,
    };
  }

  #define(name: string, source: FunctionSource): void {
    const tokens = source.parameters.map((text) => this.#token(parseParameter(text)));
    const parameters = this.#signatures.push(tokens) - 1;
    const typeParameters = Array.from({ length: source.typeParameters ?? 0 }, () => 0);
    const handle =
      this.#handles.push({
        module: this.#module.selfHandle,
        name: this.#identifiers.push(name) - 1,
        parameters,
        return: 0,
        typeParameters,
        attributes: [],
      }) - 1;
    const visibility = source.visibility ?? 'public';
    const isEntry = source.isEntry ?? true;
    this.#definitions.push({ handle, visibility, isEntry, isNative: true, acquires: [] });
  }

  #token(type: MoveType): SignatureToken {
    switch (type.kind) {
      case 'vector':
        return { kind: 'vector', element: this.#token(type.element) };
      case 'reference':
        return { kind: 'reference', mutable: type.mutable, to: this.#token(type.to) };
      case 'struct': {
        const { address, module, name } = type.struct;
        const typeArguments = type.struct.typeArguments.map((argument) => this.#token(argument));
        const moduleHandle =
          this.#moduleHandles.push({
            address: this.#addresses.push(address) - 1,
            name: this.#identifiers.push(module) - 1,
          }) - 1;
        const handle =
          this.#structHandles.push({
            module: moduleHandle,
            name: this.#identifiers.push(name) - 1,
            abilities: 0,
            typeParameters: typeArguments.map(() => ({ constraints: 0, isPhantom: false })),
          }) - 1;
        return { kind: 'struct', handle, instantiated: typeArguments.length > 0, typeArguments };
      }
      case 'function':
      case 'unparsable':
        throw new TypeError(`no parameter of a test: ${type.kind}`);
      default:
        return type;
    }
  }
}
