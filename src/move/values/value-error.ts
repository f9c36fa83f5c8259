/** The errors of the value codecs: bytes that are no value of a layout, JSON that is no value of a layout. */
import { BcsError, type BcsErrorCode } from '../bcs/bcs-reader.ts';
import { MoveError } from '../errors.ts';

/**
 * Why bytes are no value, besides what makes them no BCS at all:
 * - `signer`: no value of it is ever stored;
 * - `bad_closure`: a function value of another version, or with too few or too many parts;
 * - `too_many_variants`, `unsupported_layout`: layouts inside closures;
 * - `size_limit`: over the byte budget, or over the limit of containers;
 * - `function_value`: an argument cannot be a function value.
 */
export type ValueDecodeErrorCode =
  | BcsErrorCode
  | 'signer'
  | 'bad_closure'
  | 'too_many_variants'
  | 'unsupported_layout'
  | 'size_limit'
  | 'function_value';

/** Bytes that are no value of the layout; `offset` counts from the value's first byte. */
export class ValueDecodeError extends MoveError<ValueDecodeErrorCode> {
  /** The interface's own text (docs/spec/encode.md §B2), without the place. */
  readonly detail: string;
  readonly offset: number;

  constructor(code: ValueDecodeErrorCode, detail: string, offset: number) {
    super(code, `${detail} at byte ${offset}`);
    this.detail = detail;
    this.offset = offset;
  }
}

/** Runs a reading, turning what BCS refuses into a ValueDecodeError of the same code and place. */
export function decodingValue<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    throw new ValueDecodeError(error.code, error.detail, error.offset);
  }
}

/**
 * Why JSON is no value:
 * - `wrong_json_type`: another kind of JSON than the type takes;
 * - `bad_number`, `bad_integer_text`, `bad_address`, `bad_hex`: the right kind with a wrong text;
 * - `missing_field`, `unknown_fields`, `unknown_variant`, `not_one_variant`: structs and enums;
 * - `function_value`: no JSON is a function value.
 */
type ValueEncodeErrorCode =
  | 'wrong_json_type'
  | 'bad_number'
  | 'bad_integer_text'
  | 'bad_address'
  | 'bad_hex'
  | 'missing_field'
  | 'unknown_fields'
  | 'unknown_variant'
  | 'not_one_variant'
  | 'function_value';

/** JSON that is no value of the layout; `message` is the interface's own text (docs/spec/encode.md §A4). */
export class ValueEncodeError extends MoveError<ValueEncodeErrorCode> {}
