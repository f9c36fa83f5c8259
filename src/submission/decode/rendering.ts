/** Shared parts of the decoder, and the raw forms of content that the request object cannot express. */
import { copiedText } from '../../cache.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { JsonNumber, type JsonObject, type JsonValue } from '../../move/json/json-text.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';
import { isIdentifier } from '../../move/types/module-id.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import { formatTypeTag, TypeTag } from '../../move/types/type-tag.ts';
import type { ContainerBudget } from '../../move/values/value-decode.ts';

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
export const RAW_PAYLOAD_TYPE = 'daybook_raw_payload';
/** Prefix of a type argument shown as raw bytes. It is not the text of any type. */
const RAW_TYPE_PREFIX = 'daybook_raw:';

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
      return RAW_TYPE_PREFIX + formatHex(TypeTag.encode(tag));
    });
  }
}

export function rawArgument(bytes: Uint8Array, value?: JsonValue): JsonObject {
  const members = new Map<string, JsonValue>([[RAW_ARGUMENT, formatHex(bytes)]]);
  if (value !== undefined) members.set(RAW_ARGUMENT_VALUE, value);
  return members;
}

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

export type WarningCode =
  // about the whole message
  | 'other_chain'
  | 'expired'
  | 'fee_payer'
  | 'orderless_sequence_number'
  // about the payload
  | 'multisig_payload_on_chain'
  | 'encrypted'
  | 'module_bundle'
  | 'script'
  | 'unusual_payload'
  | 'limits_request'
  | 'bad_identifier'
  // about the call
  | 'module_not_found'
  | 'module_not_loadable'
  | 'function_not_found'
  | 'type_argument_count'
  | 'argument_count'
  | 'argument_not_shown'
  | 'script_not_readable'
  | 'script_arguments'
  // the request does not encode, or encodes to other bytes
  | 'not_encodable'
  | 'encodes_differently';

/** Maximum length of a warning in UTF-16 units. It is limited because parts of the text come from the message. */
export const MAX_WARNING_LENGTH = 1_000;

export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
}

export function warning(code: WarningCode, message: string): Warning {
  if (message.length <= MAX_WARNING_LENGTH) return { code, message };
  const cut = message.slice(0, MAX_WARNING_LENGTH - 1).replace(/[\ud800-\udbff]$/, '');
  // A copy: a V8 substring references the whole text, which may be a megabyte for each of hundreds of warnings.
  return { code, message: copiedText(`${cut}…`) };
}

/** Who signs the message, according to its domain and variant. */
export type SigningScheme = 'single_signer' | 'multi_agent' | 'fee_payer';

export interface SubmissionNotes {
  /** Whether the request, encoded on this ledger, gives exactly the bytes that were decoded. */
  readonly encodesBack: boolean;
  readonly scheme: SigningScheme;
  /** The zero address: not yet set. */
  readonly feePayer: Address | undefined;
  /** What prevents the transaction from being executed twice. */
  readonly replayProtection: 'sequence_number' | 'nonce';
  /** As in the bytes; a u8. */
  readonly chainId: number;
  /** Gas amount times gas price, in octas. */
  readonly maxFeeOctas: bigint;
  /** ISO 8601 in UTC; undefined beyond the year 275760. */
  readonly expiresAt: string | undefined;
  /** Declared types of the parameters that take an argument; undefined if the function or script is unknown. */
  readonly parameterTypes: readonly string[] | undefined;
  readonly warnings: readonly Warning[];
}

/** The notes as JSON; members that do not apply are left out. */
export function notesJson(notes: SubmissionNotes): JsonObject {
  const { feePayer, parameterTypes } = notes;
  const members: [string, JsonValue][] = [
    ['encodes_back', notes.encodesBack],
    ['signing_scheme', notes.scheme],
  ];
  if (feePayer !== undefined) members.push(['fee_payer_address', formatAddress(feePayer)]);
  members.push(
    ['replay_protection', notes.replayProtection],
    ['chain_id', new JsonNumber(String(notes.chainId))],
    ['max_fee_octas', String(notes.maxFeeOctas)],
    ['expires_at', notes.expiresAt ?? null],
  );
  if (parameterTypes !== undefined) members.push(['parameter_types', parameterTypes]);
  const warnings = notes.warnings.map(
    ({ code, message }): JsonObject =>
      new Map([
        ['code', code],
        ['message', message],
      ]),
  );
  members.push(['warnings', warnings]);
  return new Map(members);
}

/** The latest JavaScript date, in seconds since 1970. */
const MAX_DATE_SECS = 8_640_000_000_000n;

/** An expiration as a date; undefined beyond the range of dates. */
export function expirationDate(expirationTimestampSecs: bigint): string | undefined {
  if (expirationTimestampSecs > MAX_DATE_SECS) return undefined;
  return new Date(Number(expirationTimestampSecs) * 1000).toISOString();
}
