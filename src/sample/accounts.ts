/**
 * The accounts of a sample ledger: a few special ones, then the ordinary ones. Their addresses are derived from the
 * seed, except those of the two publishers. Only the first ordinary accounts sign; the others only receive.
 */
import type { Address } from '../move/types/address.ts';
import { addressFromBytes } from '../move/types/address.ts';
import { KEY_SCHEMES, KeyRing, type SampleKey } from './keys.ts';
import { derivedBytes } from './random.ts';
import type { Signers } from './submission.ts';

/** Special accounts come first, each at a fixed index. */
export const CAFE_ACCOUNT = 0;
export const BEEF_ACCOUNT = 1;
/** Pays gas for others. */
export const SPONSOR_ACCOUNT = 2;
/** Each creator has a different key scheme; all other accounts have one Ed25519 key. */
export const FIRST_CREATOR_ACCOUNT = 3;
export const CREATOR_ACCOUNTS = KEY_SCHEMES.length;
export const FIRST_ORDINARY_ACCOUNT = FIRST_CREATOR_ACCOUNT + CREATOR_ACCOUNTS;

/** Maximum number of ordinary accounts that sign transactions. */
export const MAX_SIGNERS = 200;
/** Maximum number of rotations of an account's key that are tried in one search. */
const MAX_TRIED_KEYS = 10_000;

export class SampleAccounts implements Signers {
  /** Number of ordinary accounts that sign. */
  readonly signers: number;
  readonly #seed: bigint;
  readonly #ring: KeyRing;
  readonly #generations = new Map<number, number>();
  readonly #addresses = new Map<number, Address>();

  /** @param ordinary number of accounts that the ledger grows to, without the special ones */
  constructor(seed: bigint, ordinary: number) {
    this.#seed = seed;
    this.signers = Math.min(ordinary, MAX_SIGNERS);
    this.#ring = new KeyRing(
      seed,
      (account) => KEY_SCHEMES[account - FIRST_CREATOR_ACCOUNT] ?? 'ed25519',
    );
  }

  /** The address of an account that signs is its first authentication key. */
  address(account: number): Address {
    if (account >= FIRST_ORDINARY_ACCOUNT + this.signers) {
      return addressFromBytes(derivedBytes(this.#seed, 'keyless account', account));
    }
    let address = this.#addresses.get(account);
    if (address === undefined) {
      address = addressFromBytes(this.#ring.key(account, 0).authenticationKey);
      this.#addresses.set(account, address);
    }
    return address;
  }

  key(account: number): SampleKey {
    return this.#ring.key(account, this.#generations.get(account) ?? 0);
  }

  /** The key of an account after its next rotation. */
  nextKey(account: number): SampleKey {
    return this.#ring.key(account, (this.#generations.get(account) ?? 0) + 1);
  }

  /**
   * Switches to the key that the ledger has for an account. @throws RangeError if the key is not one of this sample's
   */
  switchToKey(account: number, authenticationKey: Uint8Array): void {
    for (let attempt = 0; attempt < MAX_TRIED_KEYS; attempt += 1) {
      if (this.key(account).authenticationKey.equals(authenticationKey)) return;
      this.#generations.set(account, (this.#generations.get(account) ?? 0) + 1);
    }
    throw new RangeError(`the key of account ${account} is unknown`);
  }
}
