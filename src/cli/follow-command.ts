/** `daybook follow`: replicates the ledger of another node (docs/follow.md). */
import type { Command } from 'commander';
import type { FollowReport } from '../node/follow.ts';
import { ProgressLine } from '../node/progress.ts';
import type { NodeSettings } from '../node/settings/settings.ts';
import { stopSignal } from '../node/shutdown.ts';
import {
  addCommand,
  addReport,
  addSettingOption,
  collected,
  u64,
  wholeNumber,
} from './command-line.ts';

interface FollowFlags {
  readonly from: string;
  readonly until?: bigint;
  readonly trust?: readonly string[];
  readonly waypoint?: string;
  readonly feed: boolean;
  readonly pageTransactions: number;
}

/** More than any node returns at once. */
const MAX_PAGE_TRANSACTIONS = 10_000;
const DEFAULT_PAGE_TRANSACTIONS = 1_000;

export function addFollowCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'follow',
    purpose: 'Replicate another node, every byte verified.',
    about: 'Continues where it stopped. daybook serve --follow replicates and serves.',
    examples: [
      'follow --data ./mainnet --from https://node.example/v1 --waypoint genesis_waypoint.txt',
      'follow --data ./mainnet --from https://node.example/v1 --until 1000000',
    ],
  });
  addSettingOption(
    command,
    'data',
    'folder of the ledger, which may be absent or empty, or postgres://HOST/DATABASE',
  )
    .requiredOption('--from <url>', 'a node that answers GET /v1/transactions in BCS')
    .option(
      '--until <version>',
      'stop after this version; otherwise it never stops',
      u64('a version, a u64'),
    )
    .option(
      '--trust <version:root>',
      'root of the transaction accumulator after a version, in hex; may be given again',
      collected,
    )
    .option('--waypoint <text or file>', 'genesis waypoint "0:hex", or a file that contains it')
    .option(
      '--no-feed',
      'in a new ledger, do not store whole transactions: other nodes cannot follow it',
    )
    .option(
      '--page-transactions <n>',
      `transactions per request, 1 to ${MAX_PAGE_TRANSACTIONS}; the node may give fewer`,
      wholeNumber(1, MAX_PAGE_TRANSACTIONS),
      DEFAULT_PAGE_TRANSACTIONS,
    );
  addSettingOption(command, 'standby');
  addSettingOption(command, 'logLevel');
  addReport(command, async (flags: FollowFlags, settings) => ({
    facts: factsOf(await followed(flags, settings)),
  }));
}

async function followed(flags: FollowFlags, settings: NodeSettings): Promise<FollowReport> {
  // Created before the start, so that a signal during the opening of the store also stops cleanly.
  const abort = new AbortController();
  void stopSignal().then(() => abort.abort());
  const { followIntoFolder } = await import('../node/follow.ts');
  const { createLogger } = await import('../node/metrics/log.ts');
  const { data, logLevel, standby } = settings;
  const line = process.stderr.isTTY ? new ProgressLine() : undefined;
  // The line on a terminal replaces log lines of level info.
  const logger = createLogger(line && logLevel === 'info' ? 'warn' : logLevel);
  const request = { ...flags, keepsTransactions: flags.feed, standby };
  return await followIntoFolder(data, request, logger, line, abort.signal);
}

function factsOf({ head, chainId, counters, seconds }: FollowReport) {
  return {
    chain_id: chainId ?? null,
    ledger_version: head === undefined ? null : String(head.version),
    block_height: head === undefined ? null : String(head.blockHeight),
    transactions: counters.transactions,
    seconds: Number(seconds.toFixed(2)),
    transactions_per_second: Math.round(counters.transactions / seconds),
    network_ms: Math.round(counters.networkMs),
    decode_ms: Math.round(counters.decodeMs),
    hash_ms: Math.round(counters.hashMs),
    build_ms: Math.round(counters.buildMs),
    commit_ms: Math.round(counters.commitMs),
    faults: counters.faults,
  };
}
