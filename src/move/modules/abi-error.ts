/** Loaded modules that have no ABI all the same, and the limit on the size of one. */
import { MoveError } from '../errors.ts';

/**
 * Longest ABI, in bytes of JSON. The largest of the known genesis files takes 31 kB; without a
 * limit 64 KiB of module can print gigabytes (docs/spec/move.md §6).
 */
export const MAX_ABI_JSON_BYTES = 16 * 1024 * 1024;

/**
 * - `abi_too_large`: the ABI would print more than MAX_ABI_JSON_BYTES;
 * - `option_without_value`: an enum of `0x1::option` with two variants whose second has no field to
 *   show as the element of `vec`; the reference panics on it (docs/spec/move.md §6).
 */
export type AbiErrorCode = 'abi_too_large' | 'option_without_value';

/** A module or script whose ABI cannot be shown: answer null or an internal error. */
export class AbiError extends MoveError<AbiErrorCode> {}

/** Builds (does not throw) the error of an ABI above the limit. */
export function abiTooLarge(): AbiError {
  return new AbiError('abi_too_large', `ABI of more than ${MAX_ABI_JSON_BYTES} bytes`);
}
