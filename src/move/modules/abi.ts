/**
 * The ABI of modules and scripts as the interface shows it: plain objects with keys in the
 * interface's order (docs/spec/move.md §2, §5; docs/spec/http.md §8). The module must have been read under
 * DEFAULT_LOADER_LIMITS: a module that loads only under wider limits has no ABI.
 *
 * A small hostile module can print gigabytes, because a struct's two bytes in a signature print
 * hundreds of characters and thousands of functions can share a signature (§6). So texts and parts
 * are built once and shared, and counted while they are built.
 */
import { MoveError } from '../errors.ts';
import { ADDRESS_ONE, formatAddress } from '../types/address.ts';
import type { ModuleId } from '../types/module-id.ts';
import { formatSignatureToken, formatStructPath } from '../types/move-type.ts';
import { type AbilitySet, abilityNames } from '../types/type-tag.ts';
import type { FieldAbi, FunctionAbi, ModuleAbi, StructAbi, VariantAbi } from './abi-shapes.ts';
import {
  type BinaryTables,
  type CompiledModule,
  type CompiledScript,
  type FieldDefinition,
  type FunctionDefinition,
  functionNameOfHandle,
  moduleIdOf,
  type SignatureToken,
  type StructDefinition,
  structPathOfHandle,
  type VariantDefinition,
} from './compiled.ts';
import {
  ATTRIBUTE_KINDS,
  isViewFunction,
  type MetadataAttribute,
  moduleMetadata,
} from './metadata.ts';

interface AbiSource {
  readonly module: CompiledModule;
  readonly texts: AbiTexts;
  /** Function handle → the part that all its definitions share. */
  readonly signatures: Map<number, FunctionSignatureAbi>;
}

type FunctionSignatureAbi = Pick<FunctionAbi, 'generic_type_params' | 'params' | 'return'>;

/**
 * The ABI of a module.
 * @throws AbiError `abi_too_large` when its types alone print more than `maxBytes`; `option_without_value`.
 */
export function moduleAbi(module: CompiledModule, maxBytes = MAX_ABI_JSON_BYTES): ModuleAbi {
  const texts = new AbiTexts(module, maxBytes);
  const source: AbiSource = { module, texts, signatures: new Map() };
  const { structAttributes } = moduleMetadata(module);
  const self = moduleIdOf(module);
  const functions: FunctionAbi[] = [];
  for (const definition of module.functionDefinitions) {
    const name = functionNameOfHandle(module, definition.handle);
    const isView = isViewFunction(module, name);
    if (!isExposed(definition, isView)) continue;
    functions.push(functionAbi(source, definition, name, isView));
  }
  const structs = module.structDefinitions.map((definition) => {
    const name = module.identifiers[module.structHandles[definition.handle]!.name]!;
    return structAbi(source, self, definition, name, isEvent(structAttributes.get(name)));
  });
  return {
    address: formatAddress(self.address),
    name: self.name,
    friends: module.friends.map(({ address, name }) => {
      return `${formatAddress(module.addresses[address]!)}::${module.identifiers[name]!}`;
    }),
    exposed_functions: functions,
    structs,
  };
}

/**
 * The JSON text of a module's ABI, without spaces.
 * @throws AbiError `abi_too_large` above `maxBytes` of text; `option_without_value`.
 */
export function moduleAbiJson(module: CompiledModule, maxBytes = MAX_ABI_JSON_BYTES): string {
  const abi = moduleAbi(module, maxBytes);
  // Counted before it is printed: shared parts make the text larger than anything held in memory so
  // far.
  spendJson(maxBytes, abi);
  return JSON.stringify(abi);
}

/**
 * The JSON text of a script's interface, as its payload shows it (docs/spec/move.md §5).
 * @throws AbiError `abi_too_large`
 */
export function scriptAbiJson(script: CompiledScript, maxBytes = MAX_ABI_JSON_BYTES): string {
  const abi: FunctionAbi = {
    name: 'main',
    visibility: 'public',
    is_entry: true,
    is_view: false,
    generic_type_params: script.typeParameters.map(typeParameterAbi),
    params: new AbiTexts(script, maxBytes).signature(script.parameters),
    return: [],
  };
  spendJson(maxBytes, abi);
  return JSON.stringify(abi);
}

function isEvent(attributes: readonly MetadataAttribute[] | undefined): boolean {
  return attributes?.some(({ kind }) => kind === ATTRIBUTE_KINDS.event) ?? false;
}

function isExposed(definition: FunctionDefinition, isView: boolean): boolean {
  return definition.isEntry || definition.visibility !== 'private' || isView;
}

function typeParameterAbi(constraints: AbilitySet): FunctionAbi['generic_type_params'][number] {
  return { constraints: abilityNames(constraints) };
}

function functionAbi(
  source: AbiSource,
  definition: FunctionDefinition,
  name: string,
  isView: boolean,
): FunctionAbi {
  let signature = source.signatures.get(definition.handle);
  if (signature === undefined) {
    const handle = source.module.functionHandles[definition.handle]!;
    signature = {
      generic_type_params: handle.typeParameters.map(typeParameterAbi),
      params: source.texts.signature(handle.parameters),
      return: source.texts.signature(handle.return),
    };
    source.signatures.set(definition.handle, signature);
  }
  const { visibility, isEntry } = definition;
  return { name, visibility, is_entry: isEntry, is_view: isView, ...signature };
}

