/** A ledger from a snapshot that has not been followed yet: it has one version, its time, and no block. */
import { expect, it } from 'vitest';
import { checkpointUpTo } from '../../src/ingest/checkpoint.ts';
import { CoinAsset } from '../../src/ledger/balances/balance.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { APTOS_COIN_TAG } from '../../src/move/types/framework-tag.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { openView } from '../../src/store/read/view.ts';
import { ledgerOf, snapshotOf } from '../ingest/backup/snapshots.ts';
import { sampleStore } from '../ingest/feed-following.ts';

it('has the balance at its version as history, and only its version by time', async () => {
  const store = await sampleStore(300);
  const { version } = (await checkpointUpTo(await openView(store), 250n))!;
  const { folder } = await snapshotOf(store, { version });
  const view = await openLedger((await ledgerOf(folder)).store).view();
  const { timestampUsecs } = view.state;
  const asset = new CoinAsset(APTOS_COIN_TAG);
  const address = CAFE_HEX.slice(2);
  const amount = await view.balance(address, asset, version);
  expect(amount).toBeGreaterThan(0n);
  const bounds = { from: undefined, to: undefined, start: undefined };
  for (const isDescending of [false, true]) {
    const request = { address, asset, ...bounds, limit: 10, isDescending };
    expect(await view.balanceHistory(request)).toEqual({
      changes: [{ version, amount, timestampUsecs }],
      next: undefined,
      isFinal: false,
    });
  }
  expect(await view.versionAtTime(timestampUsecs)).toMatchObject({ version, timestampUsecs });
  await expect(view.versionAtTime(timestampUsecs - 1n)).rejects.toMatchObject({
    code: 'version_pruned',
  });
});
