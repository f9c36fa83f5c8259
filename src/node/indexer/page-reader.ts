/** Reads the pages of a ledger in another thread, while this one turns them into rows. */
import { IS_BUILT } from '../../built.ts';
import type { LedgerPage, PageReader } from '../../indexer/ledger-pages.ts';
import { RequestThread } from '../../thread.ts';

export interface ReadRequest {
  readonly start: bigint;
  readonly limit: number;
}

export type ReadAnswer = { readonly page: LedgerPage } | { readonly failure: unknown };

/** @param data folder or `postgres://…` of the ledger @returns `undefined` if threads are impossible */
export function openPageReader(data: string): PageReader | undefined {
  if (!IS_BUILT) return undefined;
  const thread = new RequestThread<ReadRequest, ReadAnswer>('reading-thread', data);
  return {
    async read(start, limit) {
      const answer = await thread.send({ start, limit });
      if ('failure' in answer) throw answer.failure;
      return answer.page;
    },
    close: () => thread.close(),
  };
}
