/** `daybook follow`: replicates the ledger of another node (docs/follow.md). */
import type { Command } from 'commander';
import type { FollowReport } from '../node/follow.ts';
import { ProgressLine } from '../node/progress.ts';
import { stopSignal } from '../node/shutdown.ts';
import { collected, printFacts, u64, wholeNumber } from './command-line.ts';

interface FollowFlags {
  readonly data: string;
  readonly from: string;
  readonly until?: bigint;
  readonly trust: readonly string[];
  readonly waypoint?: string;
  readonly feed: boolean;
  readonly pageTransactions: number;
  readonly logLevel: string;
  readonly json?: boolean;
}

/** More than any node returns at once. */
const MAX_PAGE_TRANSACTIONS = 10_000;
const DEFAULT_PAGE_TRANSACTIONS = 1_000;

export function addFollowCommand(program: Command): void {
  program
    .command('follow')
    .description(
      'Follow another node: fetch its transactions, verify every byte, commit; continues where it stopped.',
    )
    .requiredOption('--data <dir>', 'folder of the ledger; may be absent or empty')
    .requiredOption('--from <url>', 'a node that answers GET /v1/transactions in BCS')
    .option(
      '--until <version>',
      'stop after this version; otherwise it never stops',
      u64('a version, a u64'),
    )
    .option(
      '--trust <version:root>',
      'root of the transaction accumulator after a version, 64 hex digits; may be given again',
      collected,
      [],
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
    )
    .option('--log-level <level>', 'least severe log lines on stderr', 'info')
    .option('--json', 'print the report as one JSON object')
    .action(run);
}

async function run(flags: FollowFlags): Promise<void> {
  // Created before the start, so that a signal during the opening of the store also stops cleanly.
  const abort = new AbortController();
  void stopSignal().then(() => abort.abort());
  const { followIntoFolder } = await import('../node/follow.ts');
  const { createLogger } = await import('../node/metrics/log.ts');
  const line = process.stderr.isTTY ? new ProgressLine() : undefined;
  // The line on a terminal replaces log lines of level info.
  const logger = createLogger(line && flags.logLevel === 'info' ? 'warn' : flags.logLevel);
  const request = { ...flags, keepsTransactions: flags.feed };
  const report = await followIntoFolder(flags.data, request, logger, line, abort.signal);
  printFacts(factsOf(report), flags.json);
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
