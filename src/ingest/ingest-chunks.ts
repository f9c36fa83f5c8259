/** From checked chunks into the store: the next chunk is made and translated while the last one is written to disk. */
import type { Chunk } from '../store/chunk.ts';
import type { Head } from '../store/columns/head.ts';
import type { LedgerWriter } from '../store/writer.ts';
import { ChunkTranslator } from './translate/chunk-translator.ts';

/** Chunks handed to the writer behind the one that is being written. */
const MAX_COMMITS_WAITING = 1;

/** How far it is. */
export interface IngestProgress {
  /** Durable transactions of this run. */
  readonly transactions: number;
  readonly head: Head;
}

/**
 * Commits chunks one after the other, with the events that old streams go on with; resolves with the head when all
 * are durable.
 * @throws what the chunks or the writer throw; everything reported before is durable.
 */
export async function ingestChunks(
  writer: LedgerWriter,
  chunks: AsyncIterable<Chunk> | Iterable<Chunk>,
  onProgress: (progress: IngestProgress) => void = () => undefined,
): Promise<Head | undefined> {
  const translator = new ChunkTranslator(writer.reader);
  const inFlight: Promise<void>[] = [];
  let transactions = 0;
  const commit = async (chunk: Chunk): Promise<void> => {
    const { head } = await writer.append(chunk);
    translator.forget(head.version);
    transactions += chunk.transactions.length;
    onProgress({ transactions, head });
  };
  try {
    for await (const chunk of chunks) {
      const committed = commit(await translator.translate(chunk));
      // Awaited below; until then a failure is not "unhandled".
      committed.catch(() => undefined);
      inFlight.push(committed);
      if (inFlight.length > MAX_COMMITS_WAITING) await inFlight.shift();
    }
    await Promise.all(inFlight);
  } finally {
    await Promise.allSettled(inFlight);
  }
  return writer.head;
}
