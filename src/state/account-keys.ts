/** State keys of many accounts: the same path for each of them. */
import { copiedBytes } from '../cache.ts';
import { domainSeed, HASH_BYTES, sha3 } from '../move/crypto/hash.ts';
import { ADDRESS_BYTES, type Address } from '../move/types/address.ts';
import {
  type AccessPathKey,
  type HashedStateKey,
  physicalStateKey,
} from '../move/types/state-key.ts';

/** Where the address is in the input: after the domain's seed and the key's tag. */
const ADDRESS_OFFSET = HASH_BYTES + 1;

/** State keys that differ in the account only. */
export class AccountKeyHasher {
  readonly #input: Buffer;

  /** @param key such a key of any account; its path names no account */
  constructor(key: AccessPathKey) {
    this.#input = copiedBytes(Buffer.concat([domainSeed('StateKey'), physicalStateKey(key)]));
  }

  /** The state key of an account, given as hex or as bytes. */
  key(account: Address | Uint8Array): HashedStateKey {
    return new AccountKey(this, sha3(this.inputOf(account)), account);
  }

  /** What is hashed; valid until the next call. */
  inputOf(account: Address | Uint8Array): Buffer {
    if (typeof account === 'string')
      this.#input.write(account, ADDRESS_OFFSET, ADDRESS_BYTES, 'hex');
    else this.#input.set(account, ADDRESS_OFFSET);
    return this.#input;
  }
}

/** The parts besides the hash are made when they are asked for: a store of rows asks for none. */
class AccountKey implements HashedStateKey {
  readonly hash: Buffer;
  readonly #hasher: AccountKeyHasher;
  readonly #account: Address | Uint8Array;
  #id: string | undefined;

  constructor(hasher: AccountKeyHasher, hash: Buffer, account: Address | Uint8Array) {
    this.hash = hash;
    this.#hasher = hasher;
    this.#account = account;
  }

  get physical(): Buffer {
    return Buffer.from(this.#hasher.inputOf(this.#account).subarray(HASH_BYTES));
  }

  get id(): string {
    this.#id ??= this.hash.toString('latin1');
    return this.#id;
  }
}
