/** The only validator of the default genesis. Its keys sign nothing: blocks of a local network have no signed votes. */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { authenticationKey } from '../../move/crypto/authentication-key.ts';
import { type Address, addressFromBytes } from '../../move/types/address.ts';
import { VALIDATOR_STAKE } from './configurations.ts';
import { ed25519Key, secretOf } from './genesis-keys.ts';

const POSSESSION_DOMAIN = 'BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_';

export interface Validator {
  readonly address: Address;
  readonly bytes: Buffer;
}

export function validatorOf(seed: string): Validator {
  const { publicKey } = ed25519Key(secretOf(seed, 'validator'));
  const signature = Buffer.alloc(64);
  const address = addressFromBytes(authenticationKey({ kind: 'ed25519', publicKey, signature })!);
  const { longSignatures } = bls12_381;
  const consensusSecret = secretOf(seed, 'consensus key');
  // Keeps the secret below the order of the curve.
  consensusSecret[0]! &= 0x3f;
  const keyBytes = longSignatures.getPublicKey(consensusSecret).toBytes();
  const message = longSignatures.hash(keyBytes, POSSESSION_DOMAIN);
  const possession = longSignatures.sign(message, consensusSecret).toBytes();
  const bytes = encodeBcs((writer) => {
    // The owner is also operator and voter.
    writer.address(address).address(address).address(address).u64(VALIDATOR_STAKE);
    // No network addresses.
    writer.bytes(keyBytes).bytes(possession).bytes(Buffer.alloc(0)).bytes(Buffer.alloc(0));
  });
  return { address, bytes };
}
