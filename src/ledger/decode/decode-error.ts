/** Why bytes are no signing message. What is wrong with the transaction in it is a warning, not an error. */
import type { BcsErrorCode } from '../../move/bcs/bcs-reader.ts';

/**
 * Besides what makes bytes no BCS: `bad_hex` text that is no hex; `too_large` above MAX_SIGNING_MESSAGE_BYTES;
 * `no_domain` too short to begin with a domain; `unknown_domain` a first hash that is neither domain's.
 */
export type DecodeErrorCode =
  | BcsErrorCode
  | 'bad_hex'
  | 'too_large'
  | 'no_domain'
  | 'unknown_domain';

/** Bytes that are no signing message; `message` is what the client sees. */
export class DecodeError extends Error {
  readonly code: DecodeErrorCode;
  /** Where, from the first byte of the message; undefined when it is no single place. */
  readonly offset: number | undefined;

  constructor(code: DecodeErrorCode, detail: string, offset?: number, options?: ErrorOptions) {
    const place = offset === undefined ? '' : ` at byte ${offset}`;
    super(`The given signing message is invalid: ${detail}${place}`, options);
    this.name = 'DecodeError';
    this.code = code;
    this.offset = offset;
  }
}
