/** What a proven transaction may still get wrong: content that the node itself must be able to read. */
import { MoveError } from '../move/errors.ts';

/** Why a version cannot become part of a chunk. */
export type ChunkDataErrorCode =
  | 'bad_block_event'
  | 'bad_epoch_event'
  | 'bad_event'
  | 'bad_write_set';

/** Bytes of a version that do not say what blocks, epochs, events or writes must say. */
export class ChunkDataError extends MoveError<ChunkDataErrorCode> {
  readonly version: bigint;

  constructor(code: ChunkDataErrorCode, version: bigint, detail: string, options?: ErrorOptions) {
    super(code, `version ${version}: ${detail}`);
    this.version = version;
    if (options?.cause !== undefined) this.cause = options.cause;
  }
}
