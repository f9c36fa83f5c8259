/**
 * `POST /v1/transactions` and `…/batch`: what only a node that executes transactions can answer. Without an upstream
 * they are refused, after the checks that come before that in the reference (docs/spec/transactions.md §9.1). And
 * `…/simulate`, which an upstream answers better (§9.4).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { EncodeError } from '../../ledger/encode/index.ts';
import {
  checkSubmissions,
  parseSubmission,
  type Submission,
  signedTransactionOf,
} from '../../ledger/encode/submission.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { MAX_SIMULATED_BYTES } from '../../ledger/simulation/simulated-transaction.ts';
import { ApiError, frameworkError } from '../http/error-table.ts';
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

/**
 * Longest request to simulate in JSON, in bytes: that of the largest transaction whose bytes are hex. Larger ones would
 * take longer to be read than everything else.
 */
export const MAX_SIMULATED_JSON_BYTES = 2 * MAX_SIMULATED_BYTES;

const SIGNED_TRANSACTION = 'application/x.aptos.signed_transaction+bcs';

/**
 * The body of a transaction with its signature, or of several: read and verified, BCS only read.
 * @param what begins messages about what is wrong with it
 */
function submissionBody<T>(
  schema: Schema,
  parse: (body: Buffer) => T,
  bcsDescription: string,
  what: string,
) {
  return {
    schema,
    bcs: { contentType: SIGNED_TRANSACTION, description: bcsDescription },
    read(bytes: Buffer, headers: IncomingHttpHeaders): T | Buffer {
      if (bodyFormat(headers['content-type'], SIGNED_TRANSACTION) === 'bcs') return bytes;
      try {
        return parse(bytes);
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

const REQUEST = 'SubmitTransactionRequest';
const NOT_SIGNED = `Failed to parse transaction when building SignedTransaction from ${REQUEST}`;

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
    parseSubmission,
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
  description:
    'Executes a transaction without committing it. Its signatures must not be valid. With an upstream this node ' +
    'passes the request on, and the answer comes back as it is. Without one it runs the transaction itself: the ' +
    'gas used is an estimate, and transactions that publish modules or belong to a multisig account are refused.',
  switchName: 'Simulate transaction',
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
    (body) => {
      if (body.length > MAX_SIMULATED_JSON_BYTES) throw frameworkError(413, 'payload too large');
      return parseSubmission(body);
    },
    SIGNED_TRANSACTION_BCS,
    'Simulated transaction invalid',
  ),
  results: {
    description: 'The transaction as it would have been committed.',
    json: SimulatedSchema,
    bcs: 'TransactionOnChainData.',
  },
  async answer({ parameters, body, view, format, pace }) {
    const signed = Buffer.isBuffer(body) ? body : await signedOf(body, view);
    const estimates = {
      isMaxGasAmountLargest: parameters.estimate_max_gas_amount === true,
      price: parameters.estimate_prioritized_gas_unit_price
        ? 'prioritized'
        : parameters.estimate_gas_unit_price
          ? 'usual'
          : undefined,
    } as const;
    const simulated = await view.simulateSubmitted(signed, estimates, pace);
    if (format === 'bcs') return { body: simulated.item };
    return { body: Buffer.concat([OPEN, await view.history.renderedSimulated(simulated), CLOSE]) };
  },
});

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');

/** @throws ApiError 400 for a request that cannot be made a transaction */
async function signedOf(submission: Submission, view: LedgerView): Promise<Buffer> {
  const { chainId } = view.state;
  try {
    return await signedTransactionOf(submission, { chainId, lookupModule: view.lookupModule });
  } catch (cause) {
    if (!(cause instanceof EncodeError)) throw cause;
    const failed =
      cause.code === 'bad_signature' ? NOT_SIGNED : 'Failed to parse transaction payload';
    const text = `Failed to create SignedTransaction from ${REQUEST}: ${failed}: ${cause.detail}`;
    throw new ApiError(400, 'invalid_input', text, { cause });
  }
}
