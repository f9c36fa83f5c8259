/** What the request is checked for before any state is read (docs/spec/encode.md §A3, docs/spec/move.md §3.5). */
import type { MoveType } from '../../move/types/move-type.ts';
import { checkTypeLevels, TypeLevelError } from '../../move/types/move-type-tag.ts';
import { EncodeError } from './encode-error.ts';
import type { RequestPayload } from './payload.ts';
import type { EncodeRequest } from './request.ts';

/** @throws EncodeError of stage `verify` */
export function verifyEncodeRequest(request: EncodeRequest): void {
  verifyPayload(request.payload);
}

function verifyPayload(payload: RequestPayload): void {
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
      if (payload.payload !== undefined) verifyPayload(payload.payload);
      return;
    default:
      verifyTypeArguments(payload.typeArguments);
  }
}

/** @throws EncodeError of stage `verify` */
export function verifyTypeArguments(types: readonly MoveType[]): void {
  try {
    for (const type of types) checkTypeLevels(type);
  } catch (error) {
    if (!(error instanceof TypeLevelError)) throw error;
    throw new EncodeError('verify', error.code, error.message, { cause: error });
  }
}
