/**
 * The process whose writes are recorded: `node recorded-writer FOLDER SEED` creates a small ledger chunk by chunk,
 * prunes it, and writes each acknowledged version to a file at once.
 */
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pinnedPrimaryStores } from '../../src/ledger/balances/pinned-stores.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { recordedChunks } from './recorded-ledger.ts';

/** Number of chunks after which all but the newest versions are pruned. */
const PRUNED_CHUNKS = 3;
const RETAINED_VERSIONS = 10;
const PRUNING = {
  ...{ objectsOf: pinnedPrimaryStores, graceMs: 0, restFactor: 0 },
  bounds: { maxRows: 200, maxMs: 1_000 },
};

const [directory, seed] = process.argv.slice(2) as [string, string];
const acknowledged = openSync(join(directory, 'acknowledged'), 'w');
const store = await openSqliteStore({ directory });
const writer = await LedgerWriter.open(store);
let chunks = 0;
for (const chunk of recordedChunks(Number(seed))) {
  const { head } = await writer.append(chunk);
  writeSync(acknowledged, `${head.version}\n`);
  chunks += 1;
  if (chunks % PRUNED_CHUNKS === 0) {
    await new Pruner(writer, PRUNING).run({ versions: RETAINED_VERSIONS });
  }
}
await store.close();
