/** From a verified request to the bytes to sign (docs/spec/encode.md §A4 to A6). */

import type { MaybePromise } from '../../maybe-promise.ts';
import { BcsError, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { DEFAULT_DOMAIN_PREFIX } from '../../move/crypto/hash.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { readCiphertext } from '../../move/transactions/payload.ts';
import type { Address } from '../../move/types/address.ts';
import { EncodeError } from './encode-error.ts';
import type { EncryptedRequest } from './encrypted-payload.ts';
import { prepareEntryFunction } from './entry-function.ts';
import type { EntryFunctionRequest, RequestPayload, ScriptRequest } from './payload.ts';
import type { EncodeRequest } from './request.ts';
import { prepareScript } from './script.ts';
import { type PreparedPayload, signingMessage } from './signing-message.ts';

/** What a request is encoded against. */
export interface EncodeContext {
  /** The ledger's chain id, a u8. */
  readonly chainId: number;
  /**
   * The modules of the latest state. To be quick, it gives the same object for the same stored module; it must give
   * another one after an upgrade, which a lookup that never changes loaded modules does by itself.
   */
  readonly lookupModule: ModuleLookup;
  /** The text before type names in hash domains; `APTOS::` when absent. */
  readonly domainPrefix?: string | undefined;
}

/**
 * The signing message of a verified request; at once when the lookup answers at once and everything is kept: waiting
 * costs as much as encoding.
 * @throws EncodeError of stage `convert`, RangeError when the chain id is no u8, whatever the lookup throws that is
 *   no MoveError; or rejects with them
 */
export function convertWhenFound(
  request: EncodeRequest,
  context: EncodeContext,
): MaybePromise<Buffer> {
  const { chainId, domainPrefix = DEFAULT_DOMAIN_PREFIX } = context;
  const payload = preparePayload(request.payload, context.lookupModule);
  return payload instanceof Promise
    ? payload.then((prepared) => signingMessage(request, prepared, chainId, domainPrefix))
    : signingMessage(request, payload, chainId, domainPrefix);
}

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
      checkCiphertext(payload.ciphertext);
      return payload;
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
  const executable =
    payload.kind === 'script'
      ? prepareScript(payload, lookup)
      : prepareEntryFunction(payload, lookup);
  if (executable instanceof Promise) {
    return executable.then((found) => ({ kind: 'plain', executable: found, multisigAddress }));
  }
  return { kind: 'plain', executable, multisigAddress };
}

function checkCiphertext(ciphertext: EncryptedRequest['ciphertext']): void {
  try {
    decodeBcs(ciphertext, readCiphertext);
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    const text = `Failed to BCS-deserialize ciphertext: ${cause.detail}`;
    throw new EncodeError('convert', 'bad_ciphertext', text, { cause });
  }
}
