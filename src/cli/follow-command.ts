/** `daybook follow`: brings a ledger in from another node and keeps it growing (docs/follow.md). */
import { type Command, InvalidArgumentError } from 'commander';
import type { FollowReport } from '../node/follow.ts';
import { stopSignal } from '../node/stop-signal.ts';
import type { CommandContext } from './main.ts';

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

/** Most transactions that may be asked for at once: `limit` is a u16. */
const MAX_PAGE_TRANSACTIONS = 10_000;
const DEFAULT_PAGE_TRANSACTIONS = 1_000;

/** Adds the command to the program. */
export function addFollowCommand(program: Command, _context: CommandContext): void {
  program
    .command('follow')
    .description(
      'Follow another node: take its transactions, prove every byte, commit; go on where it stopped.',
    )
    .requiredOption('--data <dir>', 'folder of the ledger; may be absent or empty')
    .requiredOption('--from <url>', 'a node that answers GET /v1/transactions in BCS')
    .option('--until <version>', 'end after this version; otherwise it goes on and on', version)
    .option(
      '--trust <version:root>',
      'root of the transaction accumulator after a version, 64 hex digits; may be given again',
      (text: string, before: readonly string[]) => [...before, text],
      [],
    )
    .option('--waypoint <text or file>', 'genesis waypoint "0:hex", or a file that holds it')
    .option('--no-feed', 'in a new ledger, do not keep whole transactions: no feed for others')
    .option(
      '--page-transactions <n>',
      `transactions asked for at once, 1 to ${MAX_PAGE_TRANSACTIONS}; the node may give fewer`,
      pageTransactions,
      DEFAULT_PAGE_TRANSACTIONS,
    )
    .option('--log-level <level>', 'least severe log lines on stderr', 'info')
    .option('--json', 'print the report as one JSON object')
    .action(run);
}

async function run(flags: FollowFlags): Promise<void> {
  // Before the start: a signal that comes while the store opens must end in a clean stop too.
  const abort = new AbortController();
  void stopSignal().then(() => abort.abort());
  // Loaded here: the other commands follow nobody.
  const { followIntoFolder } = await import('../node/follow.ts');
  const { createLogger } = await import('../node/metrics/logger.ts');
  const terminal = process.stderr.isTTY ? process.stderr : undefined;
  // The line on a terminal says what lines of information would say.
  const level = terminal !== undefined && flags.logLevel === 'info' ? 'warn' : flags.logLevel;
  const { data, from, until, trust, waypoint, feed, pageTransactions } = flags;
  const request = { from, until, trust, waypoint, keepsTransactions: feed, pageTransactions };
  const logger = createLogger(level);
  const report = await followIntoFolder(data, request, logger, terminal, abort.signal);
  const facts = factsOf(report);
  process.stdout.write(flags.json ? `${JSON.stringify(facts)}\n` : lines(facts));
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

function lines(facts: Readonly<Record<string, string | number | null>>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(26)}${value ?? 'none'}\n`)
    .join('');
}

function version(text: string): bigint {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n;
  if (value < 0n || value > 0xffff_ffff_ffff_ffffn) {
    throw new InvalidArgumentError('expected a version, a u64');
  }
  return value;
}

function pageTransactions(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > MAX_PAGE_TRANSACTIONS) {
    throw new InvalidArgumentError(`expected 1 to ${MAX_PAGE_TRANSACTIONS}`);
  }
  return value;
}
