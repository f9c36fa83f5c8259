/**
 * Metadata that compilers attach to a module: error texts, and attributes of functions and
 * structs (docs/spec/move.md §2.3). Names are untrusted, so all collections are Maps.
 */
import { type BcsReader, decodeBcs } from '../bcs/bcs-reader.ts';
import { tryParse } from '../errors.ts';
import { parseStructTag } from '../types/type-parser.ts';
import type { StructTag } from '../types/type-tag.ts';
import type { BinaryTables, CompiledModule } from './compiled.ts';
import { VERSION_5_ENTRY } from './format.ts';

/** Unknown kinds are retained. */
export interface MetadataAttribute {
  /** One of ATTRIBUTE_KINDS, or any other u8. */
  readonly kind: number;
  readonly args: readonly string[];
}

/** The attribute kinds that have a meaning; 0 is the view function of old compilers. */
export const ATTRIBUTE_KINDS = {
  legacyViewFunction: 0,
  viewFunction: 1,
  resourceGroup: 2,
  resourceGroupMember: 3,
  event: 4,
  randomness: 5,
} as const;

interface ErrorDescription {
  readonly codeName: string;
  readonly codeDescription: string;
}

interface ModuleMetadata {
  /** Abort code → its name and text. */
  readonly errors: ReadonlyMap<bigint, ErrorDescription>;
  readonly structAttributes: ReadonlyMap<string, readonly MetadataAttribute[]>;
  readonly functionAttributes: ReadonlyMap<string, readonly MetadataAttribute[]>;
}

const KEY_V1 = Buffer.from('aptos::metadata_v1', 'ascii');
const KEY_V0 = Buffer.from('aptos::metadata_v0', 'ascii');
const KEY_COMPILATION = Buffer.from('compilation_metadata', 'ascii');

/**
 * Minimum size of an entry in bytes: u64 and two empty strings; an empty name and no attributes; kind and no arguments.
 */
const MIN_ERROR_BYTES = 10;
const MIN_NAMED_BYTES = 2;
const MIN_ATTRIBUTE_BYTES = 2;

const NO_METADATA: ModuleMetadata = {
  errors: new Map(),
  structAttributes: new Map(),
  functionAttributes: new Map(),
};

/**
 * The metadata that ABIs use: in modules of version 5, attributes are ignored. Empty maps when the
 * module has no metadata, or none that decodes.
 */
export function moduleMetadata(module: CompiledModule): ModuleMetadata {
  const metadata = storedMetadata(module);
  if (module.version !== VERSION_5_ENTRY) return metadata;
  return { ...NO_METADATA, errors: metadata.errors };
}

export function isViewFunction(module: CompiledModule, functionName: string): boolean {
  const attributes = moduleMetadata(module).functionAttributes.get(functionName) ?? [];
  const { legacyViewFunction, viewFunction } = ATTRIBUTE_KINDS;
  return attributes.some(({ kind }) => kind === legacyViewFunction || kind === viewFunction);
}

export function isRandomnessFunction(module: CompiledModule, functionName: string): boolean {
  const attributes = moduleMetadata(module).functionAttributes.get(functionName) ?? [];
  return attributes.some(({ kind }) => kind === ATTRIBUTE_KINDS.randomness);
}

export function hasMetadata(module: CompiledModule): boolean {
  return storedMetadata(module) !== NO_METADATA;
}

/**
 * Whether the metadata has the form required of new modules: at most one entry of errors and attributes and one of
 * the compiler, which all decode, and nothing else.
 */
export function isMetadataWellFormed({ metadata }: CompiledModule): boolean {
  const seen = new Set<string>();
  return metadata.every(({ key, value }) => {
    const format = METADATA_FORMATS.find((one) => one.key.equals(key));
    if (format === undefined || seen.has(format.kind)) return false;
    seen.add(format.kind);
    return tryParse(() => decodeBcs(value, format.read) ?? true) !== undefined;
  });
}

/**
 * The group that holds a struct's values, `undefined` for a plain resource: the first membership
 * whose container parses. Attributes are used here for every module version.
 */
