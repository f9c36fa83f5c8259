/**
 * The store of a serving node: created if missing, opened for writing if this node writes, together with its
 * background writers.
 */
import type { Logger } from 'pino';
import type { Submissions } from '../../api/submissions.ts';
import type { OpenSource } from '../../state/source.ts';
import { readHead } from '../../store/columns/head.ts';
import type { Store, StoreReader } from '../../store/store.ts';
import { LedgerWriter } from '../../store/write/writer.ts';
import type { Following } from '../follow.ts';
import { isLocalLedger } from '../local-ledger.ts';
import { redactedLocation } from '../locations/redacted-location.ts';
import { NodeError } from '../node-error.ts';
import {
  emptyStoreError,
  hasStore,
  noLedgerError,
  openStoreReader,
  withReader,
} from '../open-store.ts';
import type { NodeSettings } from '../settings/settings.ts';
import type { StopList } from '../shutdown.ts';

const PROGRESS_INTERVAL_MS = 5_000;

export interface NodeStore {
  readonly store: StoreReader;
  readonly following?: Following;
  /** How a fork is read; absent: the store is that of a ledger. */
  readonly openSource?: OpenSource | undefined;
  /** Takes transactions; absent: the ledger is not that of a local network, or others write it. */
  readonly chain?: Submissions | undefined;
  /** Rejects when this process cannot write the ledger any more. Never resolves; absent: it does not write. */
  readonly lost?: Promise<never>;
}

/**
 * Checks that need nothing opened or created.
 * @throws NodeError `no_ledger`, `data_not_usable`, `bad_setting`
 */
export async function checkStoreSettings(settings: NodeSettings): Promise<void> {
  const { data, follow, produce, fork, offline } = settings;
  if (fork !== '' || offline) return;
  if (produce > 0 && follow !== '') {
    const message = 'a node produces or follows: --produce and --follow do not go together';
    throw new NodeError('bad_setting', message, { exitCode: 2 });
  }
  if (settings.bootstrap && follow === '') {
    const message = 'the snapshot is that of a node that is followed: --bootstrap needs --follow';
    throw new NodeError('bad_setting', message, { exitCode: 2 });
  }
  if (settings.execute && follow === '') {
    const message = 'what is followed is executed: --execute needs --follow';
    throw new NodeError('bad_setting', message, { exitCode: 2 });
  }
  const willBeCreated = follow !== '' || settings.sample;
  if (!willBeCreated && !(await hasStore(data))) throw await noLedgerError(data);
}

/**
 * Opens the store of a node whose settings `checkStoreSettings` has accepted. The store then contains a ledger;
 * closing it and stopping its writers is added to the list.
 * @throws NodeError `no_ledger`, `data_not_usable`, `bad_setting`
 */
