// node make.mjs FOLDER TRANSACTIONS ACCOUNTS: creates a large ledger in a folder (bulk-ledger.ts).
import '../../scripts/run-typescript.mjs';

const { Committer } = await import('../../src/ingest/committer.ts');
const { openSqliteStore } = await import('../../src/store/sqlite/sqlite-store.ts');
const { LedgerWriter } = await import('../../src/store/write/writer.ts');
const { bulkChunks } = await import('./bulk-ledger.ts');

const [directory, transactions, accounts] = process.argv.slice(2);
const store = await openSqliteStore({ directory });
const committer = new Committer(await LedgerWriter.open(store));
await committer.pushAll(
  bulkChunks({ seed: 1n, transactions: Number(transactions), accounts: Number(accounts) }),
);
await store.close();
