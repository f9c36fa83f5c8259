/**
 * A local network on top of a recorded chain of the reference: the transactions that came next there have the same
 * results here. Everything is read from a node that serves the chain, and recorded.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeBcs } from '../../src/move/bcs/bcs-reader.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { type EmbeddedNode, startEmbeddedNode } from '../../src/node/serve/embedded.ts';
import { IS_LONG, randomSource, testSeed } from '../random.ts';
import {
  NEWEST_VERSION,
  referenceTransaction,
  storeReferenceChain,
} from '../reference/reference-chain.ts';

const TRANSACTIONS = IS_LONG ? 200 : 20;
/**
 * Maximum number of blocks with a transaction whose gas differs: signatures are paid for here, but not there
 * (docs/spec/gas.md §5).
 */
const MAX_DEARER = 12;

const items = Array.from({ length: NEWEST_VERSION + 1 }, (_, version) =>
  decodeBcs(referenceTransaction(version), readOnChainData),
);
const beginsBlock = (version: number): boolean =>
  items[version]?.data.transaction.kind.startsWith('blockMetadata') ?? true;

/** First versions of blocks with user transactions. */
const blocks = items.flatMap((_, version) =>
  beginsBlock(version) && items[version + 1]?.data.transaction.kind === 'user' ? [version] : [],
);

interface Answered {
  readonly type: string;
  readonly gas_used: string;
  readonly vm_status: string;
  readonly state_change_hash: string;
  readonly events: readonly { readonly type: string; readonly data: Record<string, unknown> }[];
}

/** Events without the components of the fee, which include the signatures' bytes here. */
function shownEvents({ events }: Answered) {
  return events.map(({ type, data, ...event }) => {
    if (!type.endsWith('::FeeStatement')) return { type, data, ...event };
    const { execution_gas_units: _, io_gas_units: __, ...rest } = data;
    return { type, data: rest, ...event };
  });
}

describe('a local network on top of a recorded chain', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-forked-'));
  let upstream: EmbeddedNode;

  beforeAll(async () => {
    const data = join(folder, 'reference');
    await storeReferenceChain(data);
    upstream = await startEmbeddedNode({ data, settings: { headerPrefix: 'X-Aptos' } });
  });

  afterAll(async () => {
    await upstream.stop();
    rmSync(folder, { recursive: true });
  });

  /** Runs a block's user transactions on a fork before the block. @returns their results, by version */
  async function rerun(first: number, name = `fork-${first}`, offline = false) {
    const settings = { offline };
    const net = await startLocalnet({
      ...{ data: join(folder, name), accounts: 0, mining: { kind: 'manual' }, settings },
      ...(!offline && { fork: `${upstream.url}@${first - 1}` }),
    });
    const { transaction: begin } = items[first]!.data;
    const metadata = begin.kind === 'blockMetadata' ? begin.metadata : undefined;
    net.chain.setNextTime(metadata!.timestampUsecs);
    const hashes = new Map<number, Buffer>();
    for (let at = first + 1; items[at]!.data.transaction.kind === 'user'; at += 1) {
      const { hash } = await net.chain.submit(items[at]!.bytes.transaction.subarray(1));
      hashes.set(at, hash);
    }
    await net.chain.mine();
    const found = new Map<number, Answered>();
    for (const [version, hash] of hashes) {
      const answer = await fetch(`${net.url}/transactions/by_hash/0x${hash.toString('hex')}`);
      found.set(version, (await answer.json()) as Answered);
    }
    const before = await fetch(`${net.url}/transactions/by_version/${first - 1}`);
    const own = await fetch(`${upstream.url}/transactions/by_version/${first - 1}`);
    expect(await before.text()).toBe(await own.text());
    await net.stop();
    return found;
  }

  it(`has the outcomes of the chain for ${TRANSACTIONS} transactions, and none of its own`, async () => {
    const random = randomSource(testSeed());
    const left = blocks.filter((at) => items[at]!.data.transaction.kind === 'blockMetadata');
    let compared = 0;
    let dearer = 0;
    while (compared < TRANSACTIONS && left.length > 0) {
      const [first] = left.splice(Math.floor(random() * left.length), 1) as [number];
      const found = await rerun(first);
      for (const [version, answer] of found) {
        const recorded = await fetch(`${upstream.url}/transactions/by_version/${version}`);
        const theirs = (await recorded.json()) as Answered;
        if (BigInt(answer.gas_used) === BigInt(theirs.gas_used) + 1n) {
          // The later transactions of the block have other balances.
          dearer += 1;
          break;
        }
        const { type, vm_status, gas_used, state_change_hash } = theirs;
        expect(answer).toMatchObject({
          ...{ version: String(version), type, vm_status, gas_used, state_change_hash },
        });
        expect(shownEvents(answer)).toEqual(shownEvents(theirs));
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThanOrEqual(TRANSACTIONS);
    expect(dearer).toBeLessThanOrEqual(MAX_DEARER);
  }, 900_000);

  it('needs no network for what it has read', async () => {
    const first = blocks.find((at) => items[at]!.data.transaction.kind === 'blockMetadata')!;
    const once = await rerun(first, 'once');
    rmSync(join(folder, 'once', 'chain'), { recursive: true });
    expect([...(await rerun(first, 'once', true)).values()]).toEqual([...once.values()]);
  });
});
