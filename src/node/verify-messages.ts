/** What the process that examines a ledger tells the one that started it. */
import type { VerifyProgress, VerifyReport } from '../verify/verify-ledger.ts';
import type { NodeErrorCode } from './node-error.ts';

/** A message; sent in the form of structured clones, so numbers stay bigint. */
export type VerifyMessage =
  | { readonly kind: 'progress'; readonly progress: VerifyProgress }
  | { readonly kind: 'report'; readonly report: VerifyReport }
  | { readonly kind: 'failed'; readonly code: NodeErrorCode; readonly message: string };
