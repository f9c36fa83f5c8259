/**
 * Random sequences of operations of clients and tests on a local network. A model, which only adds, knows the balances
 * of sinks and the sequence numbers of senders. After each sequence another ledger follows, which is told when the
 * network has been reverted. After the last sequence of a ledger all of it is executed again. Kills are in
 * test/process/localnet-kills.long.test.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { padAddress } from '../../src/move/types/address.ts';
import type { LocalAccount } from '../../src/node/localnet/branch.ts';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { openHead, readHead } from '../../src/store/columns/head.ts';
import { openView } from '../../src/store/read/view.ts';
import { followError, followerOf, NEVER } from '../ingest/feed-following.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { Client, proveLedger, transfer } from './localnet-client.ts';

const SEQUENCES = roundsOf('LOCALNET_SEQUENCES', 4, 200);
/** Number of sequences on one ledger. */
const LEDGER_SEQUENCES = 25;
const OPERATIONS = 12;
/** Maximum time of one sequence. */
const SEQUENCE_TIMEOUT_MS = 10_000;
const SINKS = ['5111', '5222', '5333'].map(padAddress);
/** Nobody has its key. */
const KEYLESS = padAddress('4e1e55');
const RICH_OCTAS = 10n ** 15n;
/** Later than any move of the clock. */
const EXPIRATION_SECS = 20_000_000_000n;

interface Waiting {
  readonly sender: string;
  readonly sink: string;
  readonly octas: bigint;
}

class Model {
  readonly balances: Map<string, bigint>;
  /** Sequence numbers of the next committed transactions. */
  readonly numbers: Map<string, bigint>;
  waiting: Waiting[];

  constructor(of?: Model) {
    this.balances = new Map(of?.balances);
    this.numbers = new Map(of?.numbers);
    this.waiting = [...(of?.waiting ?? [])];
  }

  nextNumber(sender: string): bigint {
    const ahead = this.waiting.filter((one) => one.sender === sender).length;
    return (this.numbers.get(sender) ?? 0n) + BigInt(ahead);
  }

  mine(): void {
    for (const { sender, sink, octas } of this.waiting) {
      this.numbers.set(sender, (this.numbers.get(sender) ?? 0n) + 1n);
      this.balances.set(sink, (this.balances.get(sink) ?? 0n) + octas);
    }
    this.waiting = [];
  }
}

/** A network, its model, and snapshots. */
class Run {
  readonly #data: string;
  readonly #random: Random;
  #net!: Localnet;
  #client!: Client;
  #model = new Model();
  #snapshots: { readonly id: number; readonly model: Model }[] = [];
  #dump: { readonly bytes: Buffer; readonly model: Model } | undefined;
  /** The ledger that follows the network. */
  #copy = new MemoryStore();
  /** Whether the network was reverted since the follower was at its head. */
  #isBack = false;

  constructor(data: string, random: Random) {
    this.#data = data;
    this.#random = random;
  }

  async start(): Promise<void> {
    const mining = { kind: 'manual' } as const;
    this.#net = await startLocalnet({ data: this.#data, accounts: 2, mining });
    this.#client = new Client(this.#net);
  }

