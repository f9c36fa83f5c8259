/** The indexer's GraphQL over HTTP. Nothing of it is loaded before it is wanted. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Logger } from 'pino';
import type { LedgerReader } from '../ledger/open.ts';
import { interfaceUrl, listen, parseListenAddress } from './settings/listen-address.ts';
import type { StopList } from './shutdown.ts';

/** In this time a request must have come, in milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;
/** How often a server looks for those that have not, in milliseconds. */
const LOOK_INTERVAL_MS = 1_000;

interface Opened {
  readonly answer: RequestListener;
  close(): Promise<void>;
}

interface IndexerServerOptions {
  /** HOST:PORT. */
  readonly listen: string;
  /** What messages call it. */
  readonly setting: string;
  readonly ledger: Pick<LedgerReader, 'view'>;
  /** Of the tables: a folder, `postgres://…`, or absent: in memory. */
  readonly location: string | undefined;
  /** The first version to read; absent: the oldest that there is. */
  readonly firstVersion?: bigint | undefined;
  /** Whether it follows from the start; otherwise from the first request on. */
  readonly isEager: boolean;
  /** Instead of ten seconds. */
  readonly requestTimeoutMs?: number;
  readonly logger: Logger;
}

/** Starts listening; stopping is added to the list. @returns the URL */
export async function startIndexerServer(
  options: IndexerServerOptions,
  stopList: StopList,
): Promise<string> {
  let opened: Promise<Opened> | undefined;
  const open = (): Promise<Opened> => {
    opened ??= openService(options);
    return opened;
  };
  const timers = {
    requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: LOOK_INTERVAL_MS,
  };
  const server = createServer(timers, (request, response) => {
    open().then(
      ({ answer }) => answer(request, response),
      (err: unknown) => {
        options.logger.error({ err }, 'the indexer cannot be loaded');
        response.destroy();
      },
    );
  });
  const address = parseListenAddress(options.listen, options.setting);
  const port = await listen(server, address);
  stopList.add('the indexer', async () => {
    closeServer(server);
    await (await opened?.catch(() => undefined))?.close();
  });
  if (options.isEager) await open();
  return `${interfaceUrl(address.host, port)}/graphql`;
}

async function openService({ logger, ...options }: IndexerServerOptions): Promise<Opened> {
  const [{ IndexerService }, { graphqlListener }] = await Promise.all([
    import('../indexer/service.ts'),
    import('./graphql-listener.ts'),
  ]);
  const onFailure = (err: unknown): void => logger.error({ err }, 'the indexer has failed');
  const service = new IndexerService({ ...options, onFailure });
  return {
    answer: graphqlListener(() => service.database(), onFailure),
    close: () => service.close(),
  };
}

function closeServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}
