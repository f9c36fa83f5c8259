/** What the request is checked for before any state is read (spec/encode.md A3, spec/move.md §3.5). */
import type { MoveStructTag, MoveType } from '../../move/move-type.ts';
import { formatMoveType } from '../../move/move-type-text.ts';
import { EncodeError } from './encode-error.ts';
import type { RequestPayload } from './payload.ts';
import type { EncodeRequest } from './request.ts';

/** Deepest level of a type argument; a struct takes two levels, its place and its tag. */
export const MAX_TYPE_LEVEL = 8;

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
  for (const type of types) verifyType(type, 0);
}

function verifyType(type: MoveType, level: number): void {
  if (level > MAX_TYPE_LEVEL) {
    throw tooDeep(`Move type ${formatMoveType(type)}`);
  }
  switch (type.kind) {
    case 'unparsable':
      throw new EncodeError('verify', 'unparsable_type', `Unable to parse move type ${type.text}`);
    case 'vector':
      verifyType(type.element, level + 1);
      break;
    case 'reference':
      verifyType(type.to, level + 1);
      break;
    case 'struct':
      verifyStruct(type.struct, level + 1);
      break;
    case 'function':
      for (const part of [...type.args, ...type.results]) verifyType(part, level + 1);
  }
}

function verifyStruct(tag: MoveStructTag, level: number): void {
  if (level > MAX_TYPE_LEVEL) throw tooDeep(`Move struct tag ${formatStruct(tag)}`);
  for (const argument of tag.typeArguments) {
    try {
      verifyType(argument, level + 1);
    } catch (error) {
      if (!(error instanceof EncodeError)) throw error;
      const outer = `Invalid struct tag for generic type params: ${formatStruct(tag)}`;
      throw new EncodeError('verify', error.code, `${outer} ${error.detail}`);
    }
  }
}

function tooDeep(what: string): EncodeError {
  const text = `${what} has gone over the limit of recursive types ${MAX_TYPE_LEVEL}`;
  return new EncodeError('verify', 'type_too_deep', text);
}

function formatStruct(struct: MoveStructTag): string {
  return formatMoveType({ kind: 'struct', struct });
}
