/** `daybook sample`: a deterministic sample ledger of any size. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Progress } from '../node/progress.ts';
import type { CommandContext } from './main.ts';

interface SampleFlags {
  readonly data: string;
  readonly transactions: number;
  readonly accounts: number;
  readonly seed: bigint;
  readonly feed: boolean;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function addSampleCommand(program: Command, _context: CommandContext): void {
  program
    .command('sample')
    .description(
      'Make a sample ledger from a seed: real in every byte and hash, made by a generator and not by a virtual machine.',
    )
    .requiredOption('--data <dir>', 'folder for the ledger; must be absent or empty')
    .option('--transactions <n>', 'fewest transactions; the last block is completed', count, 5_000)
    .option('--accounts <n>', 'ordinary accounts that the ledger grows to', count, 500)
    .addOption(
      new Option('--seed <n>', 'what everything follows from, a u64')
        .argParser(seed)
        // The help cannot print a bigint by itself.
        .default(1n, '1'),
    )
    .option('--no-feed', 'do not keep whole transactions: smaller, but no feed for others')
    .option('--json', 'print the report as one JSON object')
    .action(async (flags: SampleFlags) => {
      const { makeSample } = await import('../node/sample.ts');
      const progress = new Progress('transactions', flags.transactions);
      const request = { ...flags, keepsTransactions: flags.feed };
      const report = await makeSample(flags.data, request, (done) => progress.update(done));
      progress.finish();
      const facts = {
        chain_id: report.chainId,
        ledger_version: String(report.version),
        block_height: String(report.blockHeight),
        epoch: String(report.epoch),
        seconds: Number(report.seconds.toFixed(2)),
        transactions_per_second: Math.round(Number(report.version + 1n) / report.seconds),
      };
      process.stdout.write(flags.json ? `${JSON.stringify(facts)}\n` : lines(facts));
    });
}

function lines(facts: Readonly<Record<string, string | number>>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(24)}${value}\n`)
    .join('');
}

function count(text: string): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) === 0) {
    throw new InvalidArgumentError('expected a number of at least 1');
  }
  return Number(text);
}

function seed(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw new InvalidArgumentError('expected a u64');
  return BigInt(text);
}
