/**
 * Accounts without a plain key on a local network: the SDK signs, and the chain authenticates (docs/spec/vm.md §8.9).
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import {
  type Account,
  AccountAddress,
  Aptos,
  AptosConfig,
  DerivableAbstractedAccount,
  Network,
} from '@aptos-labs/ts-sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';

const RECEIVER = AccountAddress.from(`0x${'5eed'.padStart(64, '0')}`);

let net: Localnet;
let aptos: Aptos;
beforeAll(async () => {
  net = await startLocalnet({ accounts: 1 });
  aptos = new Aptos(
    new AptosConfig({ network: Network.CUSTOM, fullnode: net.url, faucet: net.faucetUrl }),
  );
});
afterAll(() => net.stop());

async function transfer(sender: Account): Promise<string> {
  const transaction = await aptos.transferCoinTransaction({
    sender: sender.accountAddress,
    recipient: RECEIVER,
    amount: 7,
  });
  const pending = await aptos.signAndSubmitTransaction({ signer: sender, transaction });
  const { vm_status: status } = await aptos.waitForTransaction({ transactionHash: pending.hash });
  return status;
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** For bytes that do not begin with zero. */
function base58(bytes: Buffer): string {
  let text = '';
  for (let left = BigInt(`0x${bytes.toString('hex')}`); left > 0n; left /= 58n) {
    text = ALPHABET[Number(left % 58n)]! + text;
  }
  return text;
}

it('a wallet of another chain signs for an account that follows from its key', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = base58(Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'));
  const domain = 'app.example';
  const wallet = (call: string) =>
    new DerivableAbstractedAccount({
      signer: (digest) => {
        const nonce = Buffer.from(digest as Uint8Array).toString('hex');
        const message =
          `${domain} wants you to sign in with your Solana account:\n${key}\n\nPlease confirm you ` +
          `explicitly initiated this request from ${domain}. You are approving to execute ` +
          `transaction ${call} on Aptos blockchain (local).\n\nNonce: 0x${nonce}`;
        const signature = sign(null, Buffer.from(message), privateKey);
        return encodeBcs((writer) => writer.u8(0).bytes(signature));
      },
      authenticationFunction: '0x1::solana_derivable_account::authenticate',
      abstractPublicKey: encodeBcs((writer) => writer.string(key).string(domain)),
    });
  const account = wallet('0x1::aptos_account::transfer_coins');
  await aptos.fundAccount({
    accountAddress: account.accountAddress,
    amount: 1_000_000_000,
    options: { waitForIndexer: false },
  });
  expect(await transfer(account)).toBe('Executed successfully');
  expect(await transfer(account)).toBe('Executed successfully');
  await expect(transfer(wallet('0x1::aptos_account::transfer'))).rejects.toThrow('ABORTED');
});
