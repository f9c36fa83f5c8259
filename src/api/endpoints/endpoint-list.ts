/** All endpoints, in the order of the documentation. */

import type { Query } from '../http/request-target.ts';
import { accountEndpoint, resourceEndpoint } from './accounts.ts';
import { auxiliaryInfoEndpoint } from './auxiliary-info.ts';
import { balanceEndpoint } from './balance.ts';
import { blockByHeightEndpoint, blockByVersionEndpoint } from './blocks.ts';
import { encodeSubmissionEndpoint } from './encode-submission.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { eventsByHandleEndpoint, eventsEndpoint } from './events.ts';
import { simulateEndpoint, submitBatchEndpoint, submitEndpoint } from './execution.ts';
import { balanceHistoryEndpoint } from './extensions/balance-history.ts';
import { balancesEndpoint } from './extensions/balance-list.ts';
import { batchEndpoint } from './extensions/batch.ts';
import { decodeSubmissionEndpoint } from './extensions/decode-submission.ts';
import { eventsByTypeEndpoint } from './extensions/events-by-type.ts';
import { headsEndpoint } from './extensions/heads.ts';
import { readyEndpoint } from './extensions/ready.ts';
import { snapshotsEndpoint } from './extensions/snapshots.ts';
import { versionByTimestampEndpoint } from './extensions/versions.ts';
import { estimateGasPriceEndpoint } from './gas-price.ts';
import { healthyEndpoint, infoEndpoint, ledgerInfoEndpoint } from './health.ts';
import { modulesEndpoint, resourcesEndpoint } from './listings.ts';
import { moduleEndpoint } from './module.ts';
import { rawStateValueEndpoint, rawTableItemEndpoint, tableItemEndpoint } from './state-items.ts';
import {
  accountTransactionsEndpoint,
  transactionByHashEndpoint,
  transactionSummariesEndpoint,
  waitTransactionByHashEndpoint,
} from './transaction-lookups.ts';
import { transactionByVersionEndpoint, transactionsEndpoint } from './transactions.ts';
import { viewEndpoint } from './view.ts';

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
  batchEndpoint,
];

export const ENDPOINTS_BY_ID: ReadonlyMap<string, AnyEndpoint> = new Map(
  ENDPOINTS.map((endpoint) => [endpoint.operationId, endpoint]),
);

const VERSION_NAME = 'ledger_version';

/** Whether a query may name the version to read at. */
export function takesVersion({ parameters, laterParameters }: AnyEndpoint): boolean {
  return (
    VERSION_NAME in parameters || (laterParameters !== undefined && VERSION_NAME in laterParameters)
  );
}

/** A target that names a version, where the endpoint takes one and the query of the target has none. */
export function targetAt(
  version: bigint,
  endpoint: AnyEndpoint,
  target: string,
  query: Query,
): string {
  if (!takesVersion(endpoint) || query.first(VERSION_NAME) !== undefined) return target;
  return `${target}${target.includes('?') ? '&' : '?'}${VERSION_NAME}=${version}`;
}
