/**
 * The accounts of a sample ledger: a few special ones, then the ordinary ones. Each has its address from the seed; only
 * the first ordinary ones sign, the others receive.
 */
import type { Address } from '../move/types/address.ts';
import { addressFromBytes } from '../move/types/address.ts';
import { KEY_SCHEMES, KeyRing, type SampleKey } from './keys.ts';
import { derivedBytes } from './random.ts';
import type { Signers } from './submission.ts';

/** Special accounts come first, each at a fixed index. */
export const CAFE_ACCOUNT = 0;
export const BEEF_ACCOUNT = 1;
/** Pays for others. */
export const SPONSOR_ACCOUNT = 2;
/** The creators have one of each scheme of keys; all other accounts have one Ed25519 key. */
export const FIRST_CREATOR_ACCOUNT = 3;
export const CREATOR_ACCOUNTS = KEY_SCHEMES.length;
export const FIRST_ORDINARY_ACCOUNT = FIRST_CREATOR_ACCOUNT + CREATOR_ACCOUNTS;

/** Ordinary accounts that sign transactions, at most. */
export const MAX_SIGNERS = 200;
/** Rotations of an account's key that are looked for at once, at most. */
const MAX_TRIED_KEYS = 10_000;

export class SampleAccounts implements Signers {
  /** Ordinary accounts that sign. */
  readonly signers: number;
  readonly #seed: bigint;
  readonly #ring: KeyRing;
  readonly #generations = new Map<number, number>();
  readonly #addresses = new Map<number, Address>();

  /** @param ordinary the accounts that the ledger grows to, without the special ones */
  constructor(seed: bigint, ordinary: number) {
    this.#seed = seed;
    this.signers = Math.min(ordinary, MAX_SIGNERS);
    this.#ring = new KeyRing(
      seed,
      (account) => KEY_SCHEMES[account - FIRST_CREATOR_ACCOUNT] ?? 'ed25519',
    );
  }

  /** Of an account that signs its address is the first of its authentication keys. */
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

  /** The key that an account gets by its next rotation. */
  nextKey(account: number): SampleKey {
    return this.#ring.key(account, (this.#generations.get(account) ?? 0) + 1);
  }

  /** Takes the key that the ledger has for an account. @throws RangeError for one that is not of this sample */
  learnKey(account: number, authenticationKey: Uint8Array): void {
    for (let tried = 0; tried < MAX_TRIED_KEYS; tried += 1) {
      if (this.key(account).authenticationKey.equals(authenticationKey)) return;
      this.#generations.set(account, (this.#generations.get(account) ?? 0) + 1);
    }
    throw new RangeError(`the key of account ${account} is unknown`);
  }
}
