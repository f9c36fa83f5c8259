/**
 * Responses of a node that commits nothing to transactions for execution: the reference's, as far as it validates them,
 * and then that it cannot execute them (docs/spec/transactions.md §9.1). It does simulate
 * (test/reference/simulate.test.ts).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSubmission } from '../../src/submission/encode/submission.ts';
import { expectError } from '../api/error-answers.ts';
import { openSmallLedger, type SmallLedger } from '../api/small-ledger.ts';
import { recordedLines } from './reference-chain.ts';

interface Vector {
  readonly kind: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  readonly content_type: string;
  readonly answer: string;
  readonly needs?: string;
}

const SIMULATE = '/v1/transactions/simulate';
const OPERATIONS: Readonly<Record<string, string>> = {
  '/v1/transactions': 'Submit transaction',
  '/v1/transactions/batch': 'Submit batch transaction',
  [SIMULATE]: 'Simulate transaction',
};
const disabledText = (operation: string): string =>
  `${operation} is disabled on this endpoint: this node executes no transactions; ` +
  'with --upstream URL it passes such requests on to a node that can';

const vectors = recordedLines<Vector>('vectors/transactions.jsonl').filter(
  ({ kind, method, path = '' }) =>
    kind === 'http' && method === 'POST' && OPERATIONS[path.split('?')[0]!] !== undefined,
);

let small: SmallLedger;
beforeAll(async () => {
  small = await openSmallLedger();
});
afterAll(() => small.close());

const post = ({ path, headers, body }: Pick<Vector, 'path' | 'headers' | 'body'>) =>
  small.app.request({ method: 'POST', url: path!, headers, body });

describe('a node without an upstream', () => {
  it('answers recorded requests that are read no further than it can, byte for byte', async () => {
    const read = vectors.filter(({ needs, path }) => needs === undefined || path === SIMULATE);
    expect(read.length).toBe(28);
    for (const vector of read) {
      const { statusCode, headers, body } = await post(vector);
      const ours = [statusCode, headers['content-type'], body];
      expect(ours, vector.path + vector.body).toEqual([
        vector.status,
        vector.content_type,
        vector.answer,
      ]);
      expect(headers['x-node-chain-id']).toBe('42');
    }
  });

  it('refuses the others, and says which setting helps', async () => {
    const executed = vectors.filter(({ needs, path }) => needs !== undefined && path !== SIMULATE);
    expect(executed.length).toBe(3);
    for (const vector of executed) {
      const reply = await post(vector);
      expectError(reply, 403, 'api_disabled', disabledText(OPERATIONS[vector.path!]!));
    }
  });
});

const REQUEST = {
  sender: '0x1',
  sequence_number: '0',
  max_gas_amount: '1',
  gas_unit_price: '1',
  expiration_timestamp_secs: '1',
  payload: {
    type: 'entry_function_payload',
    function: '0x1::a::b',
    type_arguments: [],
    arguments: [],
  },
};
const KEY = `0x${'11'.repeat(32)}`;
const MADE = `0x${'22'.repeat(64)}`;
const ed25519 = { type: 'ed25519_signature', public_key: KEY, signature: MADE };
const multiEd25519 = {
  type: 'multi_ed25519_signature',
  public_keys: [KEY],
  signatures: [MADE],
  threshold: 1,
  bitmap: '0x80000000',
};
const key = (type: string, bytes: number) => ({ type, value: `0x${'11'.repeat(bytes)}` });
const singleKey = {
  type: 'single_key_signature',
  public_key: key('secp256k1_ecdsa', 65),
  signature: key('secp256k1_ecdsa', 64),
};
const multiKey = {
  type: 'multi_key_signature',
  public_keys: [key('ed25519', 32), key('keyless', 3)],
  signatures: [{ index: 1, signature: key('keyless', 9) }],
  signatures_required: 1,
};
const signers = {
  sender: ed25519,
  secondary_signer_addresses: ['0x2'],
  secondary_signers: [singleKey],
};
const multiAgent = { type: 'multi_agent_signature', ...signers };
const feePayer = {
  type: 'fee_payer_signature',
  ...signers,
  fee_payer_address: '0x3',
  fee_payer_signer: multiKey,
};
const IN = {
  signature:
    ' (occurred while parsing "TransactionSignature") (occurred while parsing "SubmitTransactionRequest")',
};

/** What is wrong with a request with this signature; undefined if nothing is. */
function problemOf(signature: unknown): string | undefined {
  try {
    parseSubmission(Buffer.from(JSON.stringify({ ...REQUEST, signature })));
    return undefined;
  } catch (error) {
    return (error as { readonly detail: string }).detail;
  }
}

