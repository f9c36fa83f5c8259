/** A module's ABI as the node answers it (docs/spec/http.md §8.2), read into plain shapes. */
import type { JsonValue } from '../../src/move/json/json-text.ts';
import { field, isList, listField, textField } from './json-fields.ts';

/** A type parameter: the abilities it must have. */
export type Constraints = readonly string[];

export interface AbiField {
  readonly name: string;
  readonly type: string;
}

export interface AbiVariant {
  readonly name: string;
  readonly fields: readonly AbiField[];
}

export interface AbiStruct {
  readonly name: string;
  readonly isNative: boolean;
  readonly isEvent: boolean;
  readonly isEnum: boolean;
  readonly abilities: readonly string[];
  readonly typeParameters: readonly Constraints[];
  readonly fields: readonly AbiField[];
  readonly variants: readonly AbiVariant[];
}

export interface AbiFunction {
  readonly name: string;
  readonly visibility: string;
  readonly isEntry: boolean;
  readonly isView: boolean;
  readonly typeParameters: readonly Constraints[];
  readonly parameters: readonly string[];
  readonly results: readonly string[];
}

export interface ModuleAbi {
  readonly address: string;
  readonly name: string;
  readonly friends: readonly string[];
  readonly functions: readonly AbiFunction[];
  readonly structs: readonly AbiStruct[];
}

/** Reads the answer of the module operation; `abi` is undefined when the node answers `null`. */
export function readModuleAnswer(answer: JsonValue): {
  readonly bytecode: string;
  readonly abi: ModuleAbi | undefined;
} {
  const abi = field(answer, 'abi');
  return {
    bytecode: textField(answer, 'bytecode') ?? '',
    abi: abi instanceof Map ? readAbi(abi) : undefined,
  };
}

function readAbi(abi: JsonValue): ModuleAbi {
  return {
    address: textField(abi, 'address') ?? '',
    name: textField(abi, 'name') ?? '',
    friends: texts(field(abi, 'friends')),
    functions: listField(abi, 'exposed_functions').map(readFunction),
    structs: listField(abi, 'structs').map(readStruct),
  };
}

function readFunction(json: JsonValue): AbiFunction {
  return {
    name: textField(json, 'name') ?? '',
    visibility: textField(json, 'visibility') ?? '',
    isEntry: field(json, 'is_entry') === true,
    isView: field(json, 'is_view') === true,
    typeParameters: readTypeParameters(json),
    parameters: texts(field(json, 'params')),
    results: texts(field(json, 'return')),
  };
}

function readStruct(json: JsonValue): AbiStruct {
  return {
    name: textField(json, 'name') ?? '',
    isNative: field(json, 'is_native') === true,
    isEvent: field(json, 'is_event') === true,
    isEnum: field(json, 'is_enum') === true,
    abilities: texts(field(json, 'abilities')),
    typeParameters: readTypeParameters(json),
    fields: listField(json, 'fields').map(readField),
    variants: listField(json, 'variants').map((variant) => ({
      name: textField(variant, 'name') ?? '',
      fields: listField(variant, 'fields').map(readField),
    })),
  };
}

function readField(json: JsonValue): AbiField {
  return { name: textField(json, 'name') ?? '', type: textField(json, 'type') ?? '' };
}

function readTypeParameters(json: JsonValue): Constraints[] {
  return listField(json, 'generic_type_params').map((parameter) =>
    texts(field(parameter, 'constraints')),
  );
}

function texts(json: JsonValue | undefined): string[] {
  return isList(json) ? json.filter((item) => typeof item === 'string') : [];
}

/** The parameters a caller gives: all but the signers (docs/spec/encode.md §A4, step 5). */
export function argumentTypes(declared: AbiFunction): string[] {
  return declared.parameters.filter((type) => !/^(?:&(?:mut )?)?signer$/.test(type));
}
