/** Which versions can be asked (docs/spec/http.md §5.4). */
import type { LedgerState } from './api-contract.ts';
import { LedgerError } from './ledger-error.ts';

/**
 * The version to read at: `asked`, or the latest.
 * @throws LedgerError `version_not_found` above the latest, `version_pruned` below the oldest
 */
export function resolveVersion(
  { version, oldestVersion }: Pick<LedgerState, 'version' | 'oldestVersion'>,
  asked: bigint | undefined,
): bigint {
  if (asked === undefined) return version;
  if (asked > version) {
    throw new LedgerError(
      'version_not_found',
      `Ledger version not found by Ledger version(${asked})`,
    );
  }
  if (asked < oldestVersion) throw versionPruned(asked);
  return asked;
}

/** What a version below the oldest is answered with. */
export function versionPruned(version: bigint): LedgerError {
  return new LedgerError('version_pruned', `Ledger version(${version}) has been pruned`);
}
