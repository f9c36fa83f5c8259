// A new local network as applications and their tests use it, with the TypeScript SDK in this process: its start, a
// transfer from building it to reading its effect, and many transfers in batches.
import {
  Account,
  Aptos,
  AptosConfig,
  Ed25519PrivateKey,
  Network,
  SignedTransaction,
  TransactionAuthenticatorEd25519,
} from '@aptos-labs/ts-sdk';
import { startChild } from './child.mjs';
import { PROGRAM } from './ledgers.mjs';
import { cpuMs, memoryBytes } from './process-figures.mjs';
import { shownSummary, summary } from './statistics.mjs';

export const name = 'localnet';
export const title = 'Local network: start, a transfer, 1,000 transfers in batches';

/** Measured transfers, one after the other; the earlier ones warm up the network and the client. */
const TRANSFERS = 100;
const WARM_UP = 50;
const BATCHED = 1_000;
const BATCH = 10;
/** Concurrent batches. */
const PARALLEL = 4;
const SIGNED = 'application/x.aptos.signed_transaction+bcs';
const TRANSFER = '0x1::aptos_account::transfer';

class Client {
  #aptos;
  #url;
  #accounts;

  constructor({ url, faucet_url: faucet, accounts }) {
    this.#url = url;
    this.#aptos = new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode: url, faucet }));
    this.#accounts = accounts.map(({ private_key: key }) =>
      Account.fromPrivateKey({ privateKey: new Ed25519PrivateKey(key) }),
    );
  }

  async #signed(sender, receiver, options) {
    const data = { function: TRANSFER, functionArguments: [receiver.accountAddress, 1] };
    const { accountAddress } = sender;
    const { build, sign } = this.#aptos.transaction;
    const transaction = await build.simple({ sender: accountAddress, data, options });
    return { transaction, senderAuthenticator: sign({ signer: sender, transaction }) };
  }

  /** One transfer, until its effect is read. */
  async transfer() {
    const [sender, receiver] = this.#accounts;
    const signed = await this.#signed(sender, receiver);
    const { hash } = await this.#aptos.transaction.submit.simple(signed);
    await this.#aptos.waitForTransaction({ transactionHash: hash });
    await this.#aptos.getAccountAPTAmount({ accountAddress: receiver.accountAddress });
  }

  #sequenceNumber = async ({ accountAddress }) =>
    Number((await this.#aptos.getAccountInfo({ accountAddress })).sequence_number);

  /** Bodies of batches of transfers. @returns also a function that waits until all are committed */
  async batches() {
    const firsts = await Promise.all(this.#accounts.map(this.#sequenceNumber));
    const ofEach = BATCHED / this.#accounts.length;
    const bytes = [];
    for (const [index, sender] of this.#accounts.entries()) {
      for (let nth = 0; nth < ofEach; nth += 1) {
        const accountSequenceNumber = firsts[index] + nth;
        const receiver = this.#accounts[(index + 1) % this.#accounts.length];
        const { transaction, senderAuthenticator: made } = await this.#signed(sender, receiver, {
          accountSequenceNumber,
        });
        const authenticator = new TransactionAuthenticatorEd25519(made.public_key, made.signature);
        bytes.push(new SignedTransaction(transaction.rawTransaction, authenticator).bcsToBytes());
      }
    }
    const bodies = [];
    for (let at = 0; at < BATCHED; at += BATCH) {
      bodies.push(Buffer.concat([Buffer.of(BATCH), ...bytes.slice(at, at + BATCH)]));
    }
    const committed = async () => {
      for (const [index, account] of this.#accounts.entries()) {
        while ((await this.#sequenceNumber(account)) < firsts[index] + ofEach);
      }
    };
    return { bodies, committed };
  }

  async post(bodies) {
    const headers = { 'content-type': SIGNED };
    const work = async () => {
      for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
        const request = { method: 'POST', headers, body };
        const response = await fetch(`${this.#url}/transactions/batch`, request);
        const text = await response.text();
        if (response.status !== 202) throw new Error(`a batch is refused: ${text}`);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  }
}

async function measure() {
  const free = [
    ...['--listen', '127.0.0.1:0', '--faucet-listen', '127.0.0.1:0'],
    ...['--indexer-listen', '', '--ready-listen', ''],
  ];
  const node = await startChild([PROGRAM, 'localnet', '--json', ...free]);
  const startCpuMs = cpuMs(node.pid);
  try {
    const client = new Client(node.ready);
    for (let nth = 0; nth < WARM_UP; nth += 1) await client.transfer();
    const transfers = [];
    let cpuBefore = cpuMs(node.pid);
    for (let nth = 0; nth < TRANSFERS; nth += 1) {
      const startedMs = performance.now();
      await client.transfer();
      transfers.push(performance.now() - startedMs);
    }
    const transferCpuMs = (cpuMs(node.pid) - cpuBefore) / TRANSFERS;
    const { bodies, committed } = await client.batches();
    cpuBefore = cpuMs(node.pid);
    const startedMs = performance.now();
    await client.post(bodies);
    await committed();
    return {
      readyMs: node.readyMs,
      startCpuMs,
      transferMs: summary(transfers).median,
      transferCpuMs,
      batchedMs: performance.now() - startedMs,
      batchedCpuMs: cpuMs(node.pid) - cpuBefore,
      memoryMb: memoryBytes(node.pid).anonymous / 2 ** 20,
    };
  } finally {
    await node.stop();
  }
}

/** @param {{rounds: number, log: (line: string) => void}} options */
export async function run({ rounds, log }) {
  const measured = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await measure());
  const of = (what) => summary(measured.map((round) => round[what]));
  const line = (text, ms, cpu) =>
    log(`${text}: ${shownSummary(of(ms))} ms, ${shownSummary(of(cpu))} of processor time`);
  line('start', 'readyMs', 'startCpuMs');
  line('a transfer', 'transferMs', 'transferCpuMs');
  line(`${BATCHED} transfers`, 'batchedMs', 'batchedCpuMs');
  log(`memory: ${shownSummary(of('memoryMb'))} MiB`);
  return Object.fromEntries(Object.keys(measured[0]).map((what) => [what, of(what)]));
}
