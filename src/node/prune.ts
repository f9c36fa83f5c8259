/**
 * Pruning a ledger: `daybook prune`, and beside the writing of a serving node. docs/operations.md.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { keptPrimaryStores } from '../ledger/balances/pinned-stores.ts';
import { type Address, HexTextError, parseAddress } from '../move/types/address.ts';
import { MAX_PINNED_ACCOUNTS, type PruneProgress } from '../store/columns/pruning-column.ts';
import type { PrunePolicy } from '../store/pruning/prune.ts';
import { OFFLINE_PRUNE_BOUNDS, type PruneReport, Pruner } from '../store/pruning/prune.ts';
import { isStoreError } from '../store/store-error.ts';
import { LedgerWriter } from '../store/writer.ts';
import { NodeError } from './node-error.ts';
import { asNodeError, emptyStoreError, openStoreReader, openStoreWriter } from './open-store.ts';
import { readInputFile } from './settings/input-file.ts';
import type { NodeSettings } from './settings/settings.ts';

/** How often a serving node looks whether something can be pruned, in milliseconds. */
const PRUNE_INTERVAL_MS = 1_000;
/** How long it waits after a failure that may pass: a disk that is full. */
const RETRY_INTERVAL_MS = 3_000;
/** Largest file of addresses: 10,000 with remarks, in bytes. */
const MAX_ACCOUNTS_FILE_BYTES = 4 * 1024 * 1024;

/** What is kept, as people write it. */
export type KeepSettings = Pick<
  NodeSettings,
  'keepVersions' | 'keepSeconds' | 'keepAccounts' | 'keepAccountsFile'
>;

const MS_PER_SECOND = 1_000;

/** What `daybook prune` did. */
export interface PruneFolderReport extends PruneReport {
  /** Accounts whose history is kept, all in all. */
  readonly keptAccounts: number;
  readonly seconds: number;
}

/**
 * The bounds of settings; `undefined` when everything is kept.
 */
export function prunePolicyOf({
  keepVersions,
  keepSeconds,
}: KeepSettings): PrunePolicy | undefined {
  if (keepVersions === 0 && keepSeconds === 0) return undefined;
  return {
    versions: keepVersions === 0 ? undefined : keepVersions,
    seconds: keepSeconds === 0 ? undefined : keepSeconds,
  };
}

/**
 * The accounts that settings and their file name. @throws NodeError `bad_setting`,
 * `file_not_readable`
 */
