/**
 * What a signer should know in addition to the request: facts that the bytes alone do not show, or that the request
 * object cannot express. Not part of the reference's interface.
 */
import { JsonNumber, type JsonObject, type JsonValue } from '../../move/json/json-text.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';

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

/** Maximum text of a warning in UTF-16 units: parts of it come from the message. */
export const MAX_WARNING_LENGTH = 1_000;

/** One warning; `message` is a sentence for people. */
export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
}

/** A warning whose text is cut to MAX_WARNING_LENGTH. */
export function warning(code: WarningCode, message: string): Warning {
  if (message.length <= MAX_WARNING_LENGTH) return { code, message };
  const cut = message.slice(0, MAX_WARNING_LENGTH - 1).replace(/[\ud800-\udbff]$/, '');
  // A copy: a V8 substring references the whole text, which may be a megabyte for each of hundreds of warnings.
  return { code, message: Buffer.from(`${cut}…`, 'utf8').toString('utf8') };
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
  /**
   * Declared types of the parameters with an argument; undefined if the function or script is unknown.
   */
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

/** The last moment of JavaScript's dates, in seconds since 1970. */
const MAX_DATE_SECS = 8_640_000_000_000n;

/** An expiration as a date; undefined beyond the range of dates. */
export function expirationDate(expirationTimestampSecs: bigint): string | undefined {
  if (expirationTimestampSecs > MAX_DATE_SECS) return undefined;
  return new Date(Number(expirationTimestampSecs) * 1000).toISOString();
}
