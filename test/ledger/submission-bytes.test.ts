/** Requests to submit or simulate as BCS: their signatures, and requests that cannot be encoded. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeSignature } from '../../src/ledger/transactions/signature-json.ts';
import { BcsReader, decodeBcs } from '../../src/move/bcs/bcs-reader.ts';
import {
  type AccountAuthenticator,
  TransactionAuthenticator,
} from '../../src/move/crypto/authenticator.ts';
import { JsonWriter } from '../../src/move/json/json-writer.ts';
import { SignedTransaction } from '../../src/move/transactions/user-transaction.ts';
import { padAddress } from '../../src/move/types/address.ts';
import type { EncodeError } from '../../src/submission/encode/encode-error.ts';
import { parseSubmission, signedTransactionOf } from '../../src/submission/encode/submission.ts';
import { accountAuthenticator } from '../move/transactions/user-transaction-arbitraries.ts';
import { propertySeed } from '../random.ts';

const REQUEST = {
  sender: '0x1',
  sequence_number: '7',
  max_gas_amount: '1000',
  gas_unit_price: '100',
  expiration_timestamp_secs: '1',
  payload: {
    type: 'script_payload',
    code: { bytecode: '0x00', abi: null },
    type_arguments: [],
    arguments: [],
  },
};
/** Its parameters are trusted, so that no module is looked up. */
const ABI = {
  name: 'main',
  visibility: 'public',
  is_entry: true,
  is_view: false,
  generic_type_params: [],
  params: [],
  return: [],
};
const CONTEXT = { chainId: 4, lookupModule: () => undefined };

/** The authenticator of a request with this signature. */
async function authenticatorOf(signature: unknown): Promise<TransactionAuthenticator> {
  const code = { bytecode: '0x00', abi: ABI };
  const request = { ...REQUEST, payload: { ...REQUEST.payload, code }, signature };
  const submission = parseSubmission(Buffer.from(JSON.stringify(request)));
  const { raw, authenticator } = decodeBcs(
    await signedTransactionOf(submission, CONTEXT),
    SignedTransaction.read,
  );
  expect([raw.sender, raw.sequenceNumber, raw.chainId]).toEqual([padAddress('1'), 7n, 4]);
  return authenticator;
}

function jsonOf(authenticator: TransactionAuthenticator): unknown {
  const bytes = TransactionAuthenticator.encode(authenticator);
  const out = new JsonWriter();
  writeSignature(out, new BcsReader(bytes));
  return JSON.parse(out.finishText());
}

async function problemOf(signature: unknown): Promise<readonly [string, string] | undefined> {
  try {
    await authenticatorOf(signature);
    return undefined;
  } catch (error) {
    const { stage, detail } = error as EncodeError;
    return [stage, detail];
  }
}

const A = Buffer.alloc(32, 1);
const B = Buffer.alloc(32, 2);
const MADE = Buffer.alloc(64, 3);
const ed25519 = { kind: 'ed25519', publicKey: A, signature: MADE } as const;
const noAccount = { kind: 'noAccount' } as const;
const key = (bytes: Buffer) => ({ kind: 'ed25519', bytes }) as const;
/** Several keys; the bitmap tells which one signed. */
const multiKey = (count: number, bitmap: readonly number[]): AccountAuthenticator => ({
  kind: 'multiKey',
  publicKeys: Array.from({ length: count }, () => key(B)),
  signaturesRequired: 1,
  signatures: [key(MADE)],
  bitmap: Buffer.from(bitmap),
});
const paidBy = (feePayer: AccountAuthenticator): TransactionAuthenticator => ({
  kind: 'feePayer',
  sender: ed25519,
  secondarySignerAddresses: [padAddress('2')],
  secondarySigners: [noAccount],
  feePayerAddress: padAddress('3'),
  feePayer,
});

describe('the authenticator of a request', () => {
  const shown: readonly TransactionAuthenticator[] = [
    ed25519,
    {
      kind: 'multiEd25519',
      publicKey: { keys: [A, B], threshold: 2 },
      signature: { signatures: [MADE, MADE], bitmap: Buffer.of(0xc0, 0, 0, 0) },
    },
    paidBy(noAccount),
    paidBy(multiKey(1, [0x80])),
    paidBy(multiKey(8, [0x01])),
    paidBy(multiKey(9, [0, 0x80])),
  ];
  it.each(shown)('is what $kind is shown as', async (authenticator) => {
    expect(await authenticatorOf(jsonOf(authenticator))).toEqual(authenticator);
  });

  it('without a key is one of a single sender', async () => {
    const made = await authenticatorOf({ type: 'no_account_signature' });
    expect(made).toEqual({ kind: 'singleSender', sender: noAccount });
  });

  it('is that of any other signer', async () => {
    const one = accountAuthenticator.filter(
      ({ kind }) => kind === 'singleKey' || kind === 'abstract' || kind === 'ed25519',
    );
    const property = fc.asyncProperty(one, async (signer) => {
      const authenticator: TransactionAuthenticator = {
        kind: 'multiAgent',
        sender: noAccount,
        secondarySignerAddresses: [padAddress('2')],
        secondarySigners: [signer],
      };
      const json = jsonOf(authenticator);
      const problem = await problemOf(json);
      if (problem === undefined) expect(await authenticatorOf(json)).toEqual(authenticator);
      else expect(['verify', 'convert']).toContain(problem[0]);
    });
    await fc.assert(property, { numRuns: 200, ...propertySeed() });
  });

  it('has each key once, and none beyond', async () => {
    const signed = (...indexes: readonly number[]) => ({
      ...(jsonOf(paidBy(noAccount)) as object),
      fee_payer_signer: {
        type: 'multi_key_signature',
        public_keys: [A, B].map((bytes) => ({ type: 'ed25519', value: bytes.toString('hex') })),
        signatures: indexes.map((index) => ({
          index,
          signature: { type: 'ed25519', value: MADE.toString('hex') },
        })),
        signatures_required: indexes.length,
      },
    });
    expect(await problemOf(signed(1))).toBeUndefined();
    expect(await problemOf(signed(0, 1))).toBeUndefined();
    const range = 'Signature index is out of public key range, 2 < 2.';
    expect(await problemOf(signed(2))).toEqual(['convert', range]);
    expect(await problemOf(signed(1, 1))).toEqual(['convert', 'Duplicate signature index, 1.']);
  });

  it('is not made of bytes that are none', async () => {
    const signer = {
      type: 'single_key_signature',
      public_key: { type: 'keyless', value: '0x00' },
      signature: { type: 'keyless', value: '0x00' },
    };
    const json = { ...(jsonOf(paidBy(noAccount)) as object), fee_payer_signer: signer };
    expect((await problemOf(json))?.[0]).toBe('convert');
  });
});
