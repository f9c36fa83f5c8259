/**
 * A local network with a folder is killed in the middle of its work, again and again; now and then it is a node that
 * serves its ledger. Everything acknowledged exists afterwards, and the operation under way is complete or absent. In
 * the end the ledger is executed again.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { ed25519Key } from '../../src/chain/genesis/genesis-keys.ts';
import { parseAddress } from '../../src/move/types/address.ts';
import { transfer } from '../chain/localnet-client.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { killLeftNodes, runCommand, startCommand, temporaryFolder } from './command.ts';

const ROUNDS = roundsOf('LOCALNET_KILLS', 4, 100);
/** Maximum time for a kill and the restart. */
const ROUND_TIMEOUT_MS = 10_000;
/** Maximum time until a network is killed after its ready line, in milliseconds. */
const MAX_LIFE_MS = 1_500;
const FREE = ['--faucet-listen', '127.0.0.1:0', '--ready-listen', '', '--indexer-listen', ''];
/** One in this many starts is a node that serves the ledger. */
const SERVED_SHARE = 4;
const SINKS = ['0x5111', '0x5222', '0x5333'];
const COIN = '0x1::aptos_coin::AptosCoin';
/** Later than any move of the clock. */
const EXPIRATION_SECS = 20_000_000_000n;

interface Account {
  readonly address: string;
  readonly private_key: string;
}

/** The state of a ledger, as far as the operations change it. */
interface State {
  /** Balances of the sinks. */
  readonly balances: readonly bigint[];
  /** Sequence number of the sender. */
  readonly sequenceNumber: bigint;
}

/** Thrown if the kill ended the request, and not a response. */
class Killed extends Error {}

class Network {
  readonly #child: ChildProcess;
  readonly #url: string;
  readonly #sender: Account;
  readonly isControlled: boolean;
  #isKilled = false;

  private constructor(child: ChildProcess, url: string, sender: Account, isControlled = true) {
    this.#child = child;
    this.#url = url;
    this.#sender = sender;
    this.isControlled = isControlled;
  }

  static async start(data: string): Promise<Network> {
    const { child, ready } = await started(
      ['localnet', ...FREE, '--accounts', '1', '--json'],
      data,
    );
    return new Network(child, ready.url, ready.accounts![0]!);
  }

