/** Assertions for all API errors, and an API without a ledger. */

import { expect } from 'vitest';
import type { PageFile } from '../../src/api/http/page-files.ts';
import { buildApi } from '../../src/api/http/server.ts';
import type { ApiSettings } from '../../src/api/settings.ts';
import type { LedgerReader } from '../../src/ledger/open.ts';
import { LedgerError } from '../../src/state/ledger-error.ts';
import { TestApi, type TestReply } from './client.ts';
import { apiSettings } from './settings.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

/** Text of the 503 of `withoutLedger`. */
export const NO_LEDGER = 'Failed to retrieve latest ledger info: no ledger is open';

/** A node before it has a ledger. */
const noLedger: LedgerReader = {
  view() {
    throw new LedgerError('ledger_unavailable', NO_LEDGER);
  },
};

/** Log lines of an API. */
export class LogLines {
  readonly errors: object[] = [];
  readonly warnings: object[] = [];

  error(facts: object): void {
    this.errors.push(facts);
  }

  warn(facts: object): void {
    this.warnings.push(facts);
  }
}

/** An API whose requests fail at the point where they need the ledger. */
export function withoutLedger(
  changes: Partial<ApiSettings> = {},
  pageFiles: readonly PageFile[] = [],
  log = new LogLines(),
): TestApi {
  return new TestApi(
    buildApi(noLedger, apiSettings({ ...NO_LOAD_BOUNDS, ...changes }), log, { pageFiles }),
  );
}

/** Compares a response with the expected error, including every byte of the body. */
export function expectError(
  response: TestReply,
  status: number,
  code: string,
  message: string,
): void {
  expect(response.body).toBe(
    `{"message":${JSON.stringify(message)},"error_code":"${code}","vm_error_code":null}`,
  );
  expect(response.statusCode).toBe(status);
  expect(response.headers['content-type']).toBe(
    code === 'web_framework_error' ? 'application/json' : 'application/json; charset=utf-8',
  );
  expect(response.headers['content-encoding']).toBeUndefined();
}
