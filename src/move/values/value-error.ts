/** JSON that is not a value of a layout. */
import { MoveError } from '../errors.ts';

/**
 * Why JSON is not a value:
 * - `wrong_json_type`: not the kind of JSON that the type requires;
 * - `bad_number`, `bad_integer_text`, `bad_address`, `bad_hex`: the right kind of JSON with invalid content;
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

/** JSON that is not a value of the layout; `message` is the interface's own text (docs/spec/encode.md §A4). */
export class ValueEncodeError extends MoveError<ValueEncodeErrorCode> {}
