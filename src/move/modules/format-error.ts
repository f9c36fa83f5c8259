/**
 * The one error of the compiled format: bytes that are no loadable module or script (docs/spec/move.md
 * §1).
 */
import { MoveError } from '../errors.ts';

/**
 * Why a binary does not load:
 * - `bad_magic`, `bad_version`: the header;
 * - `unexpected_end`: a part runs over the end of the file or of its table;
 * - `bad_uleb`: a ULEB128 that is too long, not minimal or above 64 bits;
 * - `limit_exceeded`: a number above the limit of its field (docs/spec/move.md §1.3);
 * - `bad_table`: a directory with gaps, overlaps, empty, repeated, unknown or forbidden tables;
 * - `unsupported`: a part that the file's version does not have yet;
 * - `bad_value`: a flag, code or identifier that no version has;
 * - `too_deep`: a type nested too deeply;
 * - `out_of_bounds`: an index without a target (docs/spec/move.md §1.11);
 * - `bad_arity`: a struct with too few or too many type arguments.
 */
export type BinaryFormatErrorCode =
  | 'bad_magic'
  | 'bad_version'
  | 'unexpected_end'
  | 'bad_uleb'
  | 'limit_exceeded'
  | 'bad_table'
  | 'unsupported'
  | 'bad_value'
  | 'too_deep'
  | 'out_of_bounds'
  | 'bad_arity';

/** Bytes that do not load. */
export class BinaryFormatError extends MoveError<BinaryFormatErrorCode> {
  /**
   * Byte position in the file; `undefined` when the fault is in a decoded index, which has no place
   * left.
   */
  readonly offset: number | undefined;
  /** What was found, without the place. */
  readonly detail: string;

  constructor(code: BinaryFormatErrorCode, detail: string, offset?: number) {
    super(code, offset === undefined ? detail : `${detail} at byte ${offset}`);
    this.offset = offset;
    this.detail = detail;
  }
}
