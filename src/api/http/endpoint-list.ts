/** All endpoints, in the order of the documentation. */

import {
  accountEndpoint,
  balanceEndpoint,
  moduleEndpoint,
  modulesEndpoint,
  resourceEndpoint,
  resourcesEndpoint,
} from '../endpoints/accounts.ts';
import { blockByHeightEndpoint, blockByVersionEndpoint } from '../endpoints/blocks.ts';
import { encodeSubmissionEndpoint } from '../endpoints/encode-submission.ts';
import type { AnyEndpoint } from '../endpoints/endpoint.ts';
import { eventsByHandleEndpoint, eventsEndpoint } from '../endpoints/events.ts';
import { simulateEndpoint, submitBatchEndpoint, submitEndpoint } from '../endpoints/execution.ts';
import { balanceHistoryEndpoint } from '../endpoints/extensions/balance-history.ts';
import { balancesEndpoint } from '../endpoints/extensions/balance-list.ts';
import { batchEndpoint } from '../endpoints/extensions/batch.ts';
import { decodeSubmissionEndpoint } from '../endpoints/extensions/decode-submission.ts';
import { eventsByTypeEndpoint } from '../endpoints/extensions/events-by-type.ts';
import { headsEndpoint, readyEndpoint, snapshotsEndpoint } from '../endpoints/extensions/node.ts';
import {
  traceSimulationEndpoint,
  traceTransactionEndpoint,
  traceViewEndpoint,
} from '../endpoints/extensions/traces.ts';
import { versionByTimestampEndpoint } from '../endpoints/extensions/versions.ts';
import { healthyEndpoint, infoEndpoint, ledgerInfoEndpoint } from '../endpoints/health.ts';
import {
  rawStateValueEndpoint,
  rawTableItemEndpoint,
  tableItemEndpoint,
} from '../endpoints/state-items.ts';
import {
  accountTransactionsEndpoint,
  auxiliaryInfoEndpoint,
  estimateGasPriceEndpoint,
  transactionByHashEndpoint,
  transactionByVersionEndpoint,
  transactionSummariesEndpoint,
  transactionsEndpoint,
  waitTransactionByHashEndpoint,
} from '../endpoints/transactions.ts';
import { viewEndpoint } from '../endpoints/view.ts';
import type { Query } from '../request-target.ts';

export const ENDPOINTS: readonly AnyEndpoint[] = [
  ledgerInfoEndpoint,
  infoEndpoint,
  healthyEndpoint,
  readyEndpoint,
  headsEndpoint,
  snapshotsEndpoint,
  moduleEndpoint,
  balanceEndpoint,
  balanceHistoryEndpoint,
  balancesEndpoint,
  accountEndpoint,
  resourceEndpoint,
  resourcesEndpoint,
  modulesEndpoint,
  eventsEndpoint,
  eventsByHandleEndpoint,
  eventsByTypeEndpoint,
  blockByHeightEndpoint,
  blockByVersionEndpoint,
  versionByTimestampEndpoint,
  transactionsEndpoint,
  transactionByVersionEndpoint,
  transactionByHashEndpoint,
  waitTransactionByHashEndpoint,
  accountTransactionsEndpoint,
  transactionSummariesEndpoint,
  submitEndpoint,
  submitBatchEndpoint,
  simulateEndpoint,
  viewEndpoint,
  auxiliaryInfoEndpoint,
  estimateGasPriceEndpoint,
  tableItemEndpoint,
  rawTableItemEndpoint,
  rawStateValueEndpoint,
  encodeSubmissionEndpoint,
  decodeSubmissionEndpoint,
  traceTransactionEndpoint,
  traceSimulationEndpoint,
  traceViewEndpoint,
  batchEndpoint,
];

export const ENDPOINTS_BY_ID: ReadonlyMap<string, AnyEndpoint> = new Map(
  ENDPOINTS.map((endpoint) => [endpoint.operationId, endpoint]),
);

const VERSION_NAME = 'ledger_version';

export function hasVersionParameter({ parameters, laterParameters }: AnyEndpoint): boolean {
  return (
    VERSION_NAME in parameters || (laterParameters !== undefined && VERSION_NAME in laterParameters)
  );
}

/** Adds a version to a target, if the endpoint takes one and the target's query has none. */
export function targetAt(
  version: bigint,
  endpoint: AnyEndpoint,
  target: string,
  query: Query,
): string {
  if (!hasVersionParameter(endpoint) || query.first(VERSION_NAME) !== undefined) return target;
  return `${target}${target.includes('?') ? '&' : '?'}${VERSION_NAME}=${version}`;
}
