/** Requests of tests to local networks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { signedCall } from '../../src/chain/signed-call.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { ADDRESS_ONE, padAddress } from '../../src/move/types/address.ts';
import type { LocalAccount } from '../../src/node/localnet/branch.ts';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { type LocalnetOptions, startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { openStoreReader, openStoreWriter } from '../../src/node/open-store.ts';
import { openHead } from '../../src/store/columns/head.ts';
import { openView } from '../../src/store/read/view.ts';
import { Replay } from '../../src/verify/execution/replay.ts';
import { compareRoots } from '../../src/verify/execution/state-roots.ts';
import { followerOf, NEVER } from '../ingest/feed-following.ts';

const SIGNED = 'application/x.aptos.signed_transaction+bcs';
const COIN = '0x1::aptos_coin::AptosCoin';

export interface TransferFacts {
  readonly sequenceNumber: bigint;
  readonly octas?: bigint;
  readonly to?: string;
  readonly chainId?: number;
  readonly price?: bigint;
  readonly maxGas?: bigint;
  readonly expiration?: bigint;
}

export const nowSecs = () => BigInt(Math.floor(Date.now() / 1_000));

export function transfer(from: LocalAccount, facts: TransferFacts): Buffer {
  const { sequenceNumber, octas = 1_000n, to = padAddress('beef'), chainId = 4 } = facts;
  return signedCall({
    ...{ sender: from.address, key: from.key, chainId, replay: { sequenceNumber } },
    ...{ maxGasAmount: facts.maxGas ?? 200_000n, gasUnitPrice: facts.price ?? 100n },
    expirationTimestampSecs: facts.expiration ?? nowSecs() + 60n,
    call: {
      kind: 'entryFunction',
      module: { address: ADDRESS_ONE, name: 'aptos_account' },
      function: 'transfer',
      typeArguments: [],
      args: [encodeBcs((writer) => writer.address(to)), encodeBcs((writer) => writer.u64(octas))],
    },
  });
}

/** A client of a local network, or of a node that continues its ledger. */
export class Client {
  readonly #node: { readonly url: string };

  constructor(node: { readonly url: string }) {
    this.#node = node;
  }

  async post(path: string, body: Buffer | string, headers: Record<string, string> = {}) {
    const contentType = typeof body === 'string' ? 'application/json' : SIGNED;
    const response = await fetch(`${this.#node.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': contentType, ...headers },
      body,
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, bytes, body: isJson ? JSON.parse(String(bytes)) : undefined };
  }

  submit(signed: Buffer) {
    return this.post('/transactions', signed);
  }

  async get(path: string) {
    const response = await fetch(`${this.#node.url}${path}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  wait(hash: string) {
    return this.get(`/transactions/wait_by_hash/${hash}`);
  }

  async balance(account: string): Promise<bigint> {
    const response = await fetch(`${this.#node.url}/accounts/${account}/balance/${COIN}`);
    return BigInt(await response.text());
  }
}

export async function withNet(
  options: LocalnetOptions,
  work: (client: Client, net: Localnet) => Promise<void>,
): Promise<void> {
  const net = await startLocalnet(options);
  try {
    await work(new Client(net), net);
  } finally {
    await net.stop();
  }
}

/**
 * Proves a ledger in three ways: another node follows and verifies it, each transaction is executed again, and the
 * state roots are recomputed. @returns the number of roots
 */
export async function proveLedger(net: Localnet, data: string): Promise<number> {
  const until = net.chain.version;
  const folder = mkdtempSync(join(tmpdir(), 'daybook-follower-'));
  const store = await openStoreWriter(folder);
  const reader = await openStoreReader(data);
  try {
    const { follower, told } = await followerOf(net.url.replace(/\/v1$/, ''), store, { until });
    await follower.run(NEVER);
    expect(told.troubles).toEqual([]);
    expect((await openHead(store)).version).toBe(until);
    const replay = await Replay.open(reader, await openHead(reader));
    for (let version = 0n; version <= until; version += 1n) {
      expect(await replay.run(version)).toBeUndefined();
    }
    let roots = 0;
    for await (const part of compareRoots(reader, await openView(reader), 0n)) {
      expect(part.difference).toBeUndefined();
      roots += part.compared;
    }
    return roots;
  } finally {
    await Promise.all([store.close(), reader.close()]);
    rmSync(folder, { recursive: true });
  }
}
