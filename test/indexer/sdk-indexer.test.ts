/** The SDK's results for rows with nulls, which it takes as an answer. */
import { Account, Aptos, AptosConfig, MultiKeyAccount, Network } from '@aptos-labs/ts-sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';

type Transaction = Awaited<ReturnType<Aptos['transaction']['build']['simple']>>;

let net: Localnet;
let aptos: Aptos;

beforeAll(async () => {
  net = await startLocalnet({ accounts: 0, indexerListen: '127.0.0.1:0' });
  const urls = { fullnode: net.url, faucet: net.faucetUrl, indexer: net.indexerUrl };
  aptos = new Aptos(new AptosConfig({ network: Network.CUSTOM, ...urls }));
});

afterAll(() => net.stop());

async function fund(...accounts: Account[]): Promise<void> {
  for (const { accountAddress } of accounts) {
    await aptos.fundAccount({ accountAddress, amount: 1_000_000_000 });
  }
}

async function run(signer: Account, transaction: Transaction): Promise<void> {
  const { hash } = await aptos.signAndSubmitTransaction({ signer, transaction });
  await aptos.waitForTransaction({ transactionHash: hash });
}

it('finds the accounts that a key can sign for, by itself and as one of several', async () => {
  const [own, taken] = [Account.generate(), Account.generate()];
  const several = MultiKeyAccount.fromPublicKeysAndSigners({
    publicKeys: [own.publicKey, Account.generate().publicKey],
    signaturesRequired: 1,
    signers: [own],
  });
  await fund(own, taken, several);
  await run(
    taken,
    await aptos.rotateAuthKeyUnverified({
      fromAccount: taken,
      toNewPublicKey: own.publicKey,
    }),
  );
  const toItself = { sender: several.accountAddress, recipient: several.accountAddress, amount: 0 };
  await run(several, await aptos.transferCoinTransaction(toItself));
  const found = await aptos.deriveOwnedAccountsFromSigner({
    signer: own,
    options: { includeUnverified: true },
  });
  const addresses = (accounts: readonly Account[]) =>
    accounts.map(({ accountAddress }) => String(accountAddress));
  expect(addresses(found)).toEqual(addresses([several, taken, own]));
});

it('says of what happened to a digital asset not whether it is fungible', async () => {
  const creator = Account.generate();
  await fund(creator);
  const named = { creator, name: 'a collection', description: '', uri: 'https://example.com' };
  await run(creator, await aptos.createCollectionTransaction(named));
  const token = { ...named, collection: named.name, name: 'a token' };
  await run(creator, await aptos.mintDigitalAssetTransaction(token));
  const owner = { ownerAddress: creator.accountAddress };
  const [owned] = await aptos.getOwnedDigitalAssets(owner);
  const digitalAssetAddress = owned!.token_data_id;
  const [minted] = await aptos.getDigitalAssetActivity({ digitalAssetAddress });
  expect(minted).toMatchObject({
    type: '0x4::collection::MintEvent',
    from_address: String(creator.accountAddress),
    is_fungible_v2: null,
  });
});
