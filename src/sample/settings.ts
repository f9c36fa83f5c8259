/** The settings of a sample ledger, which the ledger itself stores, and their errors. */
import { decodeBcs } from '../move/bcs/bcs-reader.ts';
import { MoveError } from '../move/errors.ts';
import { CAFE_HEX } from './publishers.ts';

/** Increment it whenever the same seed would give a different ledger. */
export const GENERATOR_VERSION = 7;

/** The resource of CAFE that stores the settings of a sample ledger. */
export const SAMPLE_RESOURCE = `${CAFE_HEX}::sample::Sample`;

export const MAX_SAMPLE_ACCOUNTS = 5_000_000;
export const MAX_SAMPLE_TRANSACTIONS = 1_000_000_000;
export const MAX_SAMPLE_SEED = 0xffff_ffff_ffff_ffffn;

export interface SampleSettings {
  /** u64. */
  readonly seed: bigint;
  /** Number of ordinary accounts that the ledger grows to. */
  readonly accounts: number;
}

type SampleErrorCode = 'bad_sample_settings' | 'not_this_sample';

/** Invalid settings, or a ledger that this generator has not made. */
export class SampleError extends MoveError<SampleErrorCode> {}

/** @throws SampleError `bad_sample_settings` */
export function checkSettings({ seed, accounts }: SampleSettings): SampleSettings {
  if (seed < 0n || seed > MAX_SAMPLE_SEED) {
    throw new SampleError('bad_sample_settings', `the seed is a u64, not ${seed}`);
  }
  return { seed, accounts: checkCount('accounts', accounts, MAX_SAMPLE_ACCOUNTS) };
}

/** A count of 1 to `max`. @throws SampleError `bad_sample_settings` */
export function checkCount(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new SampleError('bad_sample_settings', `${name} is 1 to ${max}, not ${value}`);
}

/**
 * Reads the settings of a sample ledger from its own resource.
 * @param bytes the value of SAMPLE_RESOURCE
 * @throws BcsError for other bytes; SampleError `not_this_sample` if another generator made it.
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
