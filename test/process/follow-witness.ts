/**
 * Sends the same requests to a following node and its upstream, at pinned versions: they may only differ in their
 * newest version and in what is pruned. The headers of every response give the follower's version, so that the expected
 * contents are known exactly.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Address } from '../../src/move/types/address.ts';
import { BEEF_HEX, CAFE_HEX } from '../../src/sample/publishers.ts';
import { IS_LONG } from '../random.ts';
import type { ServedNode } from './command.ts';
import type { Stream } from './ledger-contents.ts';

const ASSETS = ['0x1::aptos_coin::AptosCoin', '0xa'];
/** How far below the newest version requests reach: further than versions are retained. */
const ASKED_BACK = 600;
const MOST_EVENTS = 30;
/** Pause between two requests, which leaves the processors to the nodes, and in short runs to other tests. */
const PAUSE_MS = IS_LONG ? 2 : 30;
/** Pause after a refusal, which asks for a second. */
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
  /** Newest version of the read's view. */
  readonly version: bigint;
  /** Oldest version of the read's view. */
  readonly oldest: bigint;
}

interface EventRecord {
  readonly version: string;
  readonly sequence_number: string;
}

/** The subjects of requests. */
export interface WitnessSubjects {
  readonly addresses: readonly Address[];
  readonly streams: readonly Stream[];
  /** The account whose history is never pruned. */
  readonly kept: Address;
}

/** How long a node is sent requests: `over` ends it, and `killed` says that requests may fail. */
export interface Life {
  over: boolean;
  killed: boolean;
}

/** A client that remembers what was acknowledged. */
export class FollowWitness {
  /** The highest version in any response. */
  seen = 0n;
  readonly answers = { balance: 0, module: 0, events: 0, encode: 0, kept: 0, gone: 0 };
  /** Number of 503 responses with Retry-After, after which the request was sent again. */
  refusals = 0;
  /** Longest time without a response from one node, in milliseconds; refusals count as none. */
  longestGapMs = 0;
  readonly #upstream: ServedNode;
  readonly #subjects: WitnessSubjects;
  readonly #random: () => number;
  readonly #mayRefuse: boolean;
  readonly #answeredMs = new Map<ServedNode, number>();

  /** @param mayRefuse whether nodes may refuse requests; these then ask for the newest version seen, as clients do */
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

  /** Does not count the time since the node's last response as a gap. */
  excuse(node: ServedNode): void {
    this.#answeredMs.delete(node);
  }

  /** Sends requests to a node until its life is over. */
  async watch(node: ServedNode, life: Life): Promise<void> {
    while (!life.over) {
      try {
        await this.ask(node);
      } catch (error) {
        // A killed node may break connections, but never give a wrong response.
        if (life.killed && error instanceof TypeError) return;
        throw error;
      }
      await sleep(PAUSE_MS);
    }
  }

  /** One request of each of the four operations, and one for the pinned account. */
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

  /** State at a version: the upstream's response, or 410 exactly below the oldest version. */
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

  /** Reads of the pinned account succeed at every version. */
  async #askKept(node: ServedNode): Promise<void> {
    const version = BigInt(Math.floor(this.#random() * Number(this.seen)));
    const asked = `${this.#balancePath(this.#subjects.kept)}?ledger_version=${version}`;
    const { status, body } = await this.#get(node, asked);
    this.answers.kept += 1;
    const due = await this.#get(this.#upstream, asked);
    expect([status, body], asked).toEqual([due.status, due.body]);
  }

  /** A page has every event from `start` on that exists at its view's version, once, in order. */
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

  /** The newest page ends with the newest event at its view's version. */
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

  /** Sends a request, and compares the version with the highest one seen before it. */
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
