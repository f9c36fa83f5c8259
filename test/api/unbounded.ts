/**
 * Settings for tests that send requests in the same process, one after the other: these never let a turn of the event
 * loop end, which looks like a flood to the node (src/api/load/admission.ts).
 */
import type { ApiSettings } from '../../src/api/settings.ts';

export const NO_LOAD_BOUNDS: Partial<ApiSettings> = { maxBacklogMs: 0 };
