/** The size of the state in a store at a version, counted value by value (docs/spec/vm.md §6.12). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keySize } from '../execution/storage-fees.ts';
import { KeyFiles } from '../ingest/backup/key-files.ts';
import { parsePhysicalStateKey } from '../move/types/state-key.ts';
import { liveState } from '../store/read/live-state.ts';
import type { StoreReader } from '../store/store.ts';
import type { StateUsage } from '../vm/world.ts';

/** For a ledger that has not retained all writes since its epoch began. Reads its whole live state. */
export async function liveUsage(store: StoreReader, version: bigint): Promise<StateUsage> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-keys-'));
  try {
    const keyFiles = await KeyFiles.make(store, folder, () => undefined);
    let [items, bytes] = [0n, 0n];
    for await (const page of keyFiles.withKeys(liveState(store, version))) {
      for (const [key, value] of page) {
        items += 1n;
        bytes += BigInt(keySize(parsePhysicalStateKey(key)) + value.bytes.length);
      }
    }
    return { items, bytes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
