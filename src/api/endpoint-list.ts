/** All endpoints, in the order of the documentation. */
import type { AnyEndpoint } from './endpoint.ts';
import { accountEndpoint } from './endpoints/account.ts';
import { balanceEndpoint } from './endpoints/balance.ts';
import { blockByHeightEndpoint, blockByVersionEndpoint } from './endpoints/blocks.ts';
import { decodeSubmissionEndpoint } from './endpoints/decode-submission.ts';
import { encodeSubmissionEndpoint } from './endpoints/encode-submission.ts';
import { eventsEndpoint } from './endpoints/events.ts';
import { eventsByHandleEndpoint } from './endpoints/events-by-handle.ts';
import { healthyEndpoint } from './endpoints/healthy.ts';
import { ledgerInfoEndpoint } from './endpoints/ledger-info.ts';
import { modulesEndpoint, resourcesEndpoint } from './endpoints/listings.ts';
import { moduleEndpoint } from './endpoints/module.ts';
import { readyEndpoint } from './endpoints/ready.ts';
import { resourceEndpoint } from './endpoints/resource.ts';
import { transactionByVersionEndpoint, transactionsEndpoint } from './endpoints/transactions.ts';

/** Every endpoint that the interface has. */
export const ENDPOINTS: readonly AnyEndpoint[] = [
  ledgerInfoEndpoint,
  healthyEndpoint,
  readyEndpoint,
  moduleEndpoint,
  balanceEndpoint,
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
  encodeSubmissionEndpoint,
  decodeSubmissionEndpoint,
];
