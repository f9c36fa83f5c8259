/**
 * `POST /v1/transactions` and `…/batch`, which only a node that executes transactions can answer. Without a local chain
 * or an upstream they are refused, after the checks that the reference makes first (docs/spec/transactions.md §9.1).
 * Also `…/simulate`, which an upstream answers better (§9.4).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { MAX_SIMULATED_BYTES } from '../../execution/simulated-transaction.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { SignedTransaction } from '../../move/transactions/user-transaction.ts';
import { LedgerError } from '../../state/ledger-error.ts';
import { EncodeError } from '../../submission/encode/index.ts';
import {
  parseSubmission,
  parseSubmissions,
  type Submission,
  signedTransactionOf,
} from '../../submission/encode/submission.ts';
import { ApiError, ERROR_CODES, errorBody, frameworkError, knownFailure } from '../error-table.ts';
import { bodyFormat } from '../negotiation.ts';
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
 * Maximum JSON body of one transaction, in bytes: the largest transaction with its bytes in hex. Parsing larger ones
 * would take longer than everything else.
 */
export const MAX_SIMULATED_JSON_BYTES = 2 * MAX_SIMULATED_BYTES;

const SIGNED_TRANSACTION = 'application/x.aptos.signed_transaction+bcs';

/**
 * Reads a body of one or several signed transactions. JSON is parsed and verified; BCS is returned as bytes.
 * @param what begins the messages about invalid bodies
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

const NO_CHAIN = 'executes no transactions';
const NO_BYTES = Buffer.alloc(0);
const MAX_BATCH = 10;

interface BatchFailure {
  readonly index: number;
  readonly error: ApiError;
}

function failuresJson(failures: readonly BatchFailure[]): string {
  const items = failures.map(
    ({ index, error }) => `{"error":${errorBody(error)},"transaction_index":${index}}`,
  );
  return `{"transaction_failures":[${items.join(',')}]}`;
}

function failuresBcs(failures: readonly BatchFailure[]): Buffer {
  return encodeBcs((writer) =>
    writer.vector(failures, (to, { index, error }) => {
      to.string(error.message).uleb32(ERROR_CODES.indexOf(error.code));
      to.option(error.vmErrorCode, (inner, code) => inner.exactU64(code));
      to.exactU64(index);
    }),
  );
}

function tooMany(count: number): ApiError {
  const text = `Submitted too many transactions: ${count}, while limit is ${MAX_BATCH}`;
  return new ApiError(400, 'invalid_input', text);
}

/** The transactions of a batch in BCS. @throws LedgerError `invalid_input` */
function splitBatch(body: Buffer): Buffer[] {
  try {
    const count = new BcsReader(body).itemCount(MIN_SIGNED_BYTES);
    if (count > MAX_BATCH) throw tooMany(count);
    const reader = new BcsReader(body);
    const items = reader.vector(MIN_SIGNED_BYTES, (inner) => {
      const start = inner.offset;
      SignedTransaction.read(inner);
      return body.subarray(start, inner.offset);
    });
    reader.finish();
    return items;
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    const text = `Failed to deserialize input into SignedTransaction: ${cause.detail}`;
    throw new LedgerError('invalid_input', text, { cause });
  }
}

/** Minimum bytes of a transaction: sender, numbers, the shortest payload and authenticator. */
const MIN_SIGNED_BYTES = 32 + 8 + 2 + 3 * 8 + 1 + 1;

/** Parses one transaction, if it is small enough to parse in one turn. @throws ApiError 413, EncodeError */
function parseOne(body: Buffer): Submission {
  if (body.length > MAX_SIMULATED_JSON_BYTES) throw frameworkError(413, 'payload too large');
  return parseSubmission(body);
}

/** @throws ApiError 403 `api_disabled` */
export function refuse(operation: string, reason: string): never {
  throw disabled(
    `${operation} is disabled on this endpoint: this node ${reason}; ` +
      'with --upstream URL it passes such requests on to a node that can',
  );
}

const REQUEST = 'SubmitTransactionRequest';
const NOT_SIGNED = `Failed to parse transaction when building SignedTransaction from ${REQUEST}`;

