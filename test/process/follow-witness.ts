/**
 * Asks a node that follows and its upstream the same, at pinned versions: they may differ in how far
 * they are and in what is pruned, in nothing else. Whatever the follower answers says by its headers
 * which version it had, so that it is known exactly what had to be in the answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Address } from '../../src/move/types/address.ts';
import { BEEF_HEX, CAFE_HEX } from '../../src/sample/publishers.ts';
import { IS_LONG } from '../random.ts';
import type { ServedNode } from './command.ts';
import type { Stream } from './ledger-contents.ts';

const ASSETS = ['0x1::aptos_coin::AptosCoin', '0xa'];
/** Versions before the newest one that is asked about: more than are retained. */
const ASKED_BACK = 600;
const MOST_EVENTS = 30;
/** Between two questions, so that the processors are there for the nodes, and in short runs for other tests. */
const PAUSE_MS = IS_LONG ? 2 : 30;
/** After a refusal, which says that it is for a second. */
const REFUSED_PAUSE_MS = 100;

/** A transaction to encode; its module is in every sample ledger. */
export const SUBMISSION = JSON.stringify({
  sender: BEEF_HEX,
  sequence_number: '7',
  max_gas_amount: '2000',
  gas_unit_price: '100',
  expiration_timestamp_secs: '1893456000',
  payload: {
    type: 'entry_function_payload',
    function: '0x1::aptos_account::transfer',
    type_arguments: [],
    arguments: [CAFE_HEX, '1000000'],
  },
});

interface Answer {
  readonly status: number;
  readonly body: string;
  /** Newest version of the reading that answered. */
  readonly version: bigint;
  /** Oldest version of the reading that answered. */
  readonly oldest: bigint;
}

interface EventRecord {
  readonly version: string;
  readonly sequence_number: string;
}

/** What is asked about. */
export interface WitnessSubjects {
  readonly addresses: readonly Address[];
  readonly streams: readonly Stream[];
  /** The account whose history is never pruned. */
  readonly kept: Address;
}

/** For how long a node is asked: `over` ends it, `killed` says that it may fail. */
export interface Life {
  over: boolean;
  killed: boolean;
}

/** One who remembers what was acknowledged. */
export class FollowWitness {
  /** The highest version that anybody has answered with. */
  seen = 0n;
  readonly answers = { balance: 0, module: 0, events: 0, encode: 0, kept: 0, gone: 0 };
  /** Answers 503 with Retry-After, after which the same was asked again. */
  refusals = 0;
  /** The longest that nobody had an answer from one node, in milliseconds, refusals included. */
  longestGapMs = 0;
  readonly #upstream: ServedNode;
  readonly #subjects: WitnessSubjects;
  readonly #random: () => number;
  readonly #mayRefuse: boolean;
  readonly #answeredMs = new Map<ServedNode, number>();

  /** @param mayRefuse whether nodes may refuse; they are asked for the newest version seen then, as clients do */
  constructor(
    upstream: ServedNode,
    subjects: WitnessSubjects,
    random: () => number,
    mayRefuse = false,
  ) {
    this.#upstream = upstream;
    this.#subjects = subjects;
    this.#random = random;
    this.#mayRefuse = mayRefuse;
  }

  /** The time since the last answer of a node is no gap. */
  excuse(node: ServedNode): void {
    this.#answeredMs.delete(node);
  }

  /** Asks a node again and again until its life is over. */
  async watch(node: ServedNode, life: Life): Promise<void> {
    while (!life.over) {
      try {
        await this.ask(node);
      } catch (error) {
        // A connection that breaks is what a killed node leaves; a wrong answer it never may.
        if (life.killed && error instanceof TypeError) return;
        throw error;
      }
      await sleep(PAUSE_MS);
    }
  }

  /** One question of each of the four operations, and one about the pinned account. */
  async ask(node: ServedNode): Promise<void> {
    await this.#askState(node, 'balance', this.#balancePath(this.#pick(this.#subjects.addresses)));
    await this.#askState(node, 'module', '/accounts/0x1/module/coin');
    await this.#askKept(node);
    const stream = this.#pick(this.#subjects.streams);
    await this.#askEvents(node, stream);
    await this.#askNewestEvents(node, stream);
    const answer = await this.#get(node, '/transactions/encode_submission', SUBMISSION);
    const due = await this.#get(this.#upstream, '/transactions/encode_submission', SUBMISSION);
    expect([answer.status, answer.body]).toEqual([200, due.body]);
    this.answers.encode += 1;
  }

