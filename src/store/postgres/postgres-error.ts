/** Converts failures of PostgreSQL, and of the connection to it, to errors of the store. */
import { StoreError } from '../store-error.ts';

type ErrorCode = StoreError['code'];

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html), or by its first 3 or 2 characters. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  '53100': 'store_full',
  '25006': 'store_read_only',
  '57014': 'store_timeout',
  '55P03': 'store_timeout',
  '42P01': 'store_not_found',
  '3F000': 'store_not_found',
  '42501': 'store_refused',
  '3D000': 'store_refused',
  '28': 'store_refused',
  // A standby cancels reads that conflict with its replay. The connection remains usable.
  '40001': 'store_interrupted',
  XX001: 'store_damaged',
  XX002: 'store_damaged',
  '58P01': 'store_damaged',
  '08': 'store_unreachable',
  '25P03': 'store_unreachable',
  '53300': 'store_unreachable',
  '57P': 'store_unreachable',
};

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  store_full: 'make room and try again',
  store_read_only: 'name the primary server, or promote this one',
  store_timeout: 'check the load of the server',
  store_not_found: 'make a ledger there first',
  store_refused: 'check user, password, database and permissions',
  store_damaged: 'restore the database from a backup',
  store_unreachable: 'check that the server runs',
  store_interrupted: 'try again, or read from the primary',
};

/** Whether a server ended a session because it was idle for too long. Statements sent meanwhile have not run. */
export function hasEndedIdle(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return cause?.code === '57P05';
}

/**
 * @param what the attempted operation, such as `a commit to postgres://host/db`
 * @param isConnected false when the connection is lost or was never established
 */
export function asStoreError(cause: unknown, what: string, isConnected: boolean): StoreError {
  if (cause instanceof StoreError) return cause;
  const { code: state } = cause as { code?: unknown };
  const known =
    typeof state === 'string'
      ? (CODES[state] ?? CODES[state.slice(0, 3)] ?? CODES[state.slice(0, 2)])
      : undefined;
  const code = known ?? (isConnected ? 'store_io' : 'store_unreachable');
  const detail = cause instanceof Error ? cause.message : String(cause);
  const remedy = REMEDIES[code];
  const message = `${what} failed (${detail})${remedy === undefined ? '' : `: ${remedy}`}`;
  return new StoreError(code, message, { cause });
}
