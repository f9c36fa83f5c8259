/**
 * `GET /metrics` on a separate address, in the text format of Prometheus (docs/metrics.md): metrics of the ledger, of
 * replication, of this process and of the workers.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import promClient from 'prom-client';
import { readHead } from '../../../store/columns/head.ts';
import { readPruneProgress } from '../../../store/columns/pruning-column.ts';
import type { ColumnStatistics, StoreReader } from '../../../store/store.ts';
import { isDamaged } from '../../../store/store-error.ts';
import type { Following } from '../../follow.ts';
import { storeBytes } from '../../open-store.ts';
import { type ListenAddress, listen, parseListenAddress } from '../../settings/listen-address.ts';
import { type NodeSettings, packageVersion } from '../../settings/settings.ts';
import type { StopList } from '../../shutdown.ts';
import type { NodeStore } from '../node-store.ts';
import { counter, gauge, type MetricFamily, type MetricValue } from './metric-family.ts';
import { ProcessMetrics } from './process-metrics.ts';

const USECS_PER_SECOND = 1e6;

/** Collects the families of several processes, or of several parts of one. */
type MetricSource = () => Promise<readonly (readonly MetricFamily[])[]>;

/**
 * Serves `GET /metrics` at the configured address; stopping is added to the list.
 * @param workers collects the families of other processes
 * @returns those of this process
 * @throws NodeError `bad_setting`, `listen_failed`
 */
export async function startMetrics(
  settings: NodeSettings,
  { store, following }: NodeStore,
  logger: Logger,
  stopList: StopList,
  workers: MetricSource = async () => [],
): Promise<ProcessMetrics> {
  const address = parseListenAddress(settings.metricsListen, 'metrics_listen');
  const own = new ProcessMetrics('primary');
  const source: MetricSource = async () => [
    [nodeInfo()],
    await ledgerFamilies(store),
    await storeFamilies(store, settings.data),
    following === undefined ? [] : followFamilies(following),
    await own.families(),
    ...(await workers()),
  ];
  const port = await serveMetrics(address, source, logger, stopList);
  const url = `http://${settings.metricsListen.replace(/:\d+$/, `:${port}`)}/metrics`;
  logger.info({ url }, 'metrics');
  return own;
}

/** Requests that come while one is being answered share its answer. @returns the port */
async function serveMetrics(
  address: ListenAddress,
  source: MetricSource,
  logger: Logger,
  stopList: StopList,
): Promise<number> {
  let pending: Promise<string> | undefined;
  const answer = async (response: ServerResponse): Promise<void> => {
    pending ??= source()
      .then((families) => promClient.AggregatorRegistry.aggregate([...families]).metrics())
      .finally(() => {
        pending = undefined;
      });
    try {
      const text = await pending;
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
      response.end(text);
    } catch (error) {
      logger.error({ err: error }, 'metrics could not be collected');
      response.writeHead(500, { 'content-type': 'text/plain' }).end('internal error\n');
    }
  };
  const server = createServer((request, response) => {
    const isKnown = request.url === '/metrics' && /^(?:GET|HEAD)$/.test(request.method ?? '');
    if (isKnown) void answer(response);
    else response.writeHead(404, { 'content-type': 'text/plain' }).end('see /metrics\n');
  });
  const port = await listen(server, address);
  stopList.add('the metrics', async () => {
    server.close();
    server.closeAllConnections();
    if (server.listening) await once(server, 'close');
  });
  return port;
}

function nodeInfo(): MetricFamily {
  const labels = { version: packageVersion(), node: process.version };
  return gauge('daybook_info', 'What runs here; always 1.', [{ value: 1, labels }]);
}

/** Empty until the store has a ledger. */
async function ledgerFamilies(store: StoreReader): Promise<MetricFamily[]> {
  const head = await readHead(store);
  if (head === undefined) return [];
  const timestampSecs = Number(head.timestampUsecs) / USECS_PER_SECOND;
  const { clearedBelow } = await readPruneProgress(store);
  return [
    gauge('daybook_ledger_version', 'Newest version.', head.version),
    gauge('daybook_ledger_oldest_version', 'Oldest version that is kept.', head.oldestVersion),
    gauge('daybook_block_height', 'Height of the newest block.', head.blockHeight),
    gauge('daybook_epoch', 'Epoch of the newest block.', head.epoch),
    gauge(
      'daybook_ledger_timestamp_seconds',
      'Time of the newest version, in seconds since 1970.',
      timestampSecs,
    ),
    gauge(
      'daybook_ledger_age_seconds',
      'How long ago by the clock of this machine the newest version was.',
      Date.now() / 1_000 - timestampSecs,
    ),
    gauge(
      'daybook_pruner_cleared_below_version',
      'Below this version the pruner has deleted what nobody needs.',
      clearedBelow,
    ),
  ];
}

/** Empty if the store is damaged, so that all other metrics can be reported. */
async function statisticsOf(store: StoreReader): Promise<readonly ColumnStatistics[]> {
  try {
    return await store.statistics();
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return [];
  }
}

async function storeFamilies(store: StoreReader, data: string): Promise<MetricFamily[]> {
  const columns = await statisticsOf(store);
  const byColumn = (what: 'bytes' | 'rows'): MetricValue[] =>
    columns.map((column) => ({ value: column[what], labels: { column: column.column.name } }));
  return [
    gauge(
      'daybook_store_file_bytes',
      'Size of the store’s file, or of its tables.',
      await storeBytes(data, columns),
    ),
    gauge(
      'daybook_store_standby_wait_seconds',
      'For how long the commit under way has waited for a standby server.',
      store.server === undefined ? [] : store.server.standbyWaitMs / 1_000,
    ),
    gauge('daybook_store_column_bytes', 'Bytes of a column.', byColumn('bytes')),
    gauge('daybook_store_column_rows', 'Rows of a column.', byColumn('rows')),
  ];
}

/** How far the follower is behind: the upstream's version less `daybook_ledger_version`. */
function followFamilies({ counters, now }: Following): MetricFamily[] {
  const { transactions, commits, faults, pageBytes } = counters;
  return [
    gauge(
      'daybook_follower_running',
      '1 while it follows, 0 after it has stopped for good.',
      now.isRunning ? 1 : 0,
    ),
    gauge(
      'daybook_follower_upstream_version',
      'Newest version of the followed node, as last heard.',
      now.upstreamVersion ?? [],
    ),
    counter('daybook_follower_transactions_total', 'Transactions followed.', transactions),
    counter('daybook_follower_commits_total', 'Commits of the follower.', commits),
    counter('daybook_follower_faults_total', 'Faults that it began again after.', faults),
    counter('daybook_follower_received_bytes_total', 'Bytes of pages.', pageBytes),
  ];
}
