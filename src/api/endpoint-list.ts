/** All endpoints, in the order of the documentation. */
import type { AnyEndpoint } from './endpoint.ts';
import { balanceEndpoint } from './endpoints/balance.ts';
import { decodeSubmissionEndpoint } from './endpoints/decode-submission.ts';
import { encodeSubmissionEndpoint } from './endpoints/encode-submission.ts';
import { eventsEndpoint } from './endpoints/events.ts';
import { healthyEndpoint } from './endpoints/healthy.ts';
import { ledgerInfoEndpoint } from './endpoints/ledger-info.ts';
import { moduleEndpoint } from './endpoints/module.ts';

/** Every endpoint that the interface has. */
export const ENDPOINTS: readonly AnyEndpoint[] = [
  ledgerInfoEndpoint,
  healthyEndpoint,
  moduleEndpoint,
  balanceEndpoint,
  eventsEndpoint,
  encodeSubmissionEndpoint,
  decodeSubmissionEndpoint,
];
