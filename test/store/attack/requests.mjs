/**
 * Requests to a node of a sound ledger, with their responses: a node of a damaged one responds with the same, or fails.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeError } from '../../../src/node/node-error.ts';
import { startEmbeddedNode } from '../../../src/node/serve/embedded.ts';
import { note } from './questions.mjs';

const ACCOUNTS = 6;
const VERSIONS = 20;
const AT_ONCE = 4;
const COIN = '0x1::aptos_coin::AptosCoin';

async function started(data) {
  return await startEmbeddedNode({ data });
}

/** Retries while the machine is busy. */
async function answerTo(node, path) {
  for (;;) {
    const response = await fetch(node.url + path);
    const body = await response.text();
    if (response.status !== 503 || !body.includes('overloaded')) {
      return { status: response.status, body };
    }
    await sleep(200);
  }
}

async function json(node, path) {
  return JSON.parse((await answerTo(node, path)).body);
}

function pathsOfAccount(address, version) {
  const paths = ['', '/resources', '/modules', '/transactions', '/transaction_summaries'];
  paths.push('/balances', `/balance/${COIN}`, `/balance/${COIN}/history`, '/resources?limit=3');
  paths.push('/resource/0x1::account::Account', '/module/coin', '/module/nothing');
  for (const number of [0, 1, 2, 3, 9])
    paths.push(`/events/${number}`, `/events/${number}?start=3`);
  for (const path of ['/resources', '/modules', `/balance/${COIN}`]) {
    paths.push(`${path}?ledger_version=${version}`);
  }
  return paths.map((path) => `/accounts/${address}${path}`);
}

export class Requests {
  #answers = new Map();

  static async of(data) {
    const requests = new Requests();
    const node = await started(data);
    try {
      const head = Number(node.ledgerVersion);
      for (const path of await requests.#paths(node, head)) {
        requests.#answers.set(path, await answerTo(node, path));
      }
    } finally {
      await node.stop();
    }
    return requests;
  }

  get count() {
    return this.#answers.size;
  }

  async #paths(node, head) {
    const paths = ['/', '/info', '/transactions', '/transactions?limit=100', '/estimate_gas_price'];
    const accounts = new Set(['0x1', '0xdead00']);
    for (let at = 0; at < VERSIONS; at += 1) {
      const version = Math.floor((head * at) / (VERSIONS - 1));
      const transaction = await json(node, `/transactions/by_version/${version}`);
      const { hash, sender } = transaction;
      const otherHash = hash.slice(0, -1) + (hash.endsWith('0') ? '1' : '0');
      paths.push(`/transactions/by_version/${version}`, `/transactions?start=${version}&limit=20`);
      paths.push(`/transactions/by_hash/${hash}`, `/transactions/by_hash/${otherHash}`);
      paths.push(`/transactions/by_hash/0x${String(at).repeat(64).slice(0, 64)}`);
      paths.push(`/blocks/by_version/${version}?with_transactions=true`, `/blocks/by_height/${at}`);
      paths.push(`/versions/by_timestamp/${transaction.timestamp ?? 0}`);
      if (sender !== undefined && accounts.size < ACCOUNTS) accounts.add(sender);
    }
    for (const start of [0, Math.floor(head / 2)]) {
      paths.push(`/events/by_type/0x1::transaction_fee::FeeStatement?start=${start}`);
    }
    paths.push(`/transactions/by_version/${head + 1}`, '/events/by_type/0x1::a::B');
    for (const address of accounts) paths.push(...pathsOfAccount(address, Math.floor(head / 2)));
    return paths;
  }

  /** Records responses that are neither the same nor failures. */
  async ask(data, found) {
    let node;
    try {
      node = await started(data);
    } catch (error) {
      if (!(error instanceof NodeError)) note(found, `starting: ${error.stack}`);
      return;
    }
    try {
      const paths = [...this.#answers.keys()];
      const asking = Array.from({ length: AT_ONCE }, async () => {
        for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
          await this.#askFor(node, path, found);
        }
      });
      await Promise.all(asking);
    } finally {
      await node.stop();
    }
  }

  async #askFor(node, path, found) {
    const { status, body } = await answerTo(node, path);
    found.codes[`status ${status}`] = (found.codes[`status ${status}`] ?? 0) + 1;
    const expected = this.#answers.get(path);
    if (status === 500 || (status === expected.status && body === expected.body)) return;
    note(found, `${path}: ${status} ${body.slice(0, 200)}, was ${expected.status}`);
  }
}
