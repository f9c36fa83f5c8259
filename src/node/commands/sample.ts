/** `daybook sample`: a deterministic sample ledger of any size. */
import { type Command, Option } from 'commander';
import { countText, withProgress } from '../progress.ts';
import { makeSample } from '../sample.ts';
import {
  addReport,
  addSettingOption,
  describe,
  secondsSince,
  u64,
  wholeNumber,
} from './command-line.ts';

interface SampleFlags {
  readonly transactions: number;
  readonly accounts: number;
  readonly seed: bigint;
}

export function define(command: Command): void {
  describe(command, {
    about:
      'Everything is derived from the seed. The transactions are run as on a local network, some ' +
      'hundred in a second.',
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
      1_000,
    )
    .option('--accounts <n>', 'ordinary accounts that the ledger grows to', wholeNumber(1), 100)
    .addOption(
      new Option('--seed <n>', 'everything is derived from it; a u64')
        .argParser(u64('a u64'))
        // The help cannot print a bigint by itself.
        .default(1n, '1'),
    );

  addReport(command, async (flags: SampleFlags, { data }) => {
    const startedMs = performance.now();
    const { chainId, head, publisher } = await withProgress((show) =>
      makeSample(data, flags, (done) =>
        show(() => countText('transactions', done, flags.transactions, startedMs)),
      ),
    );
    const seconds = secondsSince(startedMs);
    const facts = {
      chain_id: chainId,
      ledger_version: head.version,
      block_height: head.blockHeight,
      epoch: head.epoch,
      publisher,
      seconds,
      transactions_per_second: Math.round(Number(head.version + 1n) / Math.max(seconds, 0.01)),
    };
    return { facts };
  });
}
