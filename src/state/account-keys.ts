/** State keys with the same path for many accounts. */
import { copiedBytes } from '../cache.ts';
import { domainSeed, HASH_BYTES, sha3 } from '../move/crypto/hash.ts';
import { ADDRESS_BYTES, type Address } from '../move/types/address.ts';
import {
  type AccessPathKey,
  type HashedStateKey,
  physicalStateKey,
} from '../move/types/state-key.ts';

/** Offset of the address in the input: it follows the domain's seed and the key's tag. */
const ADDRESS_OFFSET = HASH_BYTES + 1;

/** Computes state keys that differ only in the account. */
export class AccountKeyHasher {
  readonly #input: Buffer;

  /** @param key such a key of any account; its path must not contain the account */
  constructor(key: AccessPathKey) {
    this.#input = copiedBytes(Buffer.concat([domainSeed('StateKey'), physicalStateKey(key)]));
  }

  /** The state key of an account, given as hex or as bytes. */
  key(account: Address | Uint8Array): HashedStateKey {
    if (typeof account === 'string')
      this.#input.write(account, ADDRESS_OFFSET, ADDRESS_BYTES, 'hex');
    else this.#input.set(account, ADDRESS_OFFSET);
    return { hash: sha3(this.#input), physical: Buffer.from(this.#input.subarray(HASH_BYTES)) };
  }
}
