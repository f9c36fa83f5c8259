/** Signing messages as texts: hex, with `0x` or without. */

import { parseHex } from '../../move/bcs/hex.ts';
import { HexTextError } from '../../move/types/address.ts';
import { DecodeError } from './decode-error.ts';

/** The bytes of a hex text of either case, `0x` optional. @throws DecodeError `bad_hex` */
export function parseMessageText(text: string): Buffer {
  try {
    return parseHex(text);
  } catch (cause) {
    if (!(cause instanceof HexTextError)) throw cause;
    throw new DecodeError('bad_hex', `no hex: ${cause.message}`, undefined, { cause });
  }
}
