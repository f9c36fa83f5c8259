/** Metrics when the settings want them; what they are made of is loaded only then. */
import type { Logger } from 'pino';
import type { MetricSource } from '../metrics/metrics-listener.ts';
import type { ProcessMetrics } from '../metrics/metrics-process.ts';
import type { NodeStore } from '../node-store.ts';
import type { StopList } from '../shutdown.ts';
import type { NodeSettings } from './settings.ts';

/**
 * Answers `GET /metrics` when the settings say where; stopping goes on the list.
 * @param workers gives the families of other processes
 * @returns nothing when metrics are off: nothing is measured then
 * @throws NodeError `bad_setting`, `listen_failed`
 */
export async function startWantedMetrics(
  settings: NodeSettings,
  nodeStore: NodeStore,
  logger: Logger,
  stopList: StopList,
  workers?: MetricSource,
): Promise<ProcessMetrics | undefined> {
  if (settings.metricsListen === '') return undefined;
  const { startMetrics } = await import('../metrics/metrics.ts');
  return startMetrics(settings, nodeStore, logger, stopList, workers);
}

/** The metrics of a worker. @param place its number */
export async function wantedWorkerMetrics(
  settings: NodeSettings,
  place: number,
): Promise<ProcessMetrics | undefined> {
  if (settings.metricsListen === '') return undefined;
  return new (await import('../metrics/metrics-process.ts')).ProcessMetrics(String(place));
}
