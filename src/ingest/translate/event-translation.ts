/**
 * Translates one module event to the handle event with the old stream's key, found in the state (docs/spec/ledger.md
 * §5.8, docs/spec/http.md §7.6). chunk-translator.ts assigns its sequence number.
 */
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import { type Address, addressFromBytes } from '../../move/types/address.ts';
import { OBJECT_GROUP_TAG } from '../../move/types/framework-tag.ts';
import { iterateGroup } from '../../move/types/resource-group.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../move/types/state-key.ts';
import { parseStructTag, TypeTextError } from '../../move/types/type-parser.ts';
import { type StructTag, TypeTag } from '../../move/types/type-tag.ts';
import { type EventHandle, eventHandleCodec } from '../../move/values/framework-resource.ts';
import {
  EVENT_HANDLE_BYTES,
  FIELD_KINDS,
  type FieldKind,
  type HandleResource,
} from './handle-resources.ts';
import { TRANSLATIONS, type Translation } from './translation-table.ts';

/** BCS of an event's fields by name. */
type Fields = ReadonlyMap<string, Buffer>;

export interface ModuleEvent {
  readonly fields: Fields;
  /** The physical keys that the handle may be under, in the order in which they are checked. */
  readonly stateKeys: readonly Buffer[];
}

export interface TranslatedBody {
  readonly address: Address;
  readonly creationNumber: bigint;
  /** The handle's count of events, which is the first sequence number of a stream without events. */
  readonly counter: bigint;
  /** BCS. */
  readonly typeTag: Buffer;
  /** BCS. */
  readonly data: Buffer;
}

/** Longest type text of a coin that is parsed, in bytes. Longer texts cannot name a struct of the chain. */
const MAX_COIN_TYPE_BYTES = 8_192;

export class EventTranslation {
  readonly #row: Translation;
  readonly #fields: readonly (readonly [name: string, kind: FieldKind])[];
  readonly #typeTag: Buffer;
  readonly #resources: readonly ResourcePlace[];

  constructor(row: Translation) {
    this.#row = row;
    this.#fields = Object.entries(row.fields);
    this.#typeTag = eventTag(row.handleEvent);
    this.#resources = row.resources.map((resource) => new ResourcePlace(resource, row.handle));
  }

  /** Reads a module event; `undefined` if it does not decode, and so is not translated. */
  read(data: Buffer): ModuleEvent | undefined {
    return tryDecode(() => {
      const fields = this.#readFields(data);
      const owner = fields.get(this.#row.owner)!;
      const stateKeys = this.#resources.map((place) => place.stateKey(owner, fields));
      return { fields, stateKeys };
    });
  }

  /**
   * Makes the handle event; `undefined` if neither a handle nor a default exists, or something does not decode. Such an
   * event is not translated.
   * @param values under the event's state keys; `undefined` for a key without a value
   */
  translate(
    { fields }: ModuleEvent,
    values: readonly (Buffer | undefined)[],
  ): TranslatedBody | undefined {
    return tryDecode(() => {
      const handle = this.#findHandle(fields, values);
      if (handle === undefined) return undefined;
      const parts = this.#row.handleFields.map((name) => fields.get(name)!);
      return {
        address: handle.key.address,
        creationNumber: handle.key.creationNumber,
        counter: handle.counter,
        typeTag: this.#typeTag,
        data: parts.length === 1 ? parts[0]! : Buffer.concat(parts),
      };
    });
  }

  /** Splits the data of a module event into its fields. @throws BcsError if it has another shape */
  #readFields(data: Buffer): Fields {
    const reader = new BcsReader(data);
    const found = new Map<string, Buffer>();
    for (const [name, kind] of this.#fields) {
      const start = reader.offset;
      FIELD_KINDS[kind](reader);
      found.set(name, data.subarray(start, reader.offset));
    }
    reader.finish();
    return found;
  }

  #findHandle(fields: Fields, values: readonly (Buffer | undefined)[]): EventHandle | undefined {
    for (const [index, place] of this.#resources.entries()) {
      const value = values[index];
      // Without the group there is no object, and so no stream (docs/spec/http.md §7.6).
      if (value === undefined && place.inObjectGroup) return undefined;
      const handle = value === undefined ? undefined : place.handleIn(value);
      if (handle !== undefined) return handle;
    }
    const { defaultCreationNumber } = this.#row;
    if (defaultCreationNumber === undefined) return undefined;
    const address = addressFromBytes(fields.get(this.#row.owner)!);
    return { counter: 0n, key: { address, creationNumber: defaultCreationNumber } };
  }
}

function tryDecode<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof BcsError || error instanceof TypeTextError) return undefined;
    throw error;
  }
}

