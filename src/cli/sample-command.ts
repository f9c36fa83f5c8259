/** `daybook sample`: a deterministic sample ledger of any size. */
import { type Command, Option } from 'commander';
import { countText, ProgressLine } from '../node/progress.ts';
import { printFacts, u64, wholeNumber } from './command-line.ts';

interface SampleFlags {
  readonly data: string;
  readonly transactions: number;
  readonly accounts: number;
  readonly seed: bigint;
  readonly feed: boolean;
  readonly json?: boolean;
}

export function addSampleCommand(program: Command): void {
  program
    .command('sample')
    .description(
      'Make a sample ledger from a seed: every byte and hash is valid; a generator makes it, not a virtual machine.',
    )
    .requiredOption('--data <dir>', 'folder for the ledger; must be absent or empty')
    .option(
      '--transactions <n>',
      'fewest transactions; the last block is completed',
      wholeNumber(1),
      5_000,
    )
    .option('--accounts <n>', 'ordinary accounts that the ledger grows to', wholeNumber(1), 500)
    .addOption(
      new Option('--seed <n>', 'everything is derived from it; a u64')
        .argParser(u64('a u64'))
        // The help cannot print a bigint by itself.
        .default(1n, '1'),
    )
    .option(
      '--no-feed',
      'do not store whole transactions: smaller, but other nodes cannot follow it',
    )
    .option('--json', 'print the report as one JSON object')
    .action(async (flags: SampleFlags) => {
      const { makeSample } = await import('../node/sample.ts');
      const line = new ProgressLine();
      const startedMs = performance.now();
      const request = { ...flags, keepsTransactions: flags.feed };
      const { chainId, head, seconds, publisher } = await makeSample(flags.data, request, (done) =>
        line.update(() => countText('transactions', done, flags.transactions, startedMs)),
      );
      line.clear();
      const facts = {
        chain_id: chainId,
        ledger_version: String(head.version),
        block_height: String(head.blockHeight),
        epoch: String(head.epoch),
        publisher,
        seconds: Number(seconds.toFixed(2)),
        transactions_per_second: Math.round(Number(head.version + 1n) / seconds),
      };
      printFacts(facts, flags.json);
    });
}
