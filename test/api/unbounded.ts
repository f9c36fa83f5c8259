/**
 * Settings for tests that ask in the same process, one request after the other: these never let a turn of the event
 * loop end, which to the node looks like a flood (src/api/load/admission.ts).
 */
import type { ApiSettings } from '../../src/api/settings.ts';

export const NO_LOAD_BOUNDS: Partial<ApiSettings> = { maxBacklogMs: 0 };
