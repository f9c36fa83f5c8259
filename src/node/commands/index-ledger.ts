/** `daybook index`: fills the tables of the indexer from a ledger. */
import type { Command } from 'commander';
import { defaultIndexerLocation, indexerLocation } from '../indexer/indexer-location.ts';
import { openPageReader } from '../indexer/page-reader.ts';
import { withReader } from '../open-store.ts';
import { countText, withProgress } from '../progress.ts';
import { addReport, addSettingOption, describe, secondsSince } from './command-line.ts';

interface IndexFlags {
  readonly indexer?: string;
  readonly remake?: true;
}

export function define(command: Command): void {
  describe(command, {
    about:
      'Goes on where the tables end. serve --indexer does the same while it answers; this is for the first time.',
    examples: [
      'index --data ./mainnet',
      'index --data ./mainnet --indexer postgres://localhost/indexer --remake',
    ],
  });
  addSettingOption(command, 'data')
    .option(
      '--indexer <location>',
      'folder or postgres://HOST/DATABASE of the tables (default: beside the ledger)',
    )
    .option('--remake', 'make the tables again from the first version on');
  addReport(command, async ({ indexer: asked, remake }: IndexFlags, { data }) => {
    const startedMs = performance.now();
    const location = indexerLocation(asked ?? defaultIndexerLocation(data));
    const facts = await withReader(data, async (store) => {
      const [{ Indexer }, { openTables }, { openLedger }] = await Promise.all([
        import('../../indexer/indexer.ts'),
        import('../../indexer/service.ts'),
        import('../../ledger/open.ts'),
      ]);
      const { database, close } = await openTables(location);
      try {
        const ledger = openLedger(store);
        const indexer = new Indexer({ ledger, database, openReader: () => openPageReader(data) });
        if (remake === true) await indexer.removeTables();
        const missing = Math.max(0, Number(await indexer.lag()));
        await withProgress((show) => {
          show(() => {
            const { firstVersion = 0n, nextVersion = 0n } = indexer.progress ?? {};
            const done = Number(nextVersion - firstVersion);
            return countText('versions', done, Math.max(done, missing), startedMs);
          });
          return indexer.reachHead();
        });
        const { chainId, firstVersion, nextVersion } = indexer.progress!;
        return {
          ...{ chain_id: chainId, ledger_version: nextVersion - 1n, first_version: firstVersion },
          indexed_versions: missing,
        };
      } finally {
        await close();
      }
    });
    return { facts: { ...facts, seconds: secondsSince(startedMs) } };
  });
}