class ResourcePlace {
  readonly inObjectGroup: boolean;
  readonly #resource: HandleResource;
  readonly #handleIndex: number;
  readonly #tag: StructTag;
  /** BCS of the tag, which identifies members of a group. */
  readonly #tagBytes: Buffer;

  constructor(resource: HandleResource, handle: string) {
    this.#resource = resource;
    this.inObjectGroup = resource.inObjectGroup;
    this.#handleIndex = resource.handles.indexOf(handle);
    if (this.#handleIndex < 0) throw new RangeError(`${resource.type} has no handle ${handle}`);
    this.#tag = parseStructTag(resource.type);
    this.#tagBytes = TypeTag.encode({ kind: 'struct', struct: this.#tag }).subarray(1);
  }

  /** The physical state key of the resource, or of its group, under an address. @throws TypeTextError */
  stateKey(owner: Buffer, fields: Fields): Buffer {
    const address = addressFromBytes(owner);
    if (this.inObjectGroup) {
      return physicalStateKey(resourceGroupStateKey(address, OBJECT_GROUP_TAG));
    }
    const { typeArgument } = this.#resource;
    const typeArguments: TypeTag[] =
      typeArgument === undefined
        ? []
        : [{ kind: 'struct', struct: parseStructTag(textOf(fields.get(typeArgument)!)) }];
    return physicalStateKey(resourceStateKey(address, { ...this.#tag, typeArguments }));
  }

  /** The handle in a value under the key; `undefined` for a group without the resource. @throws BcsError */
  handleIn(value: Buffer): EventHandle | undefined {
    const resource = this.inObjectGroup ? this.#memberOf(value) : value;
    if (resource === undefined) return undefined;
    const reader = new BcsReader(resource);
    for (const kind of this.#resource.before) FIELD_KINDS[kind](reader);
    reader.fixed(this.#handleIndex * EVENT_HANDLE_BYTES);
    return eventHandleCodec.read(reader);
  }

  #memberOf(group: Buffer): Buffer | undefined {
    for (const { tagBytes, data } of iterateGroup(group)) {
      if (tagBytes.equals(this.#tagBytes)) return data;
    }
    return undefined;
  }
}

/** The text of a `String` field, which begins with its length. @throws BcsError */
function textOf(field: Buffer): string {
  const reader = new BcsReader(field);
  if (field.length > MAX_COIN_TYPE_BYTES) throw reader.error('bad_value', 'a type text too long');
  return reader.string();
}

function eventTag(type: string): Buffer {
  return TypeTag.encode({ kind: 'struct', struct: parseStructTag(type) });
}

interface TranslatedType {
  readonly typeTag: Buffer;
  readonly translation: EventTranslation;
}

/** Keyed by the length of the tag in bytes, which already excludes most types. */
const BY_TAG_BYTES: TranslatedType[][] = [];
for (const row of TRANSLATIONS) {
  const typeTag = eventTag(row.moduleEvent);
  BY_TAG_BYTES[typeTag.length] ??= [];
  BY_TAG_BYTES[typeTag.length]!.push({ typeTag, translation: new EventTranslation(row) });
}

/** The translation of module events of a type, by the BCS of its tag; `undefined` for all but the 28. */
export function translationOf(typeTag: Uint8Array): EventTranslation | undefined {
  return BY_TAG_BYTES[typeTag.length]?.find((type) => type.typeTag.equals(typeTag))?.translation;
}

const HANDLE_EVENT_TAGS: ReadonlySet<string> = new Set(
  TRANSLATIONS.map(({ handleEvent }) => nameOf(eventTag(handleEvent))),
);

/** Whether events of this type (by the BCS of its tag) may have been translated by the sender. */
export function isTranslatedType(typeTag: Uint8Array): boolean {
  return HANDLE_EVENT_TAGS.has(nameOf(typeTag));
}

function nameOf(typeTag: Uint8Array): string {
  return byteTools.asBuffer(typeTag).toString('latin1');
}
