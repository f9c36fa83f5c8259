/** The SDK on a handmade genesis. */
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { SMALL_CHAIN_ID, writeSmallGenesis } from './genesis-small.ts';
import { COIN, itServes, sdkClient } from './sdk-node.ts';

describe('a small genesis made by hand', () => {
  const small = writeSmallGenesis();
  afterAll(() => rmSync(small.folder, { recursive: true }));
  const served = sdkClient(() => small.path);
  itServes(served, SMALL_CHAIN_ID);

  it('balances that a double holds; larger ones the SDK rounds, not the node', async () => {
    const { aptos, node } = served.client;
    expect(await aptos.getBalance({ accountAddress: '0xa11ce', asset: COIN })).toBe(7);
    expect(await aptos.getBalance({ accountAddress: '0xa11ce', asset: '0x5a::m::Coin' })).toBe(9);
    expect(await aptos.getBalance({ accountAddress: '0xfa', asset: '0xa' })).toBe(12_345);
    expect(await aptos.getBalance({ accountAddress: '0xfb', asset: COIN })).toBe(2 ** 64);
    const exact = await node.get('/accounts/0xfb/balance/0xa');
    expect(await exact.text()).toBe('18446744073709551615');
  });
});
