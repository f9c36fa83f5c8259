/** `daybook verify --repair`: examines the ledger of a folder, repairs it from another node, and examines it again. */
import { FeedClient } from '../ingest/feed/feed-client.ts';
import { FeedError } from '../ingest/feed/feed-error.ts';
import { interfaceBase } from '../ingest/feed/interface-url.ts';
import type { VerifyProgress, VerifyReport } from '../verify/ledger.ts';
import { LedgerRepair, MAX_DAMAGES_AT_ONCE, type Repaired } from '../verify/repair/repair.ts';
import { SILENCE_TIMEOUT_MS, TOTAL_TIMEOUT_MS, wellFormed } from './follow.ts';
import { NodeError } from './node-error.ts';
import { asNodeError, hasStore, noLedgerError, openStoreWriter } from './open-store.ts';
import { verifyFolder } from './verify.ts';

/** Maximum repairs, each followed by an examination: keys come after versions, balances after keys. */
const MAX_ROUNDS = 20;

export interface RepairReport {
  /** After the repair. */
  readonly report: VerifyReport;
  readonly repaired: Repaired;
  readonly damagesBefore: number;
}

/**
 * Nobody else may write the ledger meanwhile; readers may go on. It may be ended at any time and run again.
 * @param commitBytes from which a commit is made; absent: as is best
 * @throws NodeError `no_ledger`, `data_not_usable`, `bad_input`; `damaged` when the engine cannot read its pages, or
 *   the source fails or has another history
 */
export async function repairFolder(
  data: string,
  from: string,
  onProgress: (progress: VerifyProgress) => void,
  commitBytes?: number,
): Promise<RepairReport> {
  const base = wellFormed('--from', () => interfaceBase(from));
  if (!(await hasStore(data))) throw await noLedgerError(data);
  const timeouts = { silenceTimeoutMs: SILENCE_TIMEOUT_MS, totalTimeoutMs: TOTAL_TIMEOUT_MS };
  const client = new FeedClient(base, timeouts, 1);
  const store = await openStoreWriter(data);
  const onVersions = (done: number) => onProgress({ what: 'repaired versions', done });
  const repair = new LedgerRepair(store, client, { onVersions, commitBytes });
  const { repaired } = repair;
  const examine = () => verifyFolder(data, onProgress, MAX_DAMAGES_AT_ONCE);
  try {
    let report = await examine();
    const damagesBefore = report.damageCount;
    for (let round = 0; round < MAX_ROUNDS && report.damageCount > 0; round += 1) {
      // A commit would change pages that the engine cannot walk.
      if (report.damages.some(({ isOfEngine }) => isOfEngine === true)) break;
      const { versions, rows } = repaired;
      const before = textOf(report);
      await repair.repair(report);
      if (repaired.versions + repaired.rows === versions + rows) break;
      report = await examine();
      // Other rows were written in vain; versions may have to be written again.
      if (repaired.versions === versions && textOf(report) === before) break;
    }
    return { report, repaired, damagesBefore };
  } catch (cause) {
    if (!(cause instanceof FeedError)) throw asNodeError(cause);
    const message = `cannot repair from ${from}: ${cause.message}; ${writtenText(repaired)}`;
    throw new NodeError('damaged', message, { cause });
  } finally {
    client.close();
    await store.close();
  }
}

function writtenText({ versions, rows }: Repaired): string {
  if (versions + rows === 0) return 'nothing was written';
  return `before, ${versions} versions and ${rows} other rows were repaired`;
}

function textOf({ damages }: VerifyReport): string {
  return damages.map(({ column, key, detail }) => `${column} ${key} ${detail}\n`).join('');
}
