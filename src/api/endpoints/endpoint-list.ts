/** All endpoints, in the order of the documentation. */
import { accountEndpoint, resourceEndpoint } from './accounts.ts';
import { auxiliaryInfoEndpoint } from './auxiliary-info.ts';
import { balanceEndpoint, balancesEndpoint } from './balance.ts';
import { blockByHeightEndpoint, blockByVersionEndpoint } from './blocks.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { eventsByHandleEndpoint, eventsEndpoint } from './events.ts';
import { simulateEndpoint, submitBatchEndpoint, submitEndpoint } from './execution.ts';
import { estimateGasPriceEndpoint } from './gas-price.ts';
import { healthyEndpoint, infoEndpoint, ledgerInfoEndpoint, readyEndpoint } from './health.ts';
import { modulesEndpoint, resourcesEndpoint } from './listings.ts';
import { moduleEndpoint } from './module.ts';
import { snapshotsEndpoint } from './snapshots.ts';
import { rawStateValueEndpoint, rawTableItemEndpoint, tableItemEndpoint } from './state-items.ts';
import { decodeSubmissionEndpoint, encodeSubmissionEndpoint } from './submissions.ts';
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
  snapshotsEndpoint,
  moduleEndpoint,
  balanceEndpoint,
  balancesEndpoint,
  accountEndpoint,
  resourceEndpoint,
  resourcesEndpoint,
  modulesEndpoint,
  eventsEndpoint,
  eventsByHandleEndpoint,
  blockByHeightEndpoint,
  blockByVersionEndpoint,
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
];
