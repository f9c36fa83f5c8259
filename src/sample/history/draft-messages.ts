/** What the generator's thread and its reader say to each other (draft-worker.ts, parallel.ts). */
import type { SampleErrorCode } from '../sample-error.ts';

/** From the thread. Buffers change hands. */
export type DraftMessage =
  | { readonly kind: 'genesis' | 'blocks'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'failed'; readonly code: SampleErrorCode; readonly message: string }
  | { readonly kind: 'done' };

/** To the thread: a step was taken. */
export const STEP_TAKEN = 'taken';

/** Steps that the thread makes before the first of them is taken. */
export const MAX_STEPS_AHEAD = 3;
