/** The file of a ledger that is pruned as fast as it grows. */
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { openView } from '../../src/store/read/view.ts';
import { storeFileOf } from '../../src/store/sqlite/files.ts';
import { openSqliteReader, openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { block, chunk, resourceKey, transaction, write } from './chunks.ts';
import { temporaryDirectory } from './engines.ts';

const AT_ONCE = { graceMs: 0, restFactor: 0 };

test('freed space is used again: a ledger that keeps its size keeps its file', async () => {
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory });
  const writer = await LedgerWriter.open(store);
  const sizes: number[] = [];
  let version = 0;
  for (let round = 0; round < 50; round += 1) {
    const transactions = Array.from({ length: 400 }, (_, index) =>
      transaction(version + index, {
        writes: [0, 1, 2].map((key) =>
          write(resourceKey((version + index) % 50, `K${key}`), 'x'.repeat(300)),
        ),
      }),
    );
    const blocks = version === 0 ? {} : { blocks: [block(round, version)] };
    await writer.append(chunk(version, transactions, blocks));
    version += 400;
    await new Pruner(writer, AT_ONCE).run({ versions: 800 });
    // Without the log, which has a limit of its own.
    sizes.push(statSync(storeFileOf(directory)).size);
  }
  await store.close();
  // The log is full for the first time after 33 rounds.
  const [early, late] = [sizes[36]!, sizes[49]!];
  expect(early).toBeGreaterThan(1_000_000);
  expect(late).toBeLessThanOrEqual(early * 1.1);
  const reader = openSqliteReader({ directory });
  expect((await openView(reader)).head.oldestVersion).toBe(19_200n);
  await reader.close();
});
