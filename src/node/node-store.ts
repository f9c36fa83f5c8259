/**
 * The store of a serving node: made when there is none, opened for writing when this node writes, with what writes
 * beside the answering.
 */
import type { Logger } from 'pino';
import { readHead } from '../store/columns/head.ts';
import type { StoreReader } from '../store/store.ts';
import { LedgerWriter } from '../store/writer.ts';
import type { Following } from './follow.ts';
import { NodeError } from './node-error.ts';
import { emptyStoreError, hasStore, openStoreReader, openStoreWriter } from './open-store.ts';
import type { NodeSettings } from './settings/settings.ts';
import type { StopList } from './shutdown.ts';

/** The store of a node, and what writes it. */
export interface NodeStore {
  readonly store: StoreReader;
  /** Where another node is followed. */
  readonly following?: Following;
}

/**
 * Opens the store of a node, which holds a ledger then; closing it, and ending what writes it, goes on the list.
 * @throws NodeError `no_ledger`, `data_not_usable`, `bad_setting`
 */
export async function openNodeStore(
  settings: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<NodeStore> {
  if (!hasStore(settings.data) && settings.follow === '') {
    await makeSmallSample(settings.data, logger);
  }
  const opened = await openStore(settings, stopList, logger);
  if ((await readHead(opened.store)) === undefined) throw emptyStoreError(settings.data);
  return opened;
}

/** A newcomer has no genesis file: there is something to ask all the same. */
async function makeSmallSample(dataFolder: string, logger: Logger): Promise<void> {
  // Loaded here: the generator is needed once in a folder's life.
  const { makeSample, SMALL_SAMPLE } = await import('./sample.ts');
  const { transactions, seed } = SMALL_SAMPLE;
  logger.info({ data: dataFolder, transactions, seed: String(seed) }, 'no ledger: making a sample');
  const { seconds } = await makeSample(dataFolder, SMALL_SAMPLE);
  logger.info({ seconds }, 'sample ledger made');
}

/** Opens the store, for writing only when this node writes. */
async function openStore(
  settings: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<NodeStore> {
  if (settings.produce > 0 && settings.follow !== '') {
    throw new NodeError(
      'bad_setting',
      'a node produces or follows: --produce and --follow do not go together',
      {
        exitCode: 2,
      },
    );
  }
  if (settings.produce === 0 && settings.follow === '') {
    warnOfIdlePruning(settings, logger);
    const store = openStoreReader(settings.data);
    stopList.add('the store', () => store.close());
    return { store };
  }
  const store = await openStoreWriter(settings.data);
  stopList.add('the store', () => store.close());
  const writer = await LedgerWriter.open(store);
  const { startPruning } = await import('./prune.ts');
  const pruning = await startPruning(writer, settings, logger);
  stopList.add('the pruner', () => pruning.stop());
  if (settings.follow !== '') {
    return { store, following: await follow(writer, settings, stopList, logger) };
  }
  const { startProducing } = await import('./producer.ts');
  const producer = await startProducing(writer, settings.produce, logger);
  stopList.add('the producer', () => producer.stop());
  return { store };
}

/** Follows another node; resolves when there is a ledger to answer from, or never will be. */
async function follow(
  writer: LedgerWriter,
  { follow: from, waypoint }: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<Following> {
  const { startFollowing } = await import('./follow.ts');
  const request = { from, waypoint: waypoint === '' ? undefined : waypoint };
  const following = startFollowing(writer, request, logger);
  stopList.add('the follower', () => following.stop());
  await Promise.race([following.started, following.ended]);
  return following;
}

/** Settings of pruning have no effect in a node that does not write. */
function warnOfIdlePruning(settings: NodeSettings, logger: Logger): void {
  const { keepVersions, keepSeconds, keepAccounts, keepAccountsFile } = settings;
  if (keepVersions === 0 && keepSeconds === 0 && keepAccounts === '' && keepAccountsFile === '') {
    return;
  }
  logger.warn('nothing is pruned: this node does not write; daybook prune does');
}