const FORWARDING =
  ' A local network takes it. Another node passes the request on to its upstream, whose answer comes back as it is; ' +
  'without an upstream it answers 403.';
const SIGNED_TRANSACTION_BCS = 'SignedTransaction.';

export const submitEndpoint = defineSubmission({
  operationId: 'submit_transaction',
  isNeverBatched: true,
  isForwarded: true,
  tag: 'Transactions',
  summary: 'Submit transaction',
  description: `Has a signed transaction executed.${FORWARDING}`,
  path: '/transactions',
  parameters: {},
  body: submissionBody(
    SubmitRequestSchema,
    parseOne,
    SIGNED_TRANSACTION_BCS,
    // The stray quote is part of the interface.
    "Submitted transaction invalid'",
  ),
  results: {
    status: 202,
    description: 'The transaction was taken and waits to be executed.',
    json: SubmittedSchema,
    bcs: 'Nothing.',
  },
  failures: [400, 403, 413, 415, 500, 503, 507],
  async answer({ body, view, format, chain }) {
    if (chain === undefined) return refuse('Submit transaction', NO_CHAIN);
    const signed = Buffer.isBuffer(body) ? body : await signedOf(body, view);
    const accepted = await chain.submit(signed);
    if (format === 'bcs') return { status: 202, body: NO_BYTES };
    const isAnswerForHash = false;
    const json = view.history.renderer.renderPending(
      accepted.signed,
      accepted.hash,
      isAnswerForHash,
    );
    return { status: 202, body: await json };
  },
});

export const submitBatchEndpoint = defineSubmission({
  operationId: 'submit_batch_transactions',
  isNeverBatched: true,
  isForwarded: true,
  tag: 'Transactions',
  summary: 'Submit batch transactions',
  description: `Has several signed transactions executed.${FORWARDING}`,
  path: '/transactions/batch',
  parameters: {},
  body: submissionBody(
    SubmitRequestsSchema,
    parseSubmissions,
    'A vector of SignedTransaction.',
    'Submitted transactions invalid',
  ),
  results: {
    status: 202,
    description: 'The transactions were taken and wait; 206 when some were refused.',
    json: BatchSubmittedSchema,
    bcs: 'A vector of failures: message, number of the error code, optional status code, index.',
  },
  failures: [400, 403, 413, 415, 500, 503, 507],
  async answer({ body, view, format, chain }) {
    if (chain === undefined) return refuse('Submit batch transaction', NO_CHAIN);
    const items = Buffer.isBuffer(body) ? splitBatch(body) : body;
    if (items.length > MAX_BATCH) throw tooMany(items.length);
    const signed: Buffer[] = [];
    for (const item of items) {
      signed.push(Buffer.isBuffer(item) ? item : await signedOf(item, view));
    }
    const results = await chain.submitAll(signed);
    const failures = results.flatMap((cause, index): BatchFailure[] => {
      if (cause === undefined) return [];
      const error = knownFailure(cause);
      if (error === undefined) throw cause;
      return [{ index, error }];
    });
    if (failures.length > 0 && failures.length === signed.length) {
      throw new ApiError(400, 'invalid_input', 'All transactions submitted were invalid.');
    }
    const status = failures.length === 0 ? 202 : 206;
    return { status, body: format === 'bcs' ? failuresBcs(failures) : failuresJson(failures) };
  },
});

export const simulateEndpoint = defineSubmission({
  operationId: 'simulate_transaction',
  isNeverBatched: true,
  isForwarded: true,
  tag: 'Transactions',
  summary: 'Simulate transaction',
  description:
    'Executes a transaction without committing it. Its signatures must not be valid. With an upstream this node ' +
    'passes the request on, and the answer comes back as it is. Without one it runs the transaction itself.',
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
    parseOne,
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
    const gasUsed = String(simulated.gasUsed);
    if (format === 'bcs') return { body: simulated.item, gasUsed };
    const { item, statusSuffix } = simulated;
    const { json } = await view.history.renderer.renderSimulated(item, statusSuffix);
    return { body: Buffer.concat([OPEN, json, CLOSE]), gasUsed };
  },
});

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');

/** @throws ApiError 400 for a request that cannot be encoded as a transaction */
export async function signedOf(submission: Submission, view: LedgerView): Promise<Buffer> {
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
