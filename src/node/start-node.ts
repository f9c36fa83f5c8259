/**
 * The composition root of a node in one process: opens the store, answers from it and listens.
 * Nothing starts because
 * it was imported; what was started is stopped by one list. cluster.ts does the same with several
 * processes.
 */

import { startInterface } from './cluster/worker-interface.ts';
import { createLogger } from './metrics/logger.ts';
import { openNodeStore } from './node-store.ts';
import { asNodeError } from './open-store.ts';
import { type RunningNode, readyLine } from './running-node.ts';
import { interfaceUrl, parseListenAddress } from './settings/listen-address.ts';
import { startWantedMetrics } from './settings/metrics-setting.ts';
import type { NodeSettings } from './settings/settings.ts';
import { StopList } from './stop-list.ts';

/**
 * Starts a node and resolves when it answers.
 * @throws NodeError: `no_ledger`, `data_not_usable`, `bad_setting`, `listen_failed`; all that was
 * started is stopped.
 */
export async function startNode(settings: NodeSettings): Promise<RunningNode> {
  const stopList = new StopList();
  try {
    return await start(settings, stopList);
  } catch (error) {
    await stopList.stop();
    throw asNodeError(error);
  }
}

async function start(settings: NodeSettings, stopList: StopList): Promise<RunningNode> {
  const { host } = parseListenAddress(settings.listen);
  const logger = createLogger(settings.logLevel);
  const nodeStore = await openNodeStore(settings, stopList, logger);
  const metrics = await startWantedMetrics(settings, nodeStore, logger, stopList);
  const { store } = nodeStore;
  const { port, state } = await startInterface(store, settings, logger, stopList, metrics);
  const ready = readyLine(interfaceUrl(host, port), state.chainId, state.version);
  logger.info(ready, 'answering');
  return { ready, logger, failed: new Promise(() => undefined), stop: () => stopList.stop() };
}
