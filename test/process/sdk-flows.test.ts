/**
 * Official SDKs, unchanged, in their complete flow with one URL: a node that follows a local network, and passes on to
 * it what only that network can do. Build with defaults, simulate, sign, submit, wait, then read the transaction,
 * balances and events.
 *
 * The TypeScript SDK 6 is a development dependency. The others are used if they are installed: `.ci/run` installs them.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatHex } from '../../src/move/bcs/hex.ts';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { ROOT } from '../repo/source-tree.ts';
import { endOf, killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { until } from './worker-processes.ts';

/** The results of a flow. */
interface Seen {
  readonly sender: string;
  readonly gasUnitPrice: string;
  readonly simulated: readonly [success: boolean, gasUsed: string];
  readonly hash: string;
  readonly waited: readonly [type: string, success: boolean, hash: string];
  readonly isReadAgain: boolean;
  readonly senderBalance: string;
  readonly receiverBalance: string;
  readonly viewed: string;
  readonly events: readonly string[];
  /** Height of the block, from the event that 0x1 emits for it. */
  readonly blockHeight: string;
  readonly sequenceNumber: string;
  readonly lastSent: string;
}

interface Sdk {
  readonly name: string;
  /** The command of its flow; undefined if the SDK is not installed. */
  readonly command: readonly string[] | undefined;
}

const folder = fileURLToPath(new URL('sdk-flows/', import.meta.url));
/** A path of `.ci/install-sdks`, or undefined. */
const installed = (what: string): string | undefined => process.env[`TEST_SDK_${what}`];

/** A command, or undefined if a part of it is not installed. */
function command(...parts: readonly (string | undefined)[]): readonly string[] | undefined {
  return parts.every((part) => part !== undefined) ? (parts as readonly string[]) : undefined;
}

const SDKS: readonly Sdk[] = [
  {
    name: 'TypeScript 6',
    command: command(process.execPath, join(folder, 'typescript.mjs'), ROOT),
  },
  {
    name: 'TypeScript 7',
    command: command(
      installed('NODE_22'),
      join(folder, 'typescript.mjs'),
      installed('TYPESCRIPT_SDK_7'),
    ),
  },
  {
    name: 'Python',
    command: command(installed('PYTHON'), join(folder, 'flow.py')),
  },
  { name: 'Go', command: command(installed('GO_FLOW')) },
];

/** The transaction of a flow, from the local network. */
interface Committed {
  readonly version: string;
  readonly hash: string;
  readonly gas_used: string;
}

const COIN = '0x1::aptos_coin::AptosCoin';
const AMOUNT = 1_234_567n;
/** The chain's minimum, and also its estimate. */
const GAS_PRICE = 100n;

describe('the whole flow of an SDK against a node with an upstream', () => {
  let net: Localnet;
  let node: ServedNode;

  beforeAll(async () => {
    // Submitted transactions are pending for a while.
    const mining = { kind: 'interval', intervalMs: 500 } as const;
    net = await startLocalnet({ accounts: 2 * SDKS.length, mining });
    const args = ['--follow', net.url, '--header-prefix', 'X-Aptos', '--log-level', 'debug'];
    node = await ServedNode.start(join(temporaryFolder(), 'copy'), args);
    await until('the accounts are followed', async () => {
      const { address } = net.accounts.at(-1)!;
      return Number(await (await node.get(`/accounts/0x${address}/balance/${COIN}`)).text()) > 0;
    });
  });
  afterAll(async () => {
    expect((await node.stop()).code).toBe(0);
    expect(node.complaints).toEqual([]);
    await net.stop();
    killLeftNodes();
  });

  /** The local network's own response. */
  async function told<T>(path: string): Promise<T> {
    return (await (await fetch(net.url + path)).json()) as T;
  }
  const balance = async (address: string) =>
    BigInt(await told<number>(`/accounts/${address}/balance/${COIN}`));

  /** Operations that the node has passed on to the local network, except for requests by hash. */
  const executed = () =>
    node.log
      .filter(({ msg }) => msg === 'the upstream answered')
      .map(({ operation }) => operation)
      .filter((operation) => !String(operation).includes('by_hash'));

  SDKS.forEach(({ name, command: parts }, nth) => {
    const title = parts === undefined ? `${name} (skipped: not installed)` : name;
    it.skipIf(parts === undefined)(title, { timeout: 120_000 }, async () => {
      const [sender, receiver] = [net.accounts[2 * nth]!, net.accounts[2 * nth + 1]!];
      const [from, to] = [`0x${sender.address}`, `0x${receiver.address}`];
      const before = [await balance(from), await balance(to)] as const;
      const executedBefore = executed().length;
      const [program, ...args] = parts!;
      const texts = [node.ready.url, formatHex(sender.key.privateKey), to, String(AMOUNT)];
      const result = await endOf(spawn(program!, [...args, ...texts]));
      expect(result).toMatchObject({ code: 0 });
      const seen = JSON.parse(result.stdout.trimEnd().split('\n').at(-1)!) as Seen;
      const committed = await told<Committed>(`/transactions/by_hash/${seen.hash}`);
      const { block_height: blockHeight } = await told<{ block_height: string }>(
        `/blocks/by_version/${committed.version}`,
      );
      const receiverBalance = String(before[1] + AMOUNT);
      expect(seen).toEqual({
        sender: from,
        gasUnitPrice: String(GAS_PRICE),
        simulated: [true, committed.gas_used],
        hash: committed.hash,
        waited: ['user_transaction', true, committed.hash],
        isReadAgain: true,
        senderBalance: String(before[0] - AMOUNT - BigInt(committed.gas_used) * GAS_PRICE),
        receiverBalance,
        viewed: receiverBalance,
        events: [
          '0x1::fungible_asset::Withdraw',
          '0x1::fungible_asset::Deposit',
          '0x1::transaction_fee::FeeStatement',
        ],
        blockHeight,
        sequenceNumber: '1',
        lastSent: committed.hash,
      } satisfies Seen);
      expect(await balance(to)).toBe(before[1] + AMOUNT);
      const passedOn = executed().slice(executedBefore);
      expect(new Set(passedOn)).toEqual(new Set(['simulate_transaction', 'submit_transaction']));
    });
  });
});
