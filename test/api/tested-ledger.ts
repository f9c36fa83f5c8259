/**
 * The ledger that an API test asks. The project `api-later` runs all of them over a store that answers later
 * (vitest.config.ts).
 */
import { openLedger } from '../../src/ledger/open.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { AnsweringLater } from '../store/answering-later.ts';

const ANSWERS_LATER = process.env['DAYBOOK_TEST_ANSWERS'] === 'later';

/** Opens a ledger for questions; the store stays the caller's to close. */
export function openTestedLedger(
  store: StoreReader,
  ...rest: Parameters<typeof openLedger> extends [unknown, ...infer R] ? R : never
): ReturnType<typeof openLedger> {
  return openLedger(ANSWERS_LATER ? new AnsweringLater(store) : store, ...rest);
}
