/** Authentication keys, which say which keys may sign for an account (docs/spec/ledger.md §3.4). */
import { encodeBcs } from '../bcs/bcs-writer.ts';
import type { AccountAuthenticator, TransactionAuthenticator } from './authenticator.ts';
import { sha3 } from './hash.ts';
import { AnyPublicKey } from './public-key.ts';

/** The last byte of the hashed data. */
const SCHEMES = { ed25519: 0, multiEd25519: 1, singleKey: 2, multiKey: 3 };

/** The key of an authenticator, 32 bytes; `undefined` for one without public keys. */
export function authenticationKey(
  authenticator: AccountAuthenticator | TransactionAuthenticator,
): Buffer | undefined {
  switch (authenticator.kind) {
    case 'ed25519':
      return hashed(authenticator.publicKey, SCHEMES.ed25519);
    case 'multiEd25519': {
      const { keys, threshold } = authenticator.publicKey;
      return hashed(Buffer.concat([...keys, Buffer.of(threshold)]), SCHEMES.multiEd25519);
    }
    case 'singleKey':
      return hashed(AnyPublicKey.encode(authenticator.publicKey), SCHEMES.singleKey);
    case 'multiKey': {
      const { publicKeys, signaturesRequired } = authenticator;
      return hashed(
        encodeBcs((writer) => writer.vector(publicKeys, AnyPublicKey.write).u8(signaturesRequired)),
        SCHEMES.multiKey,
      );
    }
    case 'multiAgent':
    case 'feePayer':
    case 'singleSender':
      return authenticationKey(authenticator.sender);
    default:
      return undefined;
  }
}

function hashed(keys: Uint8Array, scheme: number): Buffer {
  return sha3(Buffer.concat([keys, Buffer.of(scheme)]));
}
