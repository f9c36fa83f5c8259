/** Shared parts of the decoder, and the raw forms of content that the request object cannot express. */
import { formatHex } from '../../move/bcs/hex.ts';
import type { JsonObject, JsonValue } from '../../move/json/json-text.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { isIdentifier } from '../../move/types/module-id.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import { encodeTypeTag, formatTypeTag, type TypeTag } from '../../move/types/type-tag.ts';
import type { ContainerBudget } from '../../move/values/value-decode.ts';
import { type Warning, type WarningCode, warning } from './notes.ts';

/**
 * Maximum number of structs, enums and vectors in all arguments of one message. Each has at least a byte, except
 * structs without fields, so a transaction of 64 KiB cannot have more.
 */
export const MAX_MESSAGE_CONTAINERS = 65_536;

/** First member of an argument that is shown as its bytes. No parameter accepts such an object. */
const RAW_ARGUMENT = 'daybook_raw';
/** Second member of such an argument, if the meaning of the bytes is known. */
const RAW_ARGUMENT_VALUE = 'daybook_value';
/** Type of a payload that is shown as its bytes. The encoder rejects it. */
const RAW_PAYLOAD_TYPE = 'daybook_raw_payload';
/** Prefix of a type argument shown as raw bytes. It is not the text of any type. */
const RAW_TYPE_PREFIX = 'daybook_raw:';

/** The state of one decoding. */
export class Rendering {
  readonly lookup: ModuleLookup;
  readonly budget: ContainerBudget = { containersLeft: MAX_MESSAGE_CONTAINERS };
  readonly warnings: Warning[] = [];
  parameterTypes: readonly string[] | undefined;

  constructor(lookup: ModuleLookup) {
    this.lookup = lookup;
  }

  warn(code: WarningCode, message: string): void {
    this.warnings.push(warning(code, message));
  }

  typeArguments(tags: readonly TypeTag[]): string[] {
    return tags.map((tag, index) => {
      if (hasValidNames(tag)) return formatTypeTag(tag);
      this.warn(
        'bad_identifier',
        `type_arguments[${index}] holds a name that is no identifier and is shown as its bytes`,
      );
      return RAW_TYPE_PREFIX + formatHex(encodeTypeTag(tag));
    });
  }
}

/** An argument as raw bytes, with its meaning if known. */
export function rawArgument(bytes: Uint8Array, value?: JsonValue): JsonObject {
  const members = new Map<string, JsonValue>([[RAW_ARGUMENT, formatHex(bytes)]]);
  if (value !== undefined) members.set(RAW_ARGUMENT_VALUE, value);
  return members;
}

/** A payload as raw bytes. */
export function rawPayload(bytes: Uint8Array): JsonObject {
  return jsonObject(['type', RAW_PAYLOAD_TYPE], ['bcs', formatHex(bytes)]);
}

export function jsonObject(...members: readonly (readonly [string, JsonValue])[]): JsonObject {
  return new Map(members);
}

/** Whether all names in a type are identifiers; other names could make it look like another type. */
function hasValidNames(type: MoveType): boolean {
  switch (type.kind) {
    case 'vector':
      return hasValidNames(type.element);
    case 'reference':
      return hasValidNames(type.to);
    case 'struct': {
      const { module, name, typeArguments } = type.struct;
      return isIdentifier(module) && isIdentifier(name) && typeArguments.every(hasValidNames);
    }
    case 'function':
      return type.args.every(hasValidNames) && type.results.every(hasValidNames);
    default:
      return true;
  }
}
