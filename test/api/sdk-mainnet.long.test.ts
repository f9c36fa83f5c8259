/** The SDK on mainnet's genesis. */
import { describe, expect, it } from 'vitest';
import {
  genesisPath,
  genesisPresent,
  NETWORKS,
  readGenesisFile,
  shortAddress,
} from './genesis-file.ts';
import { COIN, itServes, sdkClient } from './sdk-node.ts';

describe.skipIf(!genesisPresent)('mainnet’s genesis (needs ../shared/genesis)', () => {
  const served = sdkClient(() => genesisPath('mainnet.blob'));
  itServes(served, NETWORKS.mainnet.chainId);

  it('a module: its bytes and its interface', async () => {
    const file = readGenesisFile('mainnet');
    const { aptos } = served.client;
    for (const { address, name, bytes } of file.modules.slice(0, 20)) {
      const accountAddress = shortAddress(address);
      const { bytecode, abi } = await aptos.getAccountModule({ accountAddress, moduleName: name });
      expect(bytecode).toBe(`0x${bytes.toString('hex')}`);
      expect(abi).toMatchObject({ address: accountAddress, name });
    }
    const { abi } = await aptos.getAccountModule({ accountAddress: '0x1', moduleName: 'coin' });
    const transfer = abi?.exposed_functions.find(({ name }) => name === 'transfer');
    expect(transfer).toEqual({
      name: 'transfer',
      visibility: 'public',
      is_entry: true,
      is_view: false,
      generic_type_params: [{ constraints: [] }],
      params: ['&signer', 'address', 'u64'],
      return: [],
    });
  });

  it('a module at a version', async () => {
    const { aptos } = served.client;
    const asked = { accountAddress: '0x1', moduleName: 'coin' };
    await aptos.getAccountModule({ ...asked, options: { ledgerVersion: 0n } });
    await expect(
      aptos.getAccountModule({ ...asked, options: { ledgerVersion: 1n } }),
    ).rejects.toMatchObject({ status: 404, data: { error_code: 'version_not_found' } });
  });

  it('balances', async () => {
    const { aptos } = served.client;
    const stores = readGenesisFile('mainnet').resources.filter(
      ({ type }) => type.name === 'CoinStore' && type.typeArguments[0] === COIN,
    );
    for (const { address, bytes } of stores.slice(0, 50)) {
      const balance = await aptos.getBalance({
        accountAddress: shortAddress(address),
        asset: COIN,
      });
      expect(BigInt(balance)).toBe(bytes.readBigUInt64LE());
    }
    expect(await aptos.getBalance({ accountAddress: '0xdead', asset: COIN })).toBe(0);
  });
});
