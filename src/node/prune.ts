/** Pruning a ledger: `daybook prune`, and in a serving node that writes (docs/pruning.md). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { pinnedPrimaryStores } from '../ledger/balances/pinned-stores.ts';
import type { Address } from '../move/types/address.ts';
import { MAX_PINNED_ACCOUNTS, type PruneProgress } from '../store/columns/pruning-column.ts';
import type { PrunePolicy } from '../store/pruning/prune.ts';
import { OFFLINE_PRUNE_BOUNDS, type PruneReport, Pruner } from '../store/pruning/prune.ts';
import { isStoreError, isTransient } from '../store/store-error.ts';
import type { LedgerWriter } from '../store/write/writer.ts';
import { NodeError } from './node-error.ts';
import { emptyStoreError, openStoreReader, withWriter } from './open-store.ts';
import { accountsOfFile, accountsOfText } from './settings/account-list.ts';
import type { NodeSettings } from './settings/settings.ts';

/** How often a serving node checks for something to prune, in milliseconds. */
const PRUNE_INTERVAL_MS = 1_000;
/** How long it waits when the disk is full, in milliseconds. */
const RETRY_INTERVAL_MS = 3_000;
/** Largest file of addresses, in bytes: 10,000 with remarks. */
const MAX_ACCOUNTS_FILE_BYTES = 4 * 1024 * 1024;
const MS_PER_SECOND = 1_000;

type KeepSettings = Pick<
  NodeSettings,
  'keepVersions' | 'keepSeconds' | 'keepAccounts' | 'keepAccountsFile'
>;

export interface PruneFolderReport extends PruneReport {
  readonly keptAccounts: number;
}

/** `undefined` when everything is retained. */
function prunePolicyOf({ keepVersions, keepSeconds }: KeepSettings): PrunePolicy | undefined {
  if (keepVersions === 0 && keepSeconds === 0) return undefined;
  const bound = (value: number) => (value === 0 ? undefined : value);
  return { versions: bound(keepVersions), seconds: bound(keepSeconds) };
}

/** The accounts in the settings and in their file. @throws NodeError `bad_setting`, `file_not_readable` */
function pinnedAccountsOf({ keepAccounts, keepAccountsFile }: KeepSettings): Set<Address> {
  const accounts = new Set(accountsOfText(keepAccounts, 'keep_accounts'));
  if (keepAccountsFile !== '') {
    for (const account of accountsOfFile(keepAccountsFile, MAX_ACCOUNTS_FILE_BYTES)) {
      accounts.add(account);
    }
  }
  if (accounts.size <= MAX_PINNED_ACCOUNTS) return accounts;
  throw new NodeError(
    'bad_setting',
    `${accounts.size} accounts are to be pinned, at most ${MAX_PINNED_ACCOUNTS} are allowed`,
    { exitCode: 2 },
  );
}

/**
 * Prunes the ledger of a folder completely. No other process may write it; readers can continue.
 * @param graceMs time for running requests; 0 without readers
 * @throws NodeError `no_ledger`, `data_not_usable`, `bad_setting`
 */
export async function pruneFolder(
  data: string,
  keep: KeepSettings,
  graceMs: number,
  onProgress: (progress: PruneProgress, oldestVersion: bigint) => void,
): Promise<PruneFolderReport> {
  const accounts = pinnedAccountsOf(keep);
  const policy = prunePolicyOf(keep);
  if (policy === undefined) {
    const message = 'say what to keep: --keep VERSIONS, --keep-seconds SECONDS';
    throw new NodeError('bad_setting', message, { exitCode: 2 });
  }
  // A reader fails without a store; a writer would create one.
  await (await openStoreReader(data)).close();
  return await withWriter(data, async (writer) => {
    if (writer.head === undefined) throw emptyStoreError(data);
    const pruner = new Pruner(writer, {
      ...{ objectsOf: pinnedPrimaryStores, graceMs, restFactor: 0, bounds: OFFLINE_PRUNE_BOUNDS },
      onProgress,
    });
    const { size: keptAccounts } = await pruner.pinAccounts(accounts);
    const report = await pruner.run(policy);
    return { ...report, keptAccounts };
  });
}

/**
 * Prunes the ledger of a writer between its commits, until stopped; pins the accounts first. Waits for a ledger that
 * does not exist yet, and for a full disk.
 * @returns a function that ends it between two steps; the next start continues there
 * @throws NodeError `bad_setting`, `file_not_readable`
 */
export async function startPruning(
  writer: LedgerWriter,
  settings: KeepSettings & Pick<NodeSettings, 'pruneGraceSeconds'>,
  logger: Logger,
): Promise<() => Promise<void>> {
  const accounts = pinnedAccountsOf(settings);
  const policy = prunePolicyOf(settings);
  const graceMs = settings.pruneGraceSeconds * MS_PER_SECOND;
  const pruner = new Pruner(writer, { objectsOf: pinnedPrimaryStores, graceMs });
  const abort = new AbortController();
  const { signal } = abort;
  const pin = () =>
    ifStoreAvailable(logger, async () => {
      const { size } = await pruner.pinAccounts(accounts);
      logger.info({ accounts: size }, 'the history of accounts is kept');
    });
  let arePinned = accounts.size === 0 || (writer.head !== undefined && (await pin()));
  const work = async (): Promise<void> => {
    const rest = (ms: number) => sleep(ms, undefined, { signal });
    while (writer.head === undefined) await rest(PRUNE_INTERVAL_MS);
    // Nothing is deleted before the store has recorded what must stay.
    while (!arePinned) {
      arePinned = await pin();
      if (!arePinned) await rest(RETRY_INTERVAL_MS);
    }
    while (policy !== undefined) {
      const isDone = await ifStoreAvailable(logger, async () => {
        const { head, versions, steps } = await pruner.run(policy, signal);
        if (versions === 0n) return;
        const oldest = String(head.oldestVersion);
        logger.info({ oldest, versions: String(versions), steps }, 'pruned');
      });
      await rest(isDone ? PRUNE_INTERVAL_MS : RETRY_INTERVAL_MS);
    }
  };
  const isNeeded = policy !== undefined || !arePinned;
  const done = (isNeeded ? work() : Promise.resolve()).catch((error: unknown) => {
    if (!signal.aborted) logger.error({ err: error }, 'pruning stopped: it failed');
  });
  return async () => {
    abort.abort();
    await done;
  };
}

/** Runs `work`. @returns false, and logs it, if the disk is full or the store cannot be reached */
async function ifStoreAvailable(logger: Logger, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    const isFull = isStoreError(error, 'store_full');
    if (!isFull && !isTransient(error)) throw error;
    const why = isFull ? 'the disk is full' : 'the store cannot be reached';
    logger.warn({ err: error }, `pruning waits: ${why}`);
    return false;
  }
}
