/** Traces of transactions, simulations and view functions: what a run did, call by call (docs/traces.md). */
import { andThen } from '../../../maybe-promise.ts';
import { TraceSchema } from '../../schemas/trace-schemas.ts';
import { defineRead, defineSubmission } from '../endpoint.ts';
import { signedOf, simulateEndpoint } from '../execution.ts';
import { joinedAnswer } from '../joined-answer.ts';
import { LEDGER_VERSION, pathParameter, TRANSACTION } from '../parameters.ts';
import { viewEndpoint } from '../view.ts';

const EXTENSION = ' An extension of this node.';
const RESULTS = { description: 'The trace.', json: TraceSchema };

export const traceTransactionEndpoint = defineRead({
  operationId: 'trace_transaction',
  isNeverBatched: true,
  isExtension: true,
  tag: 'Transactions',
  summary: 'Trace transaction',
  description:
    'Runs a committed transaction again on the state before it and tells what it did: each call with its arguments, ' +
    'results and gas, what it read, wrote and emitted, and where it failed. `is_recorded` says whether it came out ' +
    `as the ledger has it. A state that was pruned is answered with 410.${EXTENSION}`,
  work: 'listing',
  runsCode: true,
  path: '/-/transactions/{transaction}/trace',
  parameters: { transaction: pathParameter(TRANSACTION, 'Hash or version of the transaction.') },
  results: RESULTS,
  async answer({ parameters, view, pace }) {
    return joinedAnswer(await view.traces.transaction(parameters.transaction, pace), pace);
  },
});

export const traceSimulationEndpoint = defineSubmission({
  operationId: 'trace_simulation',
  isNeverBatched: true,
  isExtension: true,
  tag: 'Transactions',
  summary: 'Trace simulation',
  description:
    'Simulates a transaction on the newest state, as `/transactions/simulate` does without an upstream, and tells what ' +
    `it would do.${EXTENSION}`,
  path: '/-/simulate/trace',
  parameters: {},
  body: simulateEndpoint.body!,
  results: RESULTS,
  async answer({ body, view, pace }) {
    const signed = Buffer.isBuffer(body) ? body : await signedOf(body, view);
    return joinedAnswer(await view.traces.simulation(signed, pace), pace, false);
  },
});

export const traceViewEndpoint = defineSubmission({
  operationId: 'trace_view',
  isNeverBatched: true,
  isExtension: true,
  tag: 'View',
  summary: 'Trace view function',
  description: `Calls a view function as \`/view\` does and tells what it did.${EXTENSION}`,
  path: '/-/view/trace',
  parameters: {},
  laterParameters: { ledger_version: LEDGER_VERSION },
  body: viewEndpoint.body!,
  results: RESULTS,
  failures: [400, 403, 404, 410, 413, 415, 500, 503],
  answer({ parameters: { ledger_version: requestedVersion }, body, view, pace }) {
    const trace = view.traces.view(body, view.resolveVersion(requestedVersion), pace);
    return andThen(trace, (pieces) => joinedAnswer(pieces, pace, false));
  },
});
