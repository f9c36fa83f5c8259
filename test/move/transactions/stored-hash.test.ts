/** Hashes of user transactions whose encrypted payload a node has tried to decrypt (docs/spec/backup.md §4.7). */

import { describe, expect, it } from 'vitest';
import { domainHash } from '../../../src/move/crypto/hash.ts';
import { storedTransactionHash, Transaction } from '../../../src/move/transactions/transaction.ts';
import { A1, A2, CIPHERTEXT_POINTS, ciphertextBytes, hash, hex, u64 } from './wire-bytes.ts';

const CIPHERTEXT = ciphertextBytes({
  ...CIPHERTEXT_POINTS,
  paddedKey: Buffer.alloc(16, 3),
  nonce: Buffer.alloc(12, 4),
  body: Buffer.from('body'),
  associatedData: Buffer.from('data'),
  signature: Buffer.alloc(64, 5),
}).toString('hex');
/** A multisig address and a nonce; the hash, epoch 7 and a claim of `A2::pay::out`. */
const CONTENT = [CIPHERTEXT, '00', '01', A1, '01', u64(9), hash('06'), u64(7), '01', A2];
const CLAIM = ['03706179', '01', '036f7574'];

/** A user transaction with an encrypted payload of the given state, and the rest after its content. */
function transaction(state: string, rest: readonly string[]): Buffer {
  const raw = [A1, u64(5), '05', state, ...CONTENT, ...CLAIM, ...rest];
  return hex('00', ...raw, u64(1), u64(2), u64(3), '04', '04 04');
}

const SUBMITTED = transaction('00', []);
const HASH = domainHash('Transaction', SUBMITTED);

function storedHash(bytes: Buffer): Buffer {
  return storedTransactionHash(bytes, Transaction.decode(bytes));
}

describe('a stored transaction hashes as it was submitted', () => {
  it.each([
    ['encrypted', SUBMITTED],
    ['decryption failed, without a proof', transaction('01', ['00', '03'])],
    ['decryption failed, with a proof', transaction('01', ['01 02 aabb', '09'])],
    [
      'decrypted, a script',
      transaction('02', ['02 aabb', '00 02 cafe 00 00', hash('01').slice(32)]),
    ],
    [
      'decrypted, an entry function',
      transaction('02', [
        '00',
        '01',
        A2,
        '03706179',
        '036f7574',
        '00',
        '01 0105',
        hash('02').slice(32),
      ]),
    ],
  ])('%s', (_, bytes) => {
    expect(storedHash(bytes)).toEqual(HASH);
  });

  it('and no other transaction does', () => {
    const other = hex('00', A1, u64(5), '02', A2, '03706179', '036f7574', '00', '00');
    const bytes = Buffer.concat([other, hex(u64(1), u64(2), u64(3), '04', '04 04')]);
    expect(storedHash(bytes)).toEqual(domainHash('Transaction', bytes));
  });
});
