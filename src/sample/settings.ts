/** The settings of a sample ledger, which it says itself, and their errors. */
import { decodeBcs } from '../move/bcs/bcs-reader.ts';
import { MoveError } from '../move/errors.ts';
import { CAFE_HEX } from './publishers.ts';

/** Goes up when the same seed would give another ledger. */
export const GENERATOR_VERSION = 7;

/** The resource of CAFE that states how a sample ledger was made. */
export const SAMPLE_RESOURCE = `${CAFE_HEX}::sample::Sample`;

export const MAX_SAMPLE_ACCOUNTS = 5_000_000;
export const MAX_SAMPLE_TRANSACTIONS = 1_000_000_000;
export const MAX_SAMPLE_SEED = 0xffff_ffff_ffff_ffffn;

export interface SampleSettings {
  /** u64. */
  readonly seed: bigint;
  /** Ordinary accounts that the ledger grows to. */
  readonly accounts: number;
}

type SampleErrorCode = 'bad_sample_settings' | 'not_this_sample';

/** Settings that no sample ledger can have, or a ledger that this generator has not made. */
export class SampleError extends MoveError<SampleErrorCode> {}

/** @throws SampleError `bad_sample_settings` */
export function checkSettings({ seed, accounts }: SampleSettings): SampleSettings {
  if (seed < 0n || seed > MAX_SAMPLE_SEED) {
    throw new SampleError('bad_sample_settings', `the seed is a u64, not ${seed}`);
  }
  return { seed, accounts: checkCount('accounts', accounts, MAX_SAMPLE_ACCOUNTS) };
}

/** A count of 1 to `most`. @throws SampleError `bad_sample_settings` */
export function checkCount(name: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new SampleError('bad_sample_settings', `${name} is 1 to ${most}, not ${value}`);
}

/**
 * The settings of a sample ledger from its own resource.
 * @param bytes the value of SAMPLE_RESOURCE
 * @throws BcsError for other bytes; SampleError `not_this_sample` when another generator made it.
 */
export function readSampleSettings(bytes: Uint8Array): SampleSettings {
  return decodeBcs(bytes, (reader) => {
    const generator = reader.u64();
    if (generator !== BigInt(GENERATOR_VERSION)) {
      throw new SampleError(
        'not_this_sample',
        `the sample ledger was made by generator ${generator}, this one is ${GENERATOR_VERSION}`,
      );
    }
    return checkSettings({ seed: reader.u64(), accounts: Number(reader.u64()) });
  });
}
