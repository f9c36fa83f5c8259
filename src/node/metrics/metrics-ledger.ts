/** What the store of a node tells: how far the ledger reaches, how far back, how large it is. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readHead } from '../../store/columns/head.ts';
import { readPruneProgress } from '../../store/columns/pruning-column.ts';
import type { StoreReader } from '../../store/store.ts';
import { gauge, type MetricFamily, type MetricValue, plain } from './metrics-family.ts';

const USECS_PER_SECOND = 1e6;

/** The ledger in a store, now; nothing of it before there is one. */
export async function ledgerFamilies(
  store: StoreReader,
  dataFolder: string,
): Promise<MetricFamily[]> {
  const families = await storeFamilies(store, dataFolder);
  const head = await readHead(store);
  if (head === undefined) return families;
  const timestampSecs = Number(head.timestampUsecs) / USECS_PER_SECOND;
  const { clearedBelow } = await readPruneProgress(store);
  const version = (name: string, help: string, value: bigint): MetricFamily =>
    gauge(name, help, plain(Number(value)));
  return [
    version('daybook_ledger_version', 'Newest version.', head.version),
    version('daybook_ledger_oldest_version', 'Oldest version that is kept.', head.oldestVersion),
    version('daybook_block_height', 'Height of the newest block.', head.blockHeight),
    version('daybook_epoch', 'Epoch of the newest block.', head.epoch),
    gauge(
      'daybook_ledger_timestamp_seconds',
      'Time of the newest version, in seconds since 1970.',
      plain(timestampSecs),
    ),
    gauge(
      'daybook_ledger_age_seconds',
      'How long ago by the clock of this machine the newest version was.',
      plain(Date.now() / 1_000 - timestampSecs),
    ),
    version(
      'daybook_pruner_cleared_below_version',
      'Below this version the pruner has deleted what nobody needs.',
      clearedBelow,
    ),
    ...families,
  ];
}

async function storeFamilies(store: StoreReader, dataFolder: string): Promise<MetricFamily[]> {
  const columns = await store.statistics();
  const ofColumns = (value: (at: (typeof columns)[number]) => number): MetricValue[] =>
    columns.map((at) => ({ value: value(at), labels: { column: at.column.name } }));
  return [
    gauge(
      'daybook_store_file_bytes',
      'Size of the store’s file.',
      plain(statSync(join(dataFolder, 'data.mdb')).size),
    ),
    gauge(
      'daybook_store_column_bytes',
      'Bytes of a column.',
      ofColumns(({ bytes }) => bytes),
    ),
    gauge(
      'daybook_store_column_rows',
      'Rows of a column.',
      ofColumns(({ rows }) => rows),
    ),
  ];
}
