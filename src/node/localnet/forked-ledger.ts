/**
 * The ledger of a local network on top of a live chain: one folder has the data that the fork
 * recorded, another the local commits (docs/localnet.md).
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { sha3 } from '../../move/crypto/hash.ts';
import { continuedSource } from '../../state/fork/continued-source.ts';
import type { OpenSource } from '../../state/source.ts';
import { Batch } from '../../store/batch.ts';
import { frozenRootCount, HEAD_ROW, openHead } from '../../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../store/columns/identity-column.ts';
import { openForkStore } from '../fork-store.ts';
import { withNewStore } from '../open-store.ts';
import type { NodeSettings } from '../settings/settings.ts';
import type { StopList } from '../shutdown.ts';

export interface LedgerPlace {
  readonly folder: string;
  /** How the ledger is read; absent: it is all in its store. */
  readonly openSource?: OpenSource | undefined;
  readonly firstVersion?: bigint | undefined;
  /** Creates a ledger in a folder without one, in its state before the first block. */
  readonly makeLedger: (folder: string) => Promise<unknown>;
}

/**
 * Opens the fork; creates it if missing.
 * @param data folder of both
 * @throws NodeError as openForkStore does
 */
export async function openForkedLedger(
  data: string,
  settings: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<LedgerPlace> {
  mkdirSync(data, { recursive: true });
  const fork = await openForkStore({ ...settings, data: join(data, 'fork') }, stopList, logger);
  const head = await openHead(fork.store);
  const makeLedger = (folder: string) =>
    withNewStore(folder, async (store) => {
      const batch = new Batch();
      LEDGER_IDENTITY.put(batch, undefined, (await LEDGER_IDENTITY.get(fork.store))!);
      // The accumulator of the chain is not available here, so these frozen roots are invented.
      const frozenRoots = Array.from({ length: frozenRootCount(head.version + 1n) }, (_, place) =>
        sha3(Buffer.of(place)),
      );
      HEAD_ROW.publish(batch, undefined, { ...head, frozenRoots });
      await store.commit(batch);
    });
  return {
    folder: join(data, 'chain'),
    openSource: continuedSource(fork.openSource(fork.store, head)),
    firstVersion: head.version + 1n,
    makeLedger,
  };
}