describe('the signature of a request', () => {
  it.each([
    ed25519,
    multiEd25519,
    multiAgent,
    feePayer,
    { type: 'no_account_signature' },
    { ...multiAgent, sender: { type: 'abstract_signature', function_info: '', auth_data: '0x' } },
    { ...multiAgent, secondary_signers: [{ type: 'no_account_signature' }] },
  ])('$type is read', (signature) => {
    expect(problemOf(signature)).toBeUndefined();
  });

  const secp256k1 = singleKey.public_key;
  it.each([
    [{ ...multiEd25519, public_keys: [] }, 'MultiEd25519 signature has no public keys'],
    [
      { ...multiEd25519, public_keys: Array.from({ length: 33 }, () => KEY) },
      'MultiEd25519 signature has over the maximum number of public keys 32',
    ],
    [
      { ...multiEd25519, signatures: Array.from({ length: 33 }, () => MADE) },
      'MultiEd25519 signature has over the maximum number of signatures 32',
    ],
    [
      { ...multiEd25519, public_keys: Array.from({ length: 32 }, () => KEY) },
      'MultiEd25519 signature does not have the same number of signatures as public keys',
    ],
    [
      { ...multiEd25519, threshold: 2 },
      'MultiEd25519 signature does not have enough signatures to pass the threshold',
    ],
    [{ ...multiEd25519, threshold: 0 }, 'MultiEd25519 signature threshold must be greater than 0'],
    [
      { ...multiEd25519, signatures: ['0x00'] },
      'MultiEd25519 signature has a signature with the wrong signature length',
    ],
    [
      { ...multiEd25519, public_keys: ['0x00'] },
      'MultiEd25519 signature has a public key with the wrong public key length',
    ],
    [
      { ...multiEd25519, bitmap: '0x00' },
      'MultiEd25519 signature has an invalid number of bitmap bytes 1 expected 4',
    ],
    [{ ...multiAgent, secondary_signers: [] }, 'MultiAgent signature has no secondary signatures'],
    [
      { ...multiAgent, secondary_signer_addresses: ['0x1', '0x2'] },
      "MultiAgent signatures don't match addresses length",
    ],
    [
      { ...feePayer, secondary_signers: [{ ...singleKey, signature: key('ed25519', 64) }] },
      'Invalid public key, signature match.',
    ],
    [
      { ...feePayer, fee_payer_signer: { ...ed25519, signature: '0x' } },
      'Ed25519 signature length is an invalid number of bytes, should be 64 bytes but found 0',
    ],
    [
      { ...multiAgent, sender: { ...singleKey, public_key: { ...secp256k1, value: '0x' } } },
      "Secp256k1Ecdsa signature's public key is an invalid number of bytes, should be 65 bytes but found 0",
    ],
    [
      { ...multiAgent, sender: { ...multiKey, signatures_required: 2 } },
      'MultiKey signature does not the number of signatures required',
    ],
    [
      { ...multiEd25519, threshold: 256 },
      `failed to parse "integer(uint8)": Only integers from 0 to 255 are accepted. (occurred while parsing "MultiEd25519Signature")${IN.signature}`,
    ],
    [
      { ...multiEd25519, threshold: 1.5 },
      `failed to parse "integer(uint8)": invalid integer (occurred while parsing "MultiEd25519Signature")${IN.signature}`,
    ],
    [
      { ...multiEd25519, threshold: '1' },
      `Expected input type "integer(uint8)", found "1". (occurred while parsing "MultiEd25519Signature")${IN.signature}`,
    ],
    [
      { type: 'single_sender', public_key: KEY },
      `Expected input type "AccountSignature", found {"type":"single_sender","public_key":"${KEY}"}. (occurred while parsing "TransactionSignature") (occurred while parsing "SubmitTransactionRequest")`,
    ],
    [
      { type: 'constructor' },
      'Expected input type "TransactionSignature", found {"type":"constructor"}. (occurred while parsing "SubmitTransactionRequest")',
    ],
    [
      { ...multiAgent, sender: 5 },
      `Expected input type "AccountSignature", found 5. (occurred while parsing "MultiAgentSignature")${IN.signature}`,
    ],
  ])('%j is refused', (signature, problem) => {
    expect(problemOf(signature)).toBe(problem);
  });
});
