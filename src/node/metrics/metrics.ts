/** The node's metrics when they are wanted: of this process, the ledger and the workers (docs/metrics.md). */
import type { Logger } from 'pino';
import type { NodeStore } from '../node-store.ts';
import { parseListenAddress } from '../settings/listen-address.ts';
import { packageVersion } from '../settings/package-version.ts';
import type { NodeSettings } from '../settings/settings.ts';
import type { StopList } from '../shutdown.ts';
import { gauge, type MetricFamily } from './metrics-family.ts';
import { followFamilies } from './metrics-follow.ts';
import { ledgerFamilies } from './metrics-ledger.ts';
import { listenForMetrics, type MetricSource } from './metrics-listener.ts';
import { ProcessMetrics } from './metrics-process.ts';

/** What the process that is asked for metrics is called among them. */
const PRIMARY = 'primary';

/**
 * Answers `GET /metrics` where the settings say; stopping goes on the list.
 * @param workers gives the families of other processes
 * @returns those of this process
 * @throws NodeError `bad_setting`, `listen_failed`
 */
export async function startMetrics(
  settings: NodeSettings,
  nodeStore: NodeStore,
  logger: Logger,
  stopList: StopList,
  workers: MetricSource = async () => [],
): Promise<ProcessMetrics> {
  const address = parseListenAddress(settings.metricsListen, 'metrics_listen');
  const own = new ProcessMetrics(PRIMARY);
  stopList.add('measuring', () => own.stop());
  const source: MetricSource = async () => [
    [nodeInfo()],
    await ledgerFamilies(nodeStore.store, settings.data),
    nodeStore.following === undefined ? [] : followFamilies(nodeStore.following),
    own.families(),
    ...(await workers()),
  ];
  const { port, stop } = await listenForMetrics(address, source, logger);
  stopList.add('the metrics', stop);
  logger.info(
    { url: `http://${settings.metricsListen.replace(/:\d+$/, `:${port}`)}/metrics` },
    'metrics',
  );
  return own;
}

function nodeInfo(): MetricFamily {
  const labels = { version: packageVersion(), node: process.version };
  return gauge('daybook_info', 'What runs here; always 1.', [{ value: 1, labels }]);
}