export function resourceGroupOf(module: CompiledModule, structName: string): StructTag | undefined {
  let ofModule = groups.get(module);
  if (ofModule === undefined) {
    ofModule = new Map();
    for (const name of storedMetadata(module).structAttributes.keys()) {
      ofModule.set(name, groupAttribute(module, name));
    }
    groups.set(module, ofModule);
  }
  return ofModule.get(structName);
}

/** Parsed once per module, because every read of a resource needs it. */
const groups = new WeakMap<CompiledModule, Map<string, StructTag | undefined>>();

function groupAttribute(module: CompiledModule, structName: string): StructTag | undefined {
  for (const { kind, args } of storedMetadata(module).structAttributes.get(structName) ?? []) {
    if (kind !== ATTRIBUTE_KINDS.resourceGroupMember || args[0] === undefined) continue;
    const container = tryParse(() => parseStructTag(args[0]!));
    if (container !== undefined) return container;
  }
  return undefined;
}

/** Decoded once per module, because every read of a resource needs it. */
const decoded = new WeakMap<CompiledModule, ModuleMetadata>();

function storedMetadata(module: CompiledModule): ModuleMetadata {
  let metadata = decoded.get(module);
  if (metadata === undefined) {
    metadata = decodeMetadata(module) ?? NO_METADATA;
    decoded.set(module, metadata);
  }
  return metadata;
}

/** The first v1 entry, decodable or not, hides all v0 entries. */
function decodeMetadata(module: CompiledModule): ModuleMetadata | undefined {
  const v1 = module.metadata.find(({ key }) => KEY_V1.equals(key));
  if (v1 !== undefined) return tryParse(() => decodeBcs(v1.value, readMetadataV1));
  const v0 = module.metadata.find(({ key }) => KEY_V0.equals(key));
  return v0 && tryParse(() => decodeBcs(v0.value, readMetadataV0));
}

function readMetadataV0(reader: BcsReader): ModuleMetadata {
  return { ...NO_METADATA, errors: readErrors(reader) };
}

function readMetadataV1(reader: BcsReader): ModuleMetadata {
  const errors = readErrors(reader);
  const structAttributes = readAttributes(reader);
  const functionAttributes = readAttributes(reader);
  return { errors, structAttributes, functionAttributes };
}

function readErrors(reader: BcsReader): ReadonlyMap<bigint, ErrorDescription> {
  return new Map(
    reader.map(
      MIN_ERROR_BYTES,
      (at) => at.u64(),
      (at) => ({ codeName: at.string(), codeDescription: at.string() }),
    ),
  );
}

function readAttributes(reader: BcsReader): ReadonlyMap<string, readonly MetadataAttribute[]> {
  return new Map(
    reader.map(
      MIN_NAMED_BYTES,
      (at) => at.string(),
      (at) =>
        at.vector(MIN_ATTRIBUTE_BYTES, (item) => ({
          kind: item.u8(),
          args: item.vector(1, (argument) => argument.string()),
        })),
    ),
  );
}

/** The compiler's entry: whether the code is unstable, and the versions of compiler and language. */
function readCompilation(reader: BcsReader): boolean {
  const isUnstable = reader.bool();
  reader.string();
  reader.string();
  return isUnstable;
}

/** Whether the compiler marked the code as unstable, so that not every network accepts it. */
export function isUnstable({ metadata }: BinaryTables): boolean {
  const entry = metadata.find(({ key }) => KEY_COMPILATION.equals(key));
  return entry !== undefined && tryParse(() => decodeBcs(entry.value, readCompilation)) === true;
}

const METADATA_FORMATS: readonly {
  readonly key: Buffer;
  readonly kind: string;
  readonly read: (reader: BcsReader) => unknown;
}[] = [
  { key: KEY_V0, kind: 'runtime', read: readMetadataV0 },
  { key: KEY_V1, kind: 'runtime', read: readMetadataV1 },
  { key: KEY_COMPILATION, kind: 'compilation', read: readCompilation },
];
