/**
 * Official SDKs, unchanged, in their whole flow against one URL: a node that follows another, and passes on to it what
 * only that one can do. Build with defaults, simulate, sign, submit, wait, then read the transaction, balances and
 * events.
 *
 * The TypeScript SDK 6 is a development dependency. The others are used where they are: `.ci/run` installs them.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../repo/source-tree.ts';
import { ChainStandIn, GAS_USED } from './chain-stand-in.ts';
import { endOf, killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { until } from './worker-processes.ts';

/** What a flow has seen. */
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
  readonly lastDeposit: string;
  readonly sequenceNumber: string;
  readonly lastSent: string;
}

interface Sdk {
  readonly name: string;
  /** The command of its flow; undefined where the SDK is not installed. */
  readonly command: readonly string[] | undefined;
  /** Operations that its flow has the upstream execute. */
  readonly executed: readonly string[];
}

const folder = fileURLToPath(new URL('sdk-flows/', import.meta.url));
/** What `.ci/install-sdks` has installed: a path, or nothing. */
const installed = (what: string): string | undefined => process.env[`TEST_SDK_${what}`];

const SUBMIT = 'POST /v1/transactions';
const SIMULATE = 'POST /v1/transactions/simulate';

/** A command, or undefined if a part of it is not installed. */
function command(...parts: readonly (string | undefined)[]): readonly string[] | undefined {
  return parts.every((part) => part !== undefined) ? (parts as readonly string[]) : undefined;
}

const SDKS: readonly Sdk[] = [
  {
    name: 'TypeScript 6',
    command: command(process.execPath, join(folder, 'typescript.mjs'), ROOT),
    executed: [SIMULATE, SUBMIT],
  },
  {
    name: 'TypeScript 7',
    command: command(
      installed('NODE_22'),
      join(folder, 'typescript.mjs'),
      installed('TYPESCRIPT_SDK_7'),
    ),
    executed: [SIMULATE, SUBMIT],
  },
  {
    name: 'Python',
    command: command(installed('PYTHON'), join(folder, 'flow.py')),
    executed: [SIMULATE, SUBMIT],
  },
  { name: 'Go', command: command(installed('GO_FLOW')), executed: [SIMULATE, SUBMIT] },
];

const AMOUNT = 1_234_567n;
/** The least that the chain takes, which is also what it is estimated at. */
const GAS_PRICE = 100n;

describe('the whole flow of an SDK against a node with an upstream', () => {
  const data = temporaryFolder();
  let chain: ChainStandIn;
  let node: ServedNode;

  beforeAll(async () => {
    chain = await ChainStandIn.start(join(data, 'chain'));
    const args = ['--follow', chain.url, '--header-prefix', 'X-Aptos'];
    node = await ServedNode.start(join(data, 'copy'), args);
    await until('the block is there', async () => {
      const { headers } = await node.get('');
      return headers.get('x-aptos-block-height') === '1';
    });
  });
  afterAll(async () => {
    expect((await node.stop()).code).toBe(0);
    expect(node.complaints).toEqual([]);
    await chain.stop();
    killLeftNodes();
  });

  SDKS.forEach(({ name, command: parts, executed }, nth) => {
    const title = parts === undefined ? `${name} (skipped: not installed)` : name;
    it.skipIf(parts === undefined)(title, { timeout: 120_000 }, async () => {
      const sender = chain.account(2 * nth);
      const receiver = chain.account(2 * nth + 1);
      const before = [chain.balance(sender.index), chain.balance(receiver.index)] as const;
      chain.executed.length = 0;
      const [program, ...args] = parts!;
      const texts = [node.ready.url, sender.privateKey, receiver.address, String(AMOUNT)];
      const result = await endOf(spawn(program!, [...args, ...texts]));
      expect(result).toMatchObject({ code: 0 });
      const seen = JSON.parse(result.stdout.trimEnd().split('\n').at(-1)!) as Seen;
      const receiverBalance = String(before[1] + AMOUNT);
      expect(seen).toEqual({
        sender: sender.address,
        gasUnitPrice: String(GAS_PRICE),
        simulated: [true, String(GAS_USED)],
        hash: seen.hash,
        waited: ['user_transaction', true, seen.hash],
        isReadAgain: true,
        senderBalance: String(before[0] - AMOUNT - BigInt(GAS_USED) * GAS_PRICE),
        receiverBalance,
        viewed: receiverBalance,
        events: [
          '0x1::coin::WithdrawEvent',
          '0x1::coin::DepositEvent',
          '0x1::transaction_fee::FeeStatement',
        ],
        lastDeposit: String(AMOUNT),
        sequenceNumber: '1',
        lastSent: seen.hash,
      } satisfies Seen);
      expect(new Set(chain.executed)).toEqual(new Set(executed));
    });
  });
});
