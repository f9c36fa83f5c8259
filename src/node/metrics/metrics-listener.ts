/** `GET /metrics` on an address of its own: the node's metrics in the text format of Prometheus (docs/metrics.md). */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { type ListenAddress, listenFailure } from '../settings/listen-address.ts';
import type { MetricFamily } from './metrics-family.ts';

/** Gives the families of each process, or of each part of one. */
export type MetricSource = () => Promise<readonly (readonly MetricFamily[])[]>;

/** A listener that answers. */
export interface MetricsListener {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Answers `GET /metrics` from a source; questions that come while one is being answered share its answer.
 * @throws NodeError `listen_failed`
 */
export async function listenForMetrics(
  address: ListenAddress,
  source: MetricSource,
  logger: Logger,
): Promise<MetricsListener> {
  let underway: Promise<string> | undefined;
  const answer = async (response: ServerResponse): Promise<void> => {
    underway ??= metricsText(source).finally(() => {
      underway = undefined;
    });
    try {
      const text = await underway;
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
      response.end(text);
    } catch (error) {
      logger.error({ err: error }, 'metrics could not be collected');
      response.writeHead(500, { 'content-type': 'text/plain' }).end('internal error\n');
    }
  };
  const server = createServer((request, response) => {
    const isAsked = request.url === '/metrics' && /^(?:GET|HEAD)$/.test(request.method ?? '');
    if (isAsked) void answer(response);
    else response.writeHead(404, { 'content-type': 'text/plain' }).end('see /metrics\n');
  });
  await listen(server, address);
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

async function metricsText(source: MetricSource): Promise<string> {
  // Loaded when it is first asked for: it takes 50 ms of processor time.
  const { AggregatorRegistry } = (await import('prom-client')).default;
  return AggregatorRegistry.aggregate([...(await source())]).metrics();
}

async function listen(server: Server, { host, port }: ListenAddress): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw listenFailure({ host, port }, cause);
  }
}
