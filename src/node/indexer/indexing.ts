/** An indexer that follows a ledger and answers queries: in a thread of its own, or in this one. */
import { once } from 'node:events';
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { IS_BUILT } from '../../built.ts';
import type { IndexerService } from '../../indexer/service.ts';
import { startThread } from '../../thread.ts';
import { openPageReader } from './page-reader.ts';

/** Filling tables and answering take processor time, so they would block a thread that serves the API. */
const THREAD = 'indexing-thread';
/** Pause before a thread that has ended is started again, in milliseconds. */
const RESTART_MS = 1_000;

export interface Indexing {
  /** @param body a GraphQL request @returns the answer's body; rejects with errors that no request may cause */
  answer(body: Buffer): Promise<string>;
  close(): Promise<void>;
}

export interface IndexedLedger {
  /** Folder or `postgres://…` of the ledger. */
  readonly data: string;
  /** Location of the tables: a folder or `postgres://…`; absent: in memory. */
  readonly location: string | undefined;
}

type OnFailure = (error: unknown) => void;
type ServiceOptions = ConstructorParameters<typeof IndexerService>[0];

export async function indexInThisThread(options: ServiceOptions): Promise<Indexing> {
  // Most nodes have none.
  const [{ IndexerService }, { answerBody }] = await Promise.all([
    import('../../indexer/service.ts'),
    import('../../indexer/graphql/answer.ts'),
  ]);
  const service = new IndexerService(options);
  return {
    answer: (body) => answerBody(body, () => service.database()),
    close: () => service.close(),
  };
}

/** Runs an indexer of the ledger in this thread. */
export async function indexLedger(
  { data, location }: IndexedLedger,
  onFailure: OnFailure,
): Promise<Indexing> {
  const [{ openStoreReader }, { newCaches, openLedger }] = await Promise.all([
    import('../open-store.ts'),
    import('../../ledger/open.ts'),
  ]);
  const store = await openStoreReader(data);
  const ledger = openLedger(store, newCaches());
  const openReader = () => openPageReader(data);
  const indexing = await indexInThisThread({ ledger, location, openReader, onFailure });
  return { ...indexing, close: () => indexing.close().finally(() => store.close()) };
}

/** The same in a thread, if threads are possible. */
export async function indexInThread(
  indexed: IndexedLedger,
  onFailure: OnFailure,
): Promise<Indexing> {
  return IS_BUILT ? new IndexingThread(indexed, onFailure) : indexLedger(indexed, onFailure);
}

/** A message to the thread: a request with the port for its answer, or the order to end. */
export type ThreadRequest = { readonly body: Uint8Array; readonly port: MessagePort } | 'close';
export type ThreadAnswer = { readonly text: string } | { readonly failure: unknown };

class IndexingThread implements Indexing {
  readonly #indexed: IndexedLedger;
  readonly #onFailure: OnFailure;
  /** Absent after it has ended, until it is started again. */
  #worker: Worker | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(indexed: IndexedLedger, onFailure: OnFailure) {
    this.#indexed = indexed;
    this.#onFailure = onFailure;
    this.#start();
  }

  #start(): void {
    const worker = startThread(THREAD, this.#indexed);
    for (const event of ['message', 'error']) worker.on(event, this.#onFailure);
    this.#worker = worker;
    this.#ended = new Promise((resolve) => worker.once('exit', resolve)).then(() => {
      this.#worker = undefined;
      if (this.#isClosed) return;
      setTimeout(() => {
        if (!this.#isClosed) this.#start();
      }, RESTART_MS).unref();
    });
  }

  async answer(body: Buffer): Promise<string> {
    if (this.#worker === undefined) throw new Error('the thread of the indexer has ended');
    const { port1: own, port2: port } = new MessageChannel();
    this.#worker.postMessage({ body, port }, [port]);
    const answered = once(own, 'message') as Promise<[ThreadAnswer]>;
    const ended = once(own, 'close').then(() => undefined);
    const [answer] = (await Promise.race([answered, ended])) ?? [];
    own.close();
    if (answer === undefined) throw new Error('the thread of the indexer has ended');
    if ('failure' in answer) throw answer.failure;
    return answer.text;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#worker?.postMessage('close');
    await this.#ended;
  }
}
