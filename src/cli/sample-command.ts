/** `daybook sample`: a deterministic sample ledger of any size. */
import { type Command, Option } from 'commander';
import { countText, withProgress } from '../node/progress.ts';
import { addCommand, addReport, addSettingOption, u64, wholeNumber } from './command-line.ts';

interface SampleFlags {
  readonly transactions: number;
  readonly accounts: number;
  readonly seed: bigint;
  readonly feed: boolean;
}

export function addSampleCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'sample',
    purpose: 'Make a deterministic sample ledger of any size.',
    about:
      'Everything is derived from the seed. Every byte and hash is valid; a generator makes them, ' +
      'not a virtual machine.',
    examples: ['sample', 'sample --data ./large --transactions 1000000 --accounts 50000 --seed 7'],
  });
  addSettingOption(
    command,
    'data',
    'folder for the ledger, absent or empty, or postgres://HOST/DATABASE',
  )
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
    );
  addReport(command, async (flags: SampleFlags, { data }) => {
    const { makeSample } = await import('../node/sample.ts');
    const startedMs = performance.now();
    const request = { ...flags, keepsTransactions: flags.feed };
    const { chainId, head, seconds, publisher } = await withProgress((show) =>
      makeSample(data, request, (done) =>
        show(() => countText('transactions', done, flags.transactions, startedMs)),
      ),
    );
    const facts = {
      chain_id: chainId,
      ledger_version: String(head.version),
      block_height: String(head.blockHeight),
      epoch: String(head.epoch),
      publisher,
      seconds: Number(seconds.toFixed(2)),
      transactions_per_second: Math.round(Number(head.version + 1n) / seconds),
    };
    return { facts };
  });
}
