/**
 * Random sequences of what clients and tests do to a local network. A model that only adds says what sinks have and which
 * numbers senders are at; afterwards the ledger is followed, and all of it is executed again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { padAddress } from '../../src/move/types/address.ts';
import type { LocalAccount } from '../../src/node/localnet/branch.ts';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { Client, proveLedger, transfer } from './localnet-client.ts';

const OPERATIONS = 40;
const SINKS = ['5111', '5222', '5333'].map(padAddress);
/** Nobody has its key. */
const KEYLESS = padAddress('4e1e55');
const RICH_OCTAS = 10n ** 15n;
/** No move of the clock comes so far. */
const EXPIRATION_SECS = 20_000_000_000n;

interface Waiting {
  readonly sender: string;
  readonly sink: string;
  readonly octas: bigint;
}

class Model {
  readonly balances: Map<string, bigint>;
  /** Of the next transaction that is committed. */
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

/** A network, what the model says of it, and ways back. */
class Run {
  readonly #data: string;
  readonly #random: Random;
  #net!: Localnet;
  #client!: Client;
  #model = new Model();
  #snapshots: { readonly id: number; readonly model: Model }[] = [];
  #dump: { readonly bytes: Buffer; readonly model: Model } | undefined;

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
    submitMore: async () => this.#submit(this.#random.pick(this.#net.accounts)),
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
      this.#snapshots.length = at;
      this.#model = model;
    },
    dump: async () => {
      this.#dump = { bytes: await this.#net.dump(), model: new Model(this.#model) };
    },
    load: async () => {
      if (this.#dump === undefined) return;
      await this.#net.load(this.#dump.bytes);
      this.#model = new Model(this.#dump.model);
      this.#model.waiting = [];
      this.#snapshots = [];
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
    for (const sink of SINKS) {
      expect(await this.#client.balance(sink)).toBe(this.#model.balances.get(sink) ?? 0n);
    }
    for (const sender of [...this.#net.accounts.map(({ address }) => address), KEYLESS]) {
      const { body } = await this.#client.get(`/accounts/${sender}`);
      expect(body['sequence_number']).toBe(String(this.#model.numbers.get(sender) ?? 0n));
    }
    expect(await this.#net.pending()).toHaveLength(this.#model.waiting.length);
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

it.each(Array.from({ length: roundsOf('LOCALNET_SEQUENCES', 1, 100) }, (_, round) => round))(
  'a local network and a model agree (sequence %i)',
  async (round) => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-model-'));
    const random = new Random(testSeed() + round);
    const run = new Run(join(folder, 'ledger'), random);
    const names = Object.keys(run.operations);
    const done: string[] = [];
    await run.prepare();
    try {
      for (let at = 0; at < OPERATIONS; at += 1) {
        const name = random.pick(names);
        done.push(name);
        await run.operations[name]!();
        await run.compare();
      }
    } catch (cause) {
      throw new Error(`after ${done.join(', ')}`, { cause });
    }
    await run.end();
    rmSync(folder, { recursive: true });
  },
  120_000,
);
