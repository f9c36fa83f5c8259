/** The indexer's GraphQL over HTTP. Nothing is loaded before it is needed. */
import { createServer, type Server } from 'node:http';
import type { Logger } from 'pino';
import { NodeError } from '../node-error.ts';
import { interfaceUrl, listen, parseListenAddress } from '../settings/listen-address.ts';
import type { NodeSettings } from '../settings/settings.ts';
import type { StopList } from '../shutdown.ts';
import { graphqlListener } from './graphql-listener.ts';
import { indexerLocation } from './indexer-location.ts';
import { type Indexing, indexInThread } from './indexing.ts';

/** Time within which a request must arrive, in milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;
/** How often a server checks for late requests, in milliseconds. */
const POLL_INTERVAL_MS = 1_000;

type OnFailure = (error: unknown) => void;
type IndexerSettings = Pick<NodeSettings, 'indexer' | 'indexerListen'>;

interface IndexerServer {
  readonly url: string;
  /** With the port at which it listens. */
  readonly settings: IndexerSettings;
  /** Begins to follow before the first request. */
  begin(stopList: StopList): Promise<void>;
  /** To be called before its ledger is closed. */
  close(): Promise<void>;
}

/**
 * Starts the server of a ledger, which an indexer reads in a thread of its own.
 * @throws NodeError `bad_setting` for a fork
 */
export async function startIndexerOf(
  settings: NodeSettings,
  logger: Logger,
  stopList: StopList,
): Promise<IndexerServer> {
  const { indexer, data, fork, offline } = settings;
  if (fork !== '' || offline) {
    const message = 'a fork has no transactions to index: --indexer is for a ledger of its own';
    throw new NodeError('bad_setting', message, { exitCode: 2 });
  }
  const indexed = { data, location: indexerLocation(indexer) };
  const open = (onFailure: OnFailure) => indexInThread(indexed, onFailure);
  return await startIndexerServer(settings, open, logger, stopList);
}

/**
 * Starts listening; closing it is added to the stop list.
 * @param openIndexing called once, for the first request or before
 */
export async function startIndexerServer(
  settings: IndexerSettings,
  openIndexing: (onFailure: OnFailure) => Promise<Indexing>,
  logger: Logger,
  stopList: StopList,
  requestTimeoutMs = REQUEST_TIMEOUT_MS,
): Promise<IndexerServer> {
  let opened: Promise<Indexing> | undefined;
  const onFailure = (err: unknown): void => logger.error({ err }, 'the indexer has failed');
  const open = (): Promise<Indexing> => {
    opened ??= openIndexing(onFailure).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const timers = {
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: POLL_INTERVAL_MS,
  };
  const answer = async (body: Buffer): Promise<string> => await (await open()).answer(body);
  const server = createServer(timers, graphqlListener(answer, onFailure));
  const address = parseListenAddress(settings.indexerListen, 'indexer-listen');
  const port = await listen(server, address);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      closeServer(server);
      await (await opened?.catch(() => undefined))?.close();
    })();
    return closing;
  };
  // Where the start fails later; otherwise it ends earlier, in the place of `begin`.
  stopList.add('the server of the indexer', close);
  const begin = async (stops: StopList): Promise<void> => {
    stops.add('the indexer', close);
    await open();
  };
  return {
    url: `${interfaceUrl(address.host, port)}/graphql`,
    settings: { ...settings, indexerListen: settings.indexerListen.replace(/:\d+$/, `:${port}`) },
    begin,
    close,
  };
}

function closeServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}
