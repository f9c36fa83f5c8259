/** Why bytes are not a signing message. Problems of the transaction in it are warnings, not errors. */
import type { BcsErrorCode } from '../../move/bcs/bcs-reader.ts';

/**
 * In addition to the errors of BCS: `bad_hex` text that is not hex; `too_large` above MAX_SIGNING_MESSAGE_BYTES;
 * `no_domain` too short to begin with a domain; `unknown_domain` a first hash that is neither domain's.
 */
export type DecodeErrorCode =
  | BcsErrorCode
  | 'bad_hex'
  | 'too_large'
  | 'no_domain'
  | 'unknown_domain';

/** Bytes that are not a signing message; `message` is shown to the client. */
export class DecodeError extends Error {
  readonly code: DecodeErrorCode;
  /** Offset from the first byte of the message; undefined if it is not a single place. */
  readonly offset: number | undefined;

  constructor(code: DecodeErrorCode, detail: string, offset?: number, options?: ErrorOptions) {
    const place = offset === undefined ? '' : ` at byte ${offset}`;
    super(`The given signing message is invalid: ${detail}${place}`, options);
    this.name = 'DecodeError';
    this.code = code;
    this.offset = offset;
  }
}
