import { ed25519 } from '@noble/curves/ed25519.js';
import { describe, expect, it } from 'vitest';
import { isEd25519Signature, isVerifiedByOpenSsl } from '../../src/vm/natives/crypto/ed25519.ts';

/** An encoding of the identity by its first and last byte: 1, or 1 and the prime. */
function identityOf(text: string): Buffer {
  const [first, last = '00'] = text.split('/');
  const middle = first === 'ee' ? 'ff' : '00';
  return Buffer.from(first! + middle.repeat(30) + last, 'hex');
}

describe('a signature of Ed25519', () => {
  it('asks OpenSSL first, but not about points that are not ordinary', () => {
    const secret = Buffer.alloc(32, 5);
    const key = ed25519.getPublicKey(secret);
    const message = Buffer.from('plain');
    const signature = ed25519.sign(message, secret);
    expect(isVerifiedByOpenSsl(signature, key, message)).toBe(true);
    expect(isVerifiedByOpenSsl(signature, key, Buffer.from('other'))).toBe(false);
    // OpenSSL accepts this signature by the identity for every message, in each encoding of the identity.
    for (const identity of ['01', '01/80', 'ee/7f', 'ee/ff'].map(identityOf)) {
      const empty = Buffer.concat([identity, Buffer.alloc(32)]);
      expect(isVerifiedByOpenSsl(empty, identity, message)).toBe(false);
      expect(isEd25519Signature(empty, identity, message)).toBe(false);
    }
  });
});
