/** From a verified request to the bytes to sign (spec/encode.md A4 to A6). */
import { BcsError, decodeBcs } from '../../move/bcs-reader.ts';
import { readCiphertext } from '../../move/encrypted-payload.ts';
import { DEFAULT_DOMAIN_PREFIX } from '../../move/hash.ts';
import type { ModuleLookup } from '../../move/module/lookup.ts';
import { EncodeError } from './encode-error.ts';
import type { EncryptedRequest } from './encrypted-payload.ts';
import { convertEntryFunction } from './entry-function.ts';
import type { EntryFunctionRequest, RequestPayload, ScriptRequest } from './payload.ts';
import type { EncodeRequest } from './request.ts';
import { convertScript } from './script.ts';
import {
  type ConvertedExecutable,
  type ConvertedPayload,
  signingMessage,
} from './signing-message.ts';

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
 * The signing message of a verified request.
 * @throws EncodeError of stage `convert`; RangeError when the chain id is no u8; whatever the lookup throws that is
 * no MoveError.
 */
export async function convertEncodeRequest(
  request: EncodeRequest,
  context: EncodeContext,
): Promise<Buffer> {
  const payload = await convertPayload(request.payload, context.lookupModule);
  const domainPrefix = context.domainPrefix ?? DEFAULT_DOMAIN_PREFIX;
  return signingMessage(request, payload, context.chainId, domainPrefix);
}

async function convertPayload(
  payload: RequestPayload,
  lookup: ModuleLookup,
): Promise<ConvertedPayload> {
  switch (payload.kind) {
    case 'multisig': {
      const { multisigAddress } = payload;
      if (payload.payload === undefined) {
        return { executable: { kind: 'empty' }, multisigAddress };
      }
      return { executable: await convertExecutable(payload.payload, lookup), multisigAddress };
    }
    case 'encrypted':
      checkCiphertext(payload.ciphertext);
      return payload;
    case 'moduleBundle':
      throw new TypeError('a module bundle does not pass verification');
    default:
      return {
        executable: await convertExecutable(payload, lookup),
        multisigAddress: undefined,
      };
  }
}

function convertExecutable(
  payload: EntryFunctionRequest | ScriptRequest,
  lookup: ModuleLookup,
): Promise<ConvertedExecutable> {
  return payload.kind === 'script'
    ? convertScript(payload, lookup)
    : convertEntryFunction(payload, lookup);
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
