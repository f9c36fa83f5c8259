/**
 * The two accounts that publish code. Their keys do not depend on the seed, so types and documents can name their
 * addresses. Both addresses have all 64 digits: SDKs accept short forms of 0x0 to 0xf only.
 */
import type { Address } from '../move/types/address.ts';
import { derivedBytes } from './random.ts';

export const CAFE: Address = 'cafeef724f479a8de22ed68b92ca2cc6887aa6e28ba16b62e9b5a9869212691b';
/** Publishes one module and upgrades it. */
export const BEEF: Address = 'beefd38c8a953879b70f83a625ce55f09b2a8156038bebf3f5489501b5ede0d3';

/** As text, for names of types and functions. */
export const CAFE_HEX = `0x${CAFE}`;
export const BEEF_HEX = `0x${BEEF}`;

/** The first numbers whose keys have addresses that begin with `cafe` and `beef`. */
const KEY_NUMBERS: readonly number[] = [16_429, 19_281];

/** The Ed25519 secret of the publisher with this account index; undefined for other accounts. */
export function publisherSecret(account: number): Buffer | undefined {
  const number = KEY_NUMBERS[account];
  return number === undefined ? undefined : derivedBytes(0n, 'publisher key', number);
}
