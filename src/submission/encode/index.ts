/**
 * Encode submission: turns a transaction request in JSON into the bytes that its signers sign, as the reference does
 * (docs/spec/encode.md A). It does not involve HTTP. Parsing and verifying are separate steps, because the API can
 * reject a request for other reasons between them (§A0).
 */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { JsonValue } from '../../move/json/json-text.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import type { Address } from '../../move/types/address.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import { checkTypeLevels, TypeLevelError } from '../../move/types/move-type-tag.ts';
import { canonicalCiphertext } from './ciphertext.ts';
import { EncodeError } from './encode-error.ts';
import { prepareEntryFunction } from './entry-function.ts';
import type { EntryFunctionRequest, RequestPayload, ScriptRequest } from './payload.ts';
import { type EncodeRequest, parseEncodeRequest, parseRequestText } from './request.ts';
import { prepareScript } from './script.ts';
import {
  type PreparedExecutable,
  type PreparedPayload,
  signingMessage,
} from './signing-message.ts';

export { EncodeError, type EncodeErrorCode, type EncodeStage } from './encode-error.ts';
export type { EncodeRequest } from './request.ts';
export { parseEncodeRequest, parseRequestText } from './request.ts';

export interface EncodeContext {
  /** The ledger's chain id, a u8. */
  readonly chainId: number;
  /** The modules of the latest state. Functions of modules that `readModule` loaded are cached. */
  readonly lookupModule: ModuleLookup;
}

/**
 * The signing message of a request, given as JSON bytes or as a parsed value: 32 bytes that name the domain, then the
 * BCS of the transaction. @throws EncodeError with the text that a client of the reference gets
 */
export async function encodeSubmission(
  request: JsonValue | Uint8Array,
  context: EncodeContext,
): Promise<Buffer> {
  const value = request instanceof Uint8Array ? parseRequestText(request) : request;
  return encodeValue(value, context);
}

/**
 * The signing message of a request whose JSON is parsed. It is returned synchronously if the lookup is synchronous and
 * the function is cached, because awaiting costs as much as encoding.
 * @throws EncodeError, RangeError if the chain id is not a u8, whatever the lookup throws that is not a MoveError; or
 *   rejects with them
 */
export function encodeValue(value: JsonValue, context: EncodeContext): MaybePromise<Buffer> {
  return encodeRequest(readEncodeRequest(value), context);
}

export function encodeRequest(
  request: EncodeRequest,
  { chainId, lookupModule }: EncodeContext,
): MaybePromise<Buffer> {
  return andThen(preparePayload(request.payload, lookupModule), (payload) =>
    signingMessage(request, payload, chainId),
  );
}

/** Reads and verifies a request. @throws EncodeError of the stages `parse` and `verify` */
export function readEncodeRequest(value: JsonValue): EncodeRequest {
  const request = parseEncodeRequest(value);
  verifyEncodeRequest(request);
  return request;
}

/**
 * Checks what can be checked before any state is read (docs/spec/encode.md §A3, docs/spec/move.md §3.5).
 * @throws EncodeError of stage `verify`
 */
export function verifyEncodeRequest({ payload }: Pick<EncodeRequest, 'payload'>): void {
  switch (payload.kind) {
    case 'moduleBundle':
      throw new EncodeError('verify', 'payload_removed', 'Module bundle payload has been removed');
    case 'encrypted':
      if (payload.state === 'encrypted') return;
      throw new EncodeError(
        'verify',
        'payload_not_encrypted',
        payload.state === 'decrypted'
          ? 'Cannot submit a decrypted payload'
          : 'Cannot submit a failed decryption payload',
      );
    case 'multisig':
      if (payload.payload !== undefined) verifyEncodeRequest({ payload: payload.payload });
      return;
    default:
      verifyTypeArguments(payload.typeArguments);
  }
}

function verifyTypeArguments(types: readonly MoveType[]): void {
  try {
    for (const type of types) checkTypeLevels(type);
  } catch (error) {
    if (!(error instanceof TypeLevelError)) throw error;
    throw new EncodeError('verify', error.code, error.message, { cause: error });
  }
}

/** Looks up what a payload needs from the ledger (docs/spec/encode.md §A4). */
function preparePayload(
  payload: RequestPayload,
  lookup: ModuleLookup,
): MaybePromise<PreparedPayload> {
  switch (payload.kind) {
    case 'multisig': {
      const { multisigAddress } = payload;
      if (payload.payload === undefined) {
        return { kind: 'plain', executable: { kind: 'empty' }, multisigAddress };
      }
      return prepareExecutable(payload.payload, multisigAddress, lookup);
    }
    case 'encrypted':
      return { ...payload, ciphertext: canonicalCiphertext(payload.ciphertext) };
    case 'moduleBundle':
      throw new TypeError('a module bundle does not pass verification');
    default:
      return prepareExecutable(payload, undefined, lookup);
  }
}

function prepareExecutable(
  payload: EntryFunctionRequest | ScriptRequest,
  multisigAddress: Address | undefined,
  lookup: ModuleLookup,
): MaybePromise<PreparedPayload> {
  const found: MaybePromise<PreparedExecutable> =
    payload.kind === 'script'
      ? prepareScript(payload, lookup)
      : prepareEntryFunction(payload, lookup);
  return andThen(found, (executable) => ({ kind: 'plain', executable, multisigAddress }));
}