  /** State at a version: the upstream's answer, or 410 exactly below the oldest version. */
  async #askState(node: ServedNode, kind: 'balance' | 'module', path: string): Promise<void> {
    const version = this.#recentVersion();
    const asked = `${path}?ledger_version=${version}`;
    const { status, body, oldest } = await this.#get(node, asked);
    this.answers[kind] += 1;
    if (version < oldest) {
      expect(status, asked).toBe(410);
      this.answers.gone += 1;
      return;
    }
    const due = await this.#get(this.#upstream, asked);
    expect([status, body], asked).toEqual([due.status, due.body]);
  }

  /** Questions about the pinned account are answered at every version. */
  async #askKept(node: ServedNode): Promise<void> {
    const version = BigInt(Math.floor(this.#random() * Number(this.seen)));
    const asked = `${this.#balancePath(this.#subjects.kept)}?ledger_version=${version}`;
    const { status, body } = await this.#get(node, asked);
    this.answers.kept += 1;
    const due = await this.#get(this.#upstream, asked);
    expect([status, body], asked).toEqual([due.status, due.body]);
  }

  /** A page has every event from `start` on that its reading's version had, once, in order. */
  async #askEvents(node: ServedNode, { path, versions }: Stream): Promise<void> {
    const start = Math.floor(this.#random() * versions.length * 2);
    const limit = 1 + Math.floor(this.#random() * MOST_EVENTS);
    const asked = `${path}?start=${start}&limit=${limit}`;
    const { status, body, version, oldest } = await this.#get(node, asked);
    this.answers.events += 1;
    const due = JSON.parse((await this.#get(this.#upstream, asked)).body) as EventRecord[];
    if (status === 410) {
      expect(BigInt(due[0]!.version), asked).toBeLessThan(oldest);
      this.answers.gone += 1;
      return;
    }
    expect(status, asked).toBe(200);
    const page = JSON.parse(body) as EventRecord[];
    expect(page, asked).toEqual(due.filter((event) => BigInt(event.version) <= version));
  }

  /** The newest page ends with the newest event that its reading's version had. */
  async #askNewestEvents(node: ServedNode, { path }: Stream): Promise<void> {
    const asked = `${path}?limit=5`;
    const { status, body, version } = await this.#get(node, asked);
    expect(status, asked).toBe(200);
    const page = JSON.parse(body) as EventRecord[];
    if (page.length === 0) return;
    const from = page[0]!.sequence_number;
    const after = `${path}?start=${from}&limit=${page.length + 1}`;
    const due = JSON.parse((await this.#get(this.#upstream, after)).body) as EventRecord[];
    expect(page, asked).toEqual(due.filter((event) => BigInt(event.version) <= version));
  }

  #balancePath(address: Address): string {
    return `/accounts/0x${address}/balance/${this.#pick(ASSETS)}`;
  }

  #recentVersion(): bigint {
    const back = BigInt(Math.floor(this.#random() * ASKED_BACK));
    return this.seen > back ? this.seen - back : 0n;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  /** Asks, and holds the version against the highest that was seen before the question. */
  async #get(node: ServedNode, path: string, submission?: string): Promise<Answer> {
    const isUpstream = node === this.#upstream;
    const before = this.seen;
    let response = await this.#send(node, path, before, submission);
    while (this.#mayRefuse && !isUpstream && response.status === 503) {
      expect(
        response.headers.get('retry-after'),
        `${path}: ${await response.text()}`,
      ).not.toBeNull();
      this.refusals += 1;
      await sleep(REFUSED_PAUSE_MS);
      response = await this.#send(node, path, before, submission);
    }
    const body = await response.text();
    const header = (name: string) => BigInt(response.headers.get(`x-node-ledger-${name}`) ?? -1);
    const [version, oldest] = [header('version'), header('oldest-version')];
    if (!isUpstream) {
      expect(version, `${path}: the ledger went back, or ${body}`).toBeGreaterThanOrEqual(before);
      if (version > this.seen) this.seen = version;
      const nowMs = performance.now();
      const gapMs = nowMs - (this.#answeredMs.get(node) ?? nowMs);
      this.longestGapMs = Math.max(this.longestGapMs, gapMs);
      this.#answeredMs.set(node, nowMs);
    }
    return { status: response.status, body, version, oldest };
  }

  #send(node: ServedNode, path: string, seen: bigint, submission?: string): Promise<Response> {
    const headers: Record<string, string> = {};
    if (this.#mayRefuse && node !== this.#upstream) {
      headers['x-node-min-ledger-version'] = String(seen);
    }
    if (submission === undefined) return node.get(path, headers);
    headers['content-type'] = 'application/json';
    return fetch(node.ready.url + path, { method: 'POST', headers, body: submission });
  }
}