export async function openNodeStore(
  settings: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<NodeStore> {
  const { data, follow, produce, fork, offline } = settings;
  if (fork !== '' || offline) {
    // Most nodes serve none.
    const { openForkStore } = await import('../fork-store.ts');
    return await openForkStore(settings, stopList, logger);
  }
  if (follow === '' && !(await hasStore(data))) await makeSmallSample(data, logger);
  const opened =
    produce > 0 || follow !== ''
      ? await openForWriting(settings, stopList, logger)
      : isLocalLedger(data) && settings.upstream === ''
        ? await openLocalLedger(settings, stopList, logger)
        : await openForReading(settings, stopList, logger);
  if ((await readHead(opened.store)) === undefined) {
    throw opened.following?.now.failure ?? emptyStoreError(data);
  }
  return opened;
}

/** New users have no genesis file: a sample ledger gives them something to query. */
async function makeSmallSample(data: string, logger: Logger): Promise<void> {
  // Loaded here: the generator is needed once in a folder's life.
  const { makeSample, SMALL_SAMPLE } = await import('../sample.ts');
  const { transactions, seed } = SMALL_SAMPLE;
  logger.info(
    { data: redactedLocation(data), transactions, seed: String(seed) },
    'no ledger: making a sample',
  );
  await makeSample(data, SMALL_SAMPLE);
  logger.info('sample ledger made');
}

async function lacksLedger(data: string): Promise<boolean> {
  return (
    !(await hasStore(data)) ||
    (await withReader(data, async (store) => readHead(store))) === undefined
  );
}

/** @throws NodeError `snapshot_unavailable`, `backup_refused` and others */
async function beginWithSnapshot(
  { data, follow, waypoint }: NodeSettings,
  logger: Logger,
): Promise<void> {
  const { initFromNode } = await import('../backup.ts');
  let shownMs = performance.now();
  const { head, stateVersion, accumulatorRoot } = await initFromNode(
    data,
    { node: follow, waypoint: waypoint === '' ? undefined : waypoint },
    (snapshot) => logger.info({ snapshot }, 'loading a snapshot'),
    ({ stage, done, total }) => {
      if (performance.now() - shownMs < PROGRESS_INTERVAL_MS) return;
      shownMs = performance.now();
      logger.info({ stage, done, total }, 'loading the snapshot');
    },
  );
  const root = accumulatorRoot.toString('hex');
  const facts = { version: String(head.version), state_version: String(stateVersion) };
  logger.info({ ...facts, accumulator_root: root }, 'the ledger begins with the snapshot');
}

async function openForReading(
  settings: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<NodeStore> {
  const { keepVersions, keepSeconds, keepAccounts, keepAccountsFile } = settings;
  if (keepVersions > 0 || keepSeconds > 0 || keepAccounts !== '' || keepAccountsFile !== '') {
    logger.warn('nothing is pruned: this node does not write; daybook prune does');
  }
  const store = await openStoreReader(settings.data);
  stopList.add('the store', () => store.close());
  return { store };
}

/** Continues a local network's ledger; only reads it while another process writes it. */
async function openLocalLedger(
  settings: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<NodeStore> {
  // Most nodes have no such ledger.
  const [{ openLocalChain, submissionsTo }, { Impersonation }, { openStandbyWriter }] =
    await Promise.all([
      import('../local-chain.ts'),
      import('../../chain/impersonation.ts'),
      import('../follow.ts'),
    ]);
  let store: Store;
  try {
    store = await openStandbyWriter(settings.data, settings.standby, logger);
  } catch (error) {
    if (!(error instanceof NodeError && error.code === 'data_not_usable')) throw error;
    logger.warn({ reason: error.message }, 'no transactions are taken: the ledger is only read');
    return await openForReading(settings, stopList, logger);
  }
  stopList.add('the store', () => store.close());
  const writer = await openPrunedWriter(store, settings, stopList, logger);
  const options = {
    mining: { kind: 'auto' } as const,
    impersonation: new Impersonation(),
    isPruned: settings.keepVersions > 0 || settings.keepSeconds > 0,
  };
  const chain = await openLocalChain(writer, options, logger, stopList);
  return { store, chain: submissionsTo(chain), lost: chain.lost };
}

async function openPrunedWriter(
  store: Store,
  settings: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<LedgerWriter> {
  const writer = await LedgerWriter.open(store);
  const { startPruning } = await import('../prune.ts');
  stopList.add('the pruner', await startPruning(writer, settings, logger));
  return writer;
}

/** Begins to prune, and to follow or to produce. A follower's ledger exists then, unless following has failed. */
async function openForWriting(
  settings: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<NodeStore> {
  const { follow: from, waypoint, produce, standby, execute } = settings;
  if (settings.bootstrap && (await lacksLedger(settings.data))) {
    await beginWithSnapshot(settings, logger);
  }
  const { openStandbyWriter, startFollowing } = await import('../follow.ts');
  const store = await openStandbyWriter(settings.data, standby, logger);
  stopList.add('the store', () => store.close());
  const writer = await openPrunedWriter(store, settings, stopList, logger);
  if (from === '') {
    const { startProducing } = await import('../sample.ts');
    const producing = await startProducing(writer, produce, logger);
    stopList.add('the producer', () => producing.stop());
    return { store, lost: producing.lost };
  }
  const request = { from, waypoint: waypoint === '' ? undefined : waypoint, execute };
  const following = startFollowing(writer, request, logger);
  stopList.add('the follower', () => following.stop());
  await Promise.race([following.started, following.ended]);
  return { store, following, lost: following.lost };
}