  /** A serving node that continues this network's ledger. It is not controlled. */
  async served(data: string): Promise<Network> {
    const { child, ready } = await started(['serve'], data);
    return new Network(child, ready.url, this.#sender, false);
  }

  async kill(): Promise<void> {
    this.#isKilled = true;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  /** @throws Killed */
  async ask(path: string, body?: Buffer | string): Promise<{ status: number; text: string }> {
    const type =
      typeof body === 'string' ? 'application/json' : 'application/x.aptos.signed_transaction+bcs';
    try {
      const response = await fetch(`${this.#url}${path}`, {
        ...(body !== undefined && { method: 'POST', body, headers: { 'content-type': type } }),
      });
      return { status: response.status, text: await response.text() };
    } catch (cause) {
      if (this.#isKilled) throw new Killed();
      throw cause;
    }
  }

  async control(name: string, body: object = {}): Promise<Record<string, unknown>> {
    const { status, text } = await this.ask(`/-/${name}`, JSON.stringify(body));
    expect(status, text).toBe(200);
    return JSON.parse(text) as Record<string, unknown>;
  }

  async dump(): Promise<Buffer> {
    try {
      const response = await fetch(`${this.#url}/-/dump`, { method: 'POST' });
      expect(response.status).toBe(200);
      return Buffer.from(await response.arrayBuffer());
    } catch (cause) {
      if (this.#isKilled) throw new Killed();
      throw cause;
    }
  }

  async state(): Promise<State> {
    const balances = await Promise.all(
      SINKS.map(async (sink) => BigInt((await this.ask(`/accounts/${sink}/balance/${COIN}`)).text)),
    );
    const { text } = await this.ask(`/accounts/${this.#sender.address}`);
    const account = JSON.parse(text) as { sequence_number: string };
    return { balances, sequenceNumber: BigInt(account.sequence_number) };
  }

  /** Submits a transfer and waits until it is committed. @returns its hash */
  async pay(sink: number, octas: bigint, sequenceNumber: bigint): Promise<string> {
    const key = ed25519Key(Buffer.from(this.#sender.private_key.replace(/^.*0x/, ''), 'hex'));
    const from = { address: parseAddress(this.#sender.address), key };
    const to = parseAddress(SINKS[sink]!);
    const signed = transfer(from, { sequenceNumber, to, octas, expiration: EXPIRATION_SECS });
    const { status, text } = await this.ask('/transactions', signed);
    expect(status, text).toBe(202);
    const { hash } = JSON.parse(text) as { hash: string };
    const committed = await this.ask(`/transactions/wait_by_hash/${hash}`);
    expect(JSON.parse(committed.text)).toMatchObject({ success: true });
    return hash;
  }
}

interface Ready {
  readonly url: string;
  /** Absent for a node that serves the ledger. */
  readonly accounts?: readonly Account[];
}

async function started(args: readonly string[], data: string) {
  const child = startCommand([...args, '--data', data, '--listen', '127.0.0.1:0']);
  let text = '';
  for await (const part of child.stdout!) {
    text += part;
    if (text.endsWith('}\n')) break;
  }
  return { child, ready: JSON.parse(text) as Ready };
}

/** The acknowledged state, and the operation under way. */
class Model {
  said: State;
  /** The state after the operation under way. */
  next: State;
  /** Hashes of committed transfers. */
  hashes: readonly string[] = [];
  snapshot: { id: unknown; state: State; hashes: readonly string[] } | undefined;
  dump: { bytes: Buffer; state: State; hashes: readonly string[] } | undefined;

  constructor(state: State) {
    this.said = state;
    this.next = state;
  }

  /** Checks that a ledger is in the acknowledged state, or in that after the operation under way. */
  accept(found: State): void {
    expect([this.said, this.next]).toContainEqual(found);
    this.said = found;
    this.next = found;
    this.snapshot = undefined;
  }
}

/** Runs one operation; the model has its result once the network has acknowledged it. @throws Killed */
async function operate(net: Network, model: Model, random: Random): Promise<void> {
  const { balances, sequenceNumber } = model.said;
  const sink = random.below(SINKS.length);
  const octas = BigInt(random.below(1_000) + 1);
  const withBalance = (amount: bigint) => balances.map((one, at) => (at === sink ? amount : one));
  const kind = net.isControlled ? random.below(12) : 0;
  if (kind < 5) {
    const paid = withBalance(balances[sink]! + octas);
    model.next = { balances: paid, sequenceNumber: sequenceNumber + 1n };
    model.hashes = [...model.hashes, await net.pay(sink, octas, sequenceNumber)];
  } else if (kind < 7) {
    model.next = { balances: withBalance(octas), sequenceNumber };
    await net.control('set_balance', { account: SINKS[sink], amount: String(octas) });
  } else if (kind === 7) {
    await net.control('move_time', { usecs: String(random.below(2) * 7_200_000_000 + 1_000) });
    await net.control('mine', { blocks: 1 });
  } else if (kind === 10 || (kind === 11 && model.dump === undefined)) {
    model.dump = { bytes: await net.dump(), state: model.said, hashes: model.hashes };
  } else if (kind === 11) {
    const { bytes, state, hashes } = model.dump!;
    model.next = state;
    // Only hashes in both histories are certain until the load is acknowledged.
    model.hashes = hashes.filter((hash) => model.hashes.includes(hash));
    const { status, text } = await net.ask('/-/load', bytes);
    expect(status, text).toBe(200);
    model.hashes = hashes;
    model.snapshot = undefined;
  } else if (kind === 8 || model.snapshot === undefined) {
    const { id } = await net.control('snapshot');
    model.snapshot = { id, state: model.said, hashes: model.hashes };
  } else {
    const { id, state, hashes } = model.snapshot;
    model.next = state;
    // During the revert, transactions after the snapshot are not guaranteed.
    model.hashes = hashes;
    await net.control('revert', { id });
    model.snapshot = undefined;
  }
  model.said = model.next;
}

describe('a local network that is killed', () => {
  afterAll(killLeftNodes);

  it(`has what it had said (${ROUNDS} kills)`, {
    timeout: 180_000 + ROUNDS * ROUND_TIMEOUT_MS,
  }, async () => {
    const seed = testSeed('kills');
    const random = new Random(seed);
    const data = join(temporaryFolder(), 'chain');
    let net = await Network.start(data);
    await net.control('set_balance', { account: SINKS[0], amount: '1' });
    const model = new Model(await net.state());
    let operations = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const killed = sleep(random.below(MAX_LIFE_MS)).then(() => net.kill());
      try {
        for (;;) {
          await operate(net, model, random);
          operations += 1;
        }
      } catch (cause) {
        if (!(cause instanceof Killed)) throw cause;
      }
      await killed;
      net = random.below(SERVED_SHARE) === 0 ? await net.served(data) : await Network.start(data);
      model.accept(await net.state());
      for (const hash of model.hashes) {
        const { text } = await net.ask(`/transactions/by_hash/${hash}`);
        expect(JSON.parse(text)).toMatchObject({ success: true });
      }
    }
    await net.kill();
    console.log(
      `SEED=${seed}: ${ROUNDS} kills, ${operations} operations, ${model.hashes.length} transfers`,
    );
    const proof = await runCommand(['verify', '--execute', '--data', data, '--json']);
    expect(JSON.parse(proof.stdout)).toMatchObject({ holds: true, different: 0, not_executed: 0 });
  });
});
