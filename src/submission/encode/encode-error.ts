/** Errors of requests that cannot be encoded, with the API's messages (docs/spec/encode.md §A0 to A4). */

/** Where encoding failed; the API has checks between the stages (docs/spec/encode.md §A0). */
export type EncodeStage = 'parse' | 'verify' | 'convert';

export type EncodeErrorCode =
  // parse: text that is not JSON; a field of wrong type or text; a payload that is not an object or of unknown kind;
  // over a limit that the reference does not have
  | 'json_syntax'
  | 'bad_field'
  | 'bad_payload'
  | 'too_large'
  // verify
  | 'payload_removed'
  | 'payload_not_encrypted'
  | 'bad_signature'
  | 'unparsable_type'
  | 'type_too_deep'
  // convert; `bad_type` is a type without a type tag
  | 'module_not_found'
  | 'module_not_loadable'
  | 'function_not_found'
  | 'type_argument_count'
  | 'argument_count'
  | 'bad_type'
  | 'bad_argument'
  | 'bad_script'
  | 'bad_script_argument'
  | 'bad_ciphertext';

const PREFIXES: Readonly<Record<EncodeStage, string>> = {
  parse: 'parse request payload error: ',
  verify: "'UserTransactionRequest' invalid: ",
  convert: 'The given transaction is invalid: Failed to parse transaction payload: ',
};

/** A request that cannot be encoded; `message` is shown to the client. */
export class EncodeError extends Error {
  readonly stage: EncodeStage;
  readonly code: EncodeErrorCode;
  readonly detail: string;

  constructor(stage: EncodeStage, code: EncodeErrorCode, detail: string, options?: ErrorOptions) {
    super(PREFIXES[stage] + detail, options);
    this.name = 'EncodeError';
    this.stage = stage;
    this.code = code;
    this.detail = detail;
  }
}
