/**
 * The process that opens what a power cut has left: `node cut-checker FOLDER`. For each message it reads the ledger and
 * says which version it has, or what is wrong with it.
 */

import { readHead } from '../../src/store/columns/head.ts';
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { isStoreError } from '../../src/store/store-error.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';

export interface CutOutcome {
  /** Decimal; −1 for no ledger yet. */
  readonly version: string;
  readonly fault?: string | undefined;
}

async function examine(directory: string): Promise<CutOutcome> {
  const store = await openLmdbStore({ directory });
  try {
    const head = await readHead(store);
    if (head === undefined) return { version: '-1' };
    const { damageCount, damages } = await verifyLedger(store);
    const fault = damageCount === 0 ? undefined : JSON.stringify(damages[0]?.detail);
    return { version: String(head.version), fault };
  } finally {
    await store.close();
  }
}

process.on('message', () => {
  examine(process.argv[2]!).then(
    (outcome) => process.send!(outcome),
    (error: Error) => {
      const isAbsent = isStoreError(error, 'store_not_found');
      process.send!({ version: '-1', fault: isAbsent ? undefined : String(error.stack) });
    },
  );
});
process.send!('open');