export function keptAccountsOf({ keepAccounts, keepAccountsFile }: KeepSettings): Set<Address> {
  const accounts = new Set<Address>();
  const add = (text: string, where: string): void => {
    const trimmed = text.replace(/#.*$/, '').trim();
    if (trimmed !== '') accounts.add(addressOf(trimmed, where));
  };
  for (const text of keepAccounts.split(',')) add(text, 'keep_accounts');
  if (keepAccountsFile !== '') {
    const bytes = readInputFile(keepAccountsFile, 'file of accounts', MAX_ACCOUNTS_FILE_BYTES);
    for (const [index, line] of bytes.toString('utf8').split('\n').entries()) {
      add(line, `${keepAccountsFile}, line ${index + 1}`);
    }
  }
  if (accounts.size > MAX_PINNED_ACCOUNTS) {
    throw new NodeError(
      'bad_setting',
      `the history of ${accounts.size} accounts is to be kept, at most ${MAX_PINNED_ACCOUNTS} are`,
    );
  }
  return accounts;
}

function addressOf(text: string, where: string): Address {
  try {
    return parseAddress(text);
  } catch (cause) {
    if (!(cause instanceof HexTextError)) throw cause;
    const message = `${where}: ${JSON.stringify(text)} is no address: ${cause.message}`;
    throw new NodeError('bad_setting', message, { cause });
  }
}

/**
 * Prunes the ledger of a folder to its end. Nobody else may write it; readers may go on.
 * @param graceMs time for those who read; 0 when nobody does
 * @throws NodeError `no_ledger`, `data_not_usable`, `bad_setting`
 */
export async function pruneFolder(
  dataFolder: string,
  keep: KeepSettings,
  graceMs: number,
  onProgress: (progress: PruneProgress, oldestVersion: bigint) => void,
): Promise<PruneFolderReport> {
  const startedMs = performance.now();
  const accounts = keptAccountsOf(keep);
  const policy = prunePolicyOf(keep);
  if (policy === undefined) {
    throw new NodeError(
      'bad_setting',
      'say what to keep: --keep VERSIONS, --keep-seconds SECONDS',
      {
        exitCode: 2,
      },
    );
  }
  // A reader looks first: it makes no store where there is none.
  await openStoreReader(dataFolder).close();
  const store = await openStoreWriter(dataFolder);
  try {
    const writer = await LedgerWriter.open(store);
    if (writer.head === undefined) throw emptyStoreError(dataFolder);
    const pruner = new Pruner(writer, {
      ...{ objectsOf: keptPrimaryStores, graceMs, restFactor: 0, bounds: OFFLINE_PRUNE_BOUNDS },
      onProgress,
    });
    const { size: keptAccounts } = await pruner.pinAccounts(accounts);
    const report = await pruner.run(policy);
    return { ...report, keptAccounts, seconds: (performance.now() - startedMs) / 1000 };
  } catch (error) {
    throw asNodeError(error);
  } finally {
    await store.close();
  }
}

/** Pruning under way in a serving node. */
export interface Pruning {
  /** Ends it between two steps; the next start goes on there. */
  stop(): Promise<void>;
}

/**
 * Keeps pruning the ledger of a writer, beside its commits; at once notes down the accounts to
 * keep. A ledger that has yet to come is waited for, and so is room on a full disk.
 * @throws NodeError `bad_setting`, `file_not_readable`
 */
export async function startPruning(
  writer: LedgerWriter,
  settings: KeepSettings & Pick<NodeSettings, 'pruneGraceSeconds'>,
  logger: Logger,
): Promise<Pruning> {
  const accounts = keptAccountsOf(settings);
  const policy = prunePolicyOf(settings);
  const pruner = new Pruner(writer, {
    objectsOf: keptPrimaryStores,
    graceMs: settings.pruneGraceSeconds * MS_PER_SECOND,
  });
  const abort = new AbortController();
  const { signal } = abort;
  let isOnRecord = accounts.size === 0;
  const keep = async (): Promise<void> => {
    const { size } = await pruner.pinAccounts(accounts);
    isOnRecord = true;
    logger.info({ accounts: size }, 'the history of accounts is kept');
  };
  if (writer.head !== undefined && !isOnRecord) await withRoom(keep, logger);
  const work = async (): Promise<void> => {
    const rest = (ms: number) => sleep(ms, undefined, { signal });
    while (writer.head === undefined) await rest(PRUNE_INTERVAL_MS);
    // Nothing is deleted before it is on record what has to stay.
    while (!isOnRecord) {
      if (!(await withRoom(keep, logger))) await rest(RETRY_INTERVAL_MS);
    }
    while (policy !== undefined) {
      const isDone = await withRoom(() => pruneOnce(pruner, policy, signal, logger), logger);
      await rest(isDone ? PRUNE_INTERVAL_MS : RETRY_INTERVAL_MS);
    }
  };
  const isDue = policy !== undefined || !isOnRecord;
  const done = (isDue ? work() : Promise.resolve()).catch((error: unknown) => {
    if (!signal.aborted) logger.error({ err: error }, 'pruning stopped: it failed');
  });
  return {
    stop: async () => {
      abort.abort();
      await done;
    },
  };
}

async function pruneOnce(
  pruner: Pruner,
  policy: PrunePolicy,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  const { head, versions, rows, steps } = await pruner.run(policy, signal);
  if (versions === 0n) return;
  const oldest = String(head.oldestVersion);
  logger.info({ oldest, versions: String(versions), rows, steps }, 'pruned');
}

/** Does what takes room on the disk. @returns whether there was room */
async function withRoom(work: () => Promise<void>, logger: Logger): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isStoreError(error, 'store_full')) throw error;
    logger.warn({ err: error }, 'pruning waits: the disk is full');
    return false;
  }
}
