/**
 * `POST /v1/transactions`, `…/batch` and `…/simulate`: what only a node that executes transactions can answer. Without
 * an upstream they are refused, after the checks that come before that in the reference (docs/spec/transactions.md
 * §9.1).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { EncodeError } from '../../ledger/encode/index.ts';
import { checkSubmission, checkSubmissions } from '../../ledger/encode/submission.ts';
import { ApiError } from '../http/error-table.ts';
import { bodyFormat } from '../http/negotiation.ts';
import type { Schema } from '../schemas/json-schema.ts';
import { SubmitRequestSchema, SubmitRequestsSchema } from '../schemas/submission-schemas.ts';
import {
  BatchSubmittedSchema,
  SimulatedSchema,
  SubmittedSchema,
} from '../schemas/transaction-schemas.ts';
import { defineSubmission, disabled } from './endpoint.ts';
import { BOOLEAN, queryParameter } from './parameters.ts';

const SIGNED_TRANSACTION = 'application/x.aptos.signed_transaction+bcs';

/**
 * The body of a transaction with its signature, or of several: read and verified, and that is all.
 * @param what begins messages about what is wrong with it
 */
function submissionBody(
  schema: Schema,
  check: (body: Buffer) => void,
  bcsDescription: string,
  what: string,
) {
  return {
    schema,
    bcs: { contentType: SIGNED_TRANSACTION, description: bcsDescription },
    read(bytes: Buffer, headers: IncomingHttpHeaders): undefined {
      if (bodyFormat(headers['content-type'], SIGNED_TRANSACTION) === 'bcs') return;
      try {
        check(bytes);
      } catch (cause) {
        if (!(cause instanceof EncodeError) || cause.stage !== 'verify') throw cause;
        throw new ApiError(400, 'invalid_input', `${what}: ${cause.detail}`, { cause });
      }
    },
  };
}

/** @throws ApiError 403 `api_disabled` */
export function refuse(operation: string, lack: string): never {
  throw disabled(
    `${operation} is disabled on this endpoint: this node ${lack}; ` +
      'with --upstream URL it passes such requests on to a node that can',
  );
}

const PASSED_ON =
  ' This node passes the request on to its upstream, whose answer comes back as it is; without an ' +
  'upstream it answers 403.';
const SIGNED_TRANSACTION_BCS = 'SignedTransaction.';

export const submitEndpoint = defineSubmission({
  operationId: 'submit_transaction',
  isNeverBatched: true,
  isPassedOn: true,
  tag: 'Transactions',
  summary: 'Submit transaction',
  description: `Has a signed transaction executed.${PASSED_ON}`,
  path: '/transactions',
  parameters: {},
  body: submissionBody(
    SubmitRequestSchema,
    checkSubmission,
    SIGNED_TRANSACTION_BCS,
    // The stray quote is the interface's.
    "Submitted transaction invalid'",
  ),
  results: {
    status: 202,
    description: 'The transaction was taken and waits to be executed.',
    json: SubmittedSchema,
    bcs: 'Nothing.',
  },
  answer: () => refuse('Submit transaction', 'executes no transactions'),
});

export const submitBatchEndpoint = defineSubmission({
  operationId: 'submit_batch_transactions',
  isNeverBatched: true,
  isPassedOn: true,
  tag: 'Transactions',
  summary: 'Submit batch transactions',
  description: `Has several signed transactions executed.${PASSED_ON}`,
  path: '/transactions/batch',
  parameters: {},
  body: submissionBody(
    SubmitRequestsSchema,
    checkSubmissions,
    'A vector of SignedTransaction.',
    'Submitted transactions invalid',
  ),
  results: {
    status: 202,
    description: 'The transactions were taken and wait; 206 when some were refused.',
    json: BatchSubmittedSchema,
    bcs: 'As the upstream answers.',
  },
  answer: () => refuse('Submit batch transaction', 'executes no transactions'),
});

export const simulateEndpoint = defineSubmission({
  operationId: 'simulate_transaction',
  isNeverBatched: true,
  isPassedOn: true,
  tag: 'Transactions',
  summary: 'Simulate transaction',
  description: `Executes a transaction without committing it. Its signatures must not be valid.${PASSED_ON}`,
  path: '/transactions/simulate',
  parameters: {
    estimate_max_gas_amount: queryParameter(BOOLEAN, 'Whether to use the largest gas amount.'),
    estimate_gas_unit_price: queryParameter(BOOLEAN, 'Whether to use the usual gas price.'),
    estimate_prioritized_gas_unit_price: queryParameter(
      BOOLEAN,
      'Whether to use the gas price of transactions that are to be executed first.',
    ),
  },
  body: submissionBody(
    SubmitRequestSchema,
    checkSubmission,
    SIGNED_TRANSACTION_BCS,
    'Simulated transaction invalid',
  ),
  results: {
    description: 'The transaction as it would have been committed.',
    json: SimulatedSchema,
    bcs: 'A vector of TransactionOnChainData.',
  },
  answer: () => refuse('Simulate transaction', 'executes no transactions'),
});