function structAbi(
  source: AbiSource,
  self: ModuleId,
  definition: StructDefinition,
  name: string,
  isEvent: boolean,
): StructAbi {
  const handle = source.module.structHandles[definition.handle]!;
  const shape = optionShape(source, self, definition) ?? {
    is_enum: definition.kind === 'enum',
    fields: definition.kind === 'struct' ? fieldAbis(source, definition.fields) : [],
    variants: definition.kind === 'enum' ? variantAbis(source, definition.variants) : [],
  };
  return {
    name,
    is_native: definition.kind === 'native',
    is_event: isEvent,
    is_enum: shape.is_enum,
    abilities: abilityNames(handle.abilities),
    generic_type_params: handle.typeParameters.map((parameter) =>
      typeParameterAbi(parameter.constraints),
    ),
    fields: shape.fields,
    variants: shape.variants,
  };
}

function fieldAbis(source: AbiSource, fields: readonly FieldDefinition[]): FieldAbi[] {
  return fields.map(({ name, type }) => ({
    name: source.module.identifiers[name]!,
    type: source.texts.type(type),
  }));
}

function variantAbis(source: AbiSource, variants: readonly VariantDefinition[]): VariantAbi[] {
  return variants.map(({ name, fields }) => ({
    name: source.module.identifiers[name]!,
    fields: fieldAbis(source, fields),
  }));
}

/**
 * In `0x1::option` every enum of two variants is shown as the struct that Option was before it
 * became an enum, so that clients do not notice (docs/spec/move.md §2.1).
 */
function optionShape(
  source: AbiSource,
  self: ModuleId,
  definition: StructDefinition,
): Pick<StructAbi, 'is_enum' | 'fields' | 'variants'> | undefined {
  if (self.address !== ADDRESS_ONE || self.name !== 'option') return undefined;
  if (definition.kind !== 'enum' || definition.variants.length !== 2) return undefined;
  const value = definition.variants[1]!.fields[0];
  if (value === undefined) {
    throw new AbiError('option_without_value', 'second variant of an option without a field');
  }
  const type = `vector<${source.texts.type(value.type)}>`;
  return { is_enum: false, fields: [{ name: 'vec', type }], variants: [] };
}

/**
 * Longest ABI, in bytes of JSON. The largest of the known genesis files takes 31 kB; without a
 * limit 64 KiB of module can print gigabytes (docs/spec/move.md §6).
 */
export const MAX_ABI_JSON_BYTES = 16 * 1024 * 1024;

/**
 * - `abi_too_large`: the ABI would print more than MAX_ABI_JSON_BYTES;
 * - `option_without_value`: an enum of `0x1::option` with two variants whose second has no field to
 *   show as the element of `vec`; the reference panics on it (docs/spec/move.md §6).
 */
type AbiErrorCode = 'abi_too_large' | 'option_without_value';

/** A module or script whose ABI cannot be shown: answer null or an internal error. */
export class AbiError extends MoveError<AbiErrorCode> {}

/** Builds (does not throw) the error of an ABI above the limit. */
export function abiTooLarge(): AbiError {
  return new AbiError('abi_too_large', `ABI of more than ${MAX_ABI_JSON_BYTES} bytes`);
}

/** The bytes of `""`, `[]` or `{}`. */
const PAIR_BYTES = 2;

/**
 * The rest of `leftBytes` after JSON.stringify has printed objects, arrays, booleans and strings. The strings of an
 * ABI are identifiers and types: ASCII with nothing to escape, one byte per character.
 * @throws AbiError `abi_too_large` as soon as nothing is left
 */
function spendJson(leftBytes: number, value: unknown): number {
  let left = leftBytes;
  if (typeof value === 'string') left -= value.length + PAIR_BYTES;
  else if (typeof value === 'boolean') left -= String(value).length;
  else if (Array.isArray(value)) {
    left -= PAIR_BYTES + Math.max(0, value.length - 1);
    for (const item of value) left = spendJson(left, item);
  } else {
    const members = Object.entries(value as object);
    left -= PAIR_BYTES + Math.max(0, members.length - 1);
    for (const [key, member] of members)
      left = spendJson(left - key.length - PAIR_BYTES - 1, member);
  }
  if (left < 0) throw abiTooLarge();
  return left;
}

/** Prints the types of one loaded binary and stops when the struct paths alone exceed a limit. */
class AbiTexts {
  readonly #binary: BinaryTables;
  readonly #structPaths = new Map<number, string>();
  readonly #signatures = new Map<number, readonly string[]>();
  readonly #maxChars: number;
  #printedChars = 0;

  constructor(binary: BinaryTables, maxChars: number) {
    this.#binary = binary;
    this.#maxChars = maxChars;
  }

  /** The text of one type. @throws AbiError `abi_too_large` */
  type(token: SignatureToken): string {
    return formatSignatureToken(token, (handle) => this.#structPath(handle));
  }

  /** The texts of a signature, the same array for every caller. @throws AbiError `abi_too_large` */
  signature(index: number): readonly string[] {
    let texts = this.#signatures.get(index);
    if (texts === undefined) {
      texts = this.#binary.signatures[index]!.map((token) => this.type(token));
      this.#signatures.set(index, texts);
    }
    return texts;
  }

  /** Counts every use: only paths print many characters for few bytes of the binary. */
  #structPath(handle: number): string {
    let path = this.#structPaths.get(handle);
    if (path === undefined) {
      const { module, name } = structPathOfHandle(this.#binary, handle);
      path = formatStructPath(module, name);
      this.#structPaths.set(handle, path);
    }
    this.#printedChars += path.length;
    if (this.#printedChars > this.#maxChars) throw abiTooLarge();
    return path;
  }
}