  readonly operations: Readonly<Record<string, () => Promise<void>>> = {
    submit: async () => this.#submit(this.#random.pick(this.#net.accounts)),
    impersonate: async () => {
      const key = this.#net.accounts[0]!.key;
      await this.#net.impersonate(KEYLESS);
      await this.#submit({ address: KEYLESS, key });
      await this.#net.stopImpersonating();
    },
    mine: async () => {
      await this.#net.mine(this.#random.below(3) + 1);
      this.#model.mine();
    },
    edit: async () => {
      const [sink, octas] = [this.#random.pick(SINKS), BigInt(this.#random.below(1_000))];
      await this.#net.setBalance(sink, octas);
      this.#model.balances.set(sink, octas);
    },
    time: async () => {
      await this.#net.moveTime(BigInt(this.#random.below(2)) * 7_200_000_000n + 1_000n);
    },
    drop: async () => {
      expect(await this.#net.drop()).toBe(this.#model.waiting.length);
      this.#model.waiting = [];
    },
    snapshot: async () => {
      const id = await this.#net.snapshot();
      this.#snapshots.push({ id, model: new Model(this.#model) });
    },
    revert: async () => {
      if (this.#snapshots.length === 0) return;
      const at = this.#random.below(this.#snapshots.length);
      const { id, model } = this.#snapshots[at]!;
      await this.#net.revert(id);
      this.#isBack = true;
      this.#snapshots.length = at;
      this.#model = model;
    },
    dump: async () => {
      this.#dump = { bytes: await this.#net.dump(), model: new Model(this.#model) };
    },
    load: async () => {
      if (this.#dump === undefined) return;
      await this.#net.load(this.#dump.bytes);
      this.#isBack = true;
      this.#model = new Model(this.#dump.model);
      this.#model.waiting = [];
      this.#snapshots = [];
    },
    reset: async () => {
      await this.#net.reset();
      this.#isBack = true;
      this.#model = new Model();
      this.#snapshots = [];
      await this.#net.setBalance(KEYLESS, RICH_OCTAS);
    },
    restart: async () => {
      await this.#net.stop();
      await this.start();
      this.#model.waiting = [];
      this.#snapshots = [];
    },
  };

  async prepare(): Promise<void> {
    await this.start();
    await this.#net.setBalance(KEYLESS, RICH_OCTAS);
  }

  async compare(): Promise<void> {
    const senders = [...this.#net.accounts.map(({ address }) => address), KEYLESS];
    const [balances, numbers, waiting] = await Promise.all([
      Promise.all(SINKS.map((sink) => this.#client.balance(sink))),
      Promise.all(senders.map((sender) => this.#client.get(`/accounts/${sender}`))),
      this.#net.pending(),
    ]);
    expect(balances).toEqual(SINKS.map((sink) => this.#model.balances.get(sink) ?? 0n));
    expect(numbers.map(({ body }) => body['sequence_number'])).toEqual(
      senders.map((sender) => String(this.#model.numbers.get(sender) ?? 0n)),
    );
    expect(waiting).toHaveLength(this.#model.waiting.length);
  }

  /** @returns whether the follower was told that its ledger has another history */
  async follow(): Promise<boolean> {
    const isOther = !(await this.#hasSameHistory());
    // After a revert the histories may still agree: two edits with nothing in between are the same when they are
    // repeated.
    if (!this.#isBack) expect(isOther).toBe(false);
    const url = this.#net.url.replace(/\/v1$/, '');
    if (isOther) {
      const { follower } = await followerOf(url, this.#copy);
      expect((await followError(follower.run(NEVER))).code).toBe('history_contradicts');
      this.#copy = new MemoryStore();
    }
    const { follower, told } = await followerOf(url, this.#copy, { until: this.#net.version });
    await follower.run(NEVER);
    expect(told.troubles).toEqual([]);
    // A network with fewer versions may still get different ones.
    this.#isBack = (await openHead(this.#copy)).version > this.#net.version;
    return isOther;
  }

  /** Compares the newest version that both the follower and the network have. */
  async #hasSameHistory(): Promise<boolean> {
    const head = await readHead(this.#copy);
    if (head === undefined) return true;
    const { version } = this.#net;
    let newest = head.version;
    if (version < newest) newest = version;
    const [item] = await (await openView(this.#copy)).transactions(newest, 1);
    const { data } = readOnChainData(new BcsReader(item!));
    const { body } = await this.#client.get(`/transactions/by_version/${newest}`);
    return body['accumulator_root_hash'] === formatHex(data.accumulatorRootHash);
  }

  async end(): Promise<void> {
    await proveLedger(this.#net, this.#data);
    await this.#net.stop();
  }

  async #submit(from: LocalAccount): Promise<void> {
    const sender = from.address;
    const [sink, octas] = [this.#random.pick(SINKS), BigInt(this.#random.below(1_000))];
    const sequenceNumber = this.#model.nextNumber(sender);
    const signed = transfer(from, { sequenceNumber, to: sink, octas, expiration: EXPIRATION_SECS });
    const { status, body } = await this.#client.submit(signed);
    expect({ status, body }).toMatchObject({ status: 202 });
    this.#model.waiting.push({ sender, sink, octas });
  }
}

/** Operations and their frequencies. Those that create a branch cost most. */
const SHARES: Readonly<Record<string, number>> = {
  ...{ submit: 8, mine: 6, edit: 4, impersonate: 2, time: 2, drop: 1, snapshot: 2, dump: 1 },
  ...{ revert: 2, load: 1, reset: 1, restart: 1 },
};
const DRAWN = Object.entries(SHARES).flatMap(([name, share]) => Array<string>(share).fill(name));

it(`a local network and a model agree (${SEQUENCES} sequences)`, {
  timeout: 60_000 + SEQUENCES * SEQUENCE_TIMEOUT_MS,
}, async () => {
  const seed = testSeed('local network');
  let times = 0;
  for (let at = 0; at < SEQUENCES; at += LEDGER_SEQUENCES) {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-model-'));
    const random = new Random(seed + at);
    const run = new Run(join(folder, 'ledger'), random);
    const done: string[] = [];
    await run.prepare();
    try {
      for (let nth = at; nth < Math.min(at + LEDGER_SEQUENCES, SEQUENCES); nth += 1) {
        for (let drawn = 0; drawn < OPERATIONS; drawn += 1) {
          const name = random.pick(DRAWN);
          done.push(name);
          await run.operations[name]!();
          await run.compare();
        }
        done.push('follow');
        if (await run.follow()) times += 1;
      }
      await run.end();
    } catch (cause) {
      throw new Error(`SEED=${seed}, sequences from ${at}, after ${done.join(', ')}`, { cause });
    }
    rmSync(folder, { recursive: true });
  }
  console.log(`SEED=${seed}: ${SEQUENCES} sequences, the follower was told ${times} times`);
});
