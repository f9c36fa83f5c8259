// The complete flow of an application with the TypeScript SDK, unchanged, with one URL: node typescript.mjs
// FOLDER_OF_THE_SDK URL PRIVATE_KEY RECEIVER AMOUNT
import { createRequire } from 'node:module';

const [folder, url, key, receiver, amount] = process.argv.slice(2);
const sdk = createRequire(`${folder}/`)('@aptos-labs/ts-sdk');
const { Account, Aptos, AptosConfig, Ed25519PrivateKey, Network, getAptosFullNode } = sdk;

const COIN = '0x1::aptos_coin::AptosCoin';
const config = new AptosConfig({ network: Network.CUSTOM, fullnode: url });
const aptos = new Aptos(config);
const sender = Account.fromPrivateKey({ privateKey: new Ed25519PrivateKey(key) });

const transaction = await aptos.transaction.build.simple({
  sender: sender.accountAddress,
  data: {
    function: '0x1::aptos_account::transfer',
    functionArguments: [receiver, Number(amount)],
  },
});
const [simulated] = await aptos.transaction.simulate.simple({
  signerPublicKey: sender.publicKey,
  transaction,
});
const senderAuthenticator = aptos.transaction.sign({ signer: sender, transaction });
const submitted = await aptos.transaction.submit.simple({ transaction, senderAuthenticator });
const waited = await aptos.waitForTransaction({ transactionHash: submitted.hash });

// Only reads from here on.
const read = await aptos.getTransactionByVersion({ ledgerVersion: Number(waited.version) });
const balance = (accountAddress) => aptos.getAccountAPTAmount({ accountAddress });
const [viewed] = await aptos.view({
  payload: { function: '0x1::coin::balance', typeArguments: [COIN], functionArguments: [receiver] },
});
const { data: blocks } = await getAptosFullNode({
  aptosConfig: config,
  originMethod: 'events',
  path: 'accounts/0x1/events/0x1::block::BlockResource/new_block_events',
});
// A block begins with a transaction that emits its event.
const block = blocks.findLast(({ version }) => BigInt(version) < BigInt(waited.version));
const account = await aptos.getAccountInfo({ accountAddress: sender.accountAddress });
const sent = await aptos.getAccountTransactions({ accountAddress: sender.accountAddress });

// The SDK prints notes of its own, so the last line counts.
console.log(
  JSON.stringify({
    sender: sender.accountAddress.toStringLong(),
    gasUnitPrice: String(transaction.rawTransaction.gas_unit_price),
    simulated: [simulated.success, simulated.gas_used],
    hash: submitted.hash,
    waited: [waited.type, waited.success, waited.hash],
    isReadAgain: JSON.stringify(read) === JSON.stringify(waited),
    senderBalance: String(await balance(sender.accountAddress)),
    receiverBalance: String(await balance(receiver)),
    viewed: String(viewed),
    events: read.events.map(({ type }) => type),
    blockHeight: block.data.height,
    sequenceNumber: account.sequence_number,
    lastSent: sent.at(-1).hash,
  }),
);
