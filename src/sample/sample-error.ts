/** What can be wrong with the settings of a sample ledger. */
import { MoveError } from '../move/errors.ts';

export type SampleErrorCode = 'bad_sample_settings' | 'not_this_sample';

/** Settings that no sample ledger can have, or a ledger that is not the sample it is said to be. */
export class SampleError extends MoveError<SampleErrorCode> {}
