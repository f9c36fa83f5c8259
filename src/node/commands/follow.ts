/** `daybook follow`: replicates the ledger of another node (docs/follow.md). */
import type { Command } from 'commander';
import type { FollowReport } from '../follow.ts';
import { ProgressLine } from '../progress.ts';
import type { NodeSettings } from '../settings/settings.ts';
import { stopSignal } from '../shutdown.ts';
import {
  addReport,
  addSettingOption,
  collected,
  describe,
  secondsSince,
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
  readonly execute?: true;
}

/** More than any node returns at once. */
const MAX_PAGE_TRANSACTIONS = 10_000;
const DEFAULT_PAGE_TRANSACTIONS = 1_000;

export function define(command: Command): void {
  describe(command, {
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
  command.option(
    '--execute',
    'execute each transaction, and compare what comes of it, before it is committed',
  );
  addSettingOption(command, 'standby');
  addSettingOption(command, 'logLevel');
  addReport(command, async (flags: FollowFlags, settings) => {
    const startedMs = performance.now();
    const report = await followed(flags, settings);
    return { facts: factsOf(report, secondsSince(startedMs)) };
  });
}

async function followed(flags: FollowFlags, settings: NodeSettings): Promise<FollowReport> {
  // Created before the start, so that a signal during the opening of the store also stops cleanly.
  const abort = new AbortController();
  void stopSignal().then(() => abort.abort());
  const { followIntoFolder } = await import('../follow.ts');
  const { createLogger } = await import('../log.ts');
  const { data, logLevel, standby } = settings;
  const line = process.stderr.isTTY ? new ProgressLine() : undefined;
  // The line on a terminal replaces log lines of level info.
  const logger = createLogger(line && logLevel === 'info' ? 'warn' : logLevel);
  const request = { ...flags, keepsTransactions: flags.feed, standby };
  return await followIntoFolder(data, request, logger, line, abort.signal);
}

function factsOf({ head, chainId, counters }: FollowReport, seconds: number) {
  return {
    chain_id: chainId ?? null,
    ledger_version: head?.version ?? null,
    block_height: head?.blockHeight ?? null,
    transactions: counters.transactions,
    seconds,
    transactions_per_second: Math.round(counters.transactions / Math.max(seconds, 0.01)),
    network_ms: Math.round(counters.networkMs),
    decode_ms: Math.round(counters.decodeMs),
    hash_ms: Math.round(counters.hashMs),
    build_ms: Math.round(counters.buildMs),
    commit_ms: Math.round(counters.commitMs),
    faults: counters.faults,
  };
}
