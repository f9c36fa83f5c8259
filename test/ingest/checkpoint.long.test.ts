/** How far back a version that states a root is searched for, at −1, 0 and +1. */
import { expect, it } from 'vitest';
import { checkpointUpTo, MAX_CHECKPOINT_DISTANCE } from '../../src/ingest/checkpoint.ts';
import { TransactionInfo } from '../../src/move/transactions/transaction-info.ts';
import { openView } from '../../src/store/read/view.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { chunk, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';

it('a version that states a root is found among so many', async () => {
  const store = new MemoryStore();
  const writer = await LedgerWriter.open(store);
  const genesis = transaction(0);
  const info = TransactionInfo.decode(genesis.info);
  const stateCheckpointHash = Buffer.alloc(32, 7);
  await writer.append(
    chunk(0, [
      { ...genesis, info: TransactionInfo.encode({ ...info, stateCheckpointHash }) },
      ...Array.from({ length: MAX_CHECKPOINT_DISTANCE }, (_, index) => transaction(index + 1)),
    ]),
  );
  const view = await openView(store);
  for (const distance of [-1, 0, 1]) {
    const version = BigInt(MAX_CHECKPOINT_DISTANCE - 1 + distance);
    const found = await checkpointUpTo(view, version);
    expect(found?.stateRoot, `${version}`).toEqual(distance > 0 ? undefined : stateCheckpointHash);
  }
});
