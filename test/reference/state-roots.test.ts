/**
 * State roots of the reference's own chain: for each version that states one, it is recomputed from the stored state.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointUpTo, stateRootAt } from '../../src/ingest/checkpoint.ts';
import { openView, type StoreView } from '../../src/store/read/view.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { NEWEST_VERSION, type ReferenceLedger, serveReferenceChain } from './reference-chain.ts';

describe('state roots of the reference', () => {
  let ledger: ReferenceLedger;
  let view: StoreView;
  beforeAll(async () => {
    ledger = await serveReferenceChain();
    view = await openView(ledger.store);
  });
  afterAll(() => ledger.close());

  it('are those of the stored state, at every tenth checkpoint and the newest', async () => {
    let compared = 0;
    let version = BigInt(NEWEST_VERSION);
    for (let seen = 0; version >= 0n; seen += 1) {
      const checkpoint = await checkpointUpTo(view, version);
      if (checkpoint === undefined) break;
      version = checkpoint.version - 1n;
      if (seen % 10 !== 0) continue;
      const root = await stateRootAt(ledger.store, checkpoint.version);
      expect(root, `version ${checkpoint.version}`).toEqual(checkpoint.stateRoot);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(10);
  });

  it('are compared by verification', async () => {
    const report = await verifyLedger(ledger.store);
    expect(report).toMatchObject({ damages: [], stateRootVersion: BigInt(NEWEST_VERSION) });
  });
});
