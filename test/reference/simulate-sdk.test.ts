/**
 * The official TypeScript SDK, unchanged, simulates on the recorded chain: transactions of one signer, of several, and
 * with a fee payer.
 */
import {
  AccountAddress,
  Aptos,
  AptosConfig,
  Ed25519PublicKey,
  Network,
  type UserTransactionResponse,
} from '@aptos-labs/ts-sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatAddress } from '../../src/move/types/address.ts';
import { type ReferenceLedger, serveReferenceChain } from './reference-chain.ts';
import { findAccounts, type KnownAccount, LATER } from './simulation-requests.ts';

let ledger: ReferenceLedger;
let aptos: Aptos;
let sender: KnownAccount;
let payer: KnownAccount;
beforeAll(async () => {
  ledger = await serveReferenceChain();
  const fullnode = `http://127.0.0.1:${await ledger.api.port()}/v1`;
  aptos = new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode }));
  [sender, payer] = (await findAccounts(ledger.api)) as [KnownAccount, KnownAccount];
});
afterAll(() => ledger.close());

const addressOf = ({ address }: KnownAccount): AccountAddress =>
  AccountAddress.from(`0x${address}`);
const keyOf = ({ publicKey }: KnownAccount): Ed25519PublicKey => new Ed25519PublicKey(publicKey);
const DATA = {
  function: '0x1::aptos_account::transfer',
  functionArguments: ['0x000000000000000000000000000000000000000000000000000000000000b0b5', 1_000],
} as const;
const OPTIONS = { expireTimestamp: Number(LATER) };

function expectTransfer(answers: readonly UserTransactionResponse[]): UserTransactionResponse {
  expect(answers.length).toBe(1);
  const [answer] = answers as [UserTransactionResponse];
  expect([answer.success, answer.vm_status]).toEqual([true, 'Executed successfully']);
  expect(answer.sender).toBe(formatAddress(sender.address));
  expect(answer.events.map(({ type }) => type)).toContain('0x1::fungible_asset::Deposit');
  return answer;
}

it('transactions of one signer, with gas that the node chooses', async () => {
  const transaction = await aptos.transaction.build.simple({
    sender: addressOf(sender),
    data: { ...DATA, functionArguments: [...DATA.functionArguments] },
    options: OPTIONS,
  });
  const simulated = await aptos.transaction.simulate.simple({
    signerPublicKey: keyOf(sender),
    transaction,
    options: { estimateGasUnitPrice: true, estimateMaxGasAmount: true },
  });
  const { gas_unit_price: price, max_gas_amount: most } = expectTransfer(simulated);
  expect([price, most]).toEqual(['100', '20000000']);
  expectTransfer(await aptos.transaction.simulate.simple({ transaction }));
});

it('transactions with a fee payer', async () => {
  const transaction = await aptos.transaction.build.simple({
    sender: addressOf(sender),
    withFeePayer: true,
    data: { ...DATA, functionArguments: [...DATA.functionArguments] },
    options: OPTIONS,
  });
  const signerPublicKey = keyOf(sender);
  expectTransfer(await aptos.transaction.simulate.simple({ signerPublicKey, transaction }));
  transaction.feePayerAddress = addressOf(payer);
  const feePayerPublicKey = keyOf(payer);
  expectTransfer(
    await aptos.transaction.simulate.simple({ signerPublicKey, feePayerPublicKey, transaction }),
  );
});

it('transactions of several signers', async () => {
  const transaction = await aptos.transaction.build.multiAgent({
    sender: addressOf(sender),
    secondarySignerAddresses: [addressOf(payer)],
    data: { ...DATA, functionArguments: [...DATA.functionArguments] },
    options: OPTIONS,
  });
  const [answer] = await aptos.transaction.simulate.multiAgent({
    signerPublicKey: keyOf(sender),
    secondarySignersPublicKeys: [keyOf(payer)],
    transaction,
  });
  expect(answer!.vm_status).toBe('NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH');
});
