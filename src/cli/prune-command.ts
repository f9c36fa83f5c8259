/** `daybook prune`: takes away history that is not to be kept. */
import { type Command, InvalidArgumentError } from 'commander';
import { Progress } from '../node/progress.ts';
import type { PruneFolderReport } from '../node/prune.ts';
import type { CommandContext } from './main.ts';

interface PruneFlags {
  readonly data: string;
  readonly keep: number;
  readonly keepSeconds: number;
  readonly keepAccount: readonly string[];
  readonly keepAccountsFile: string;
  readonly graceSeconds: number;
  readonly json?: boolean;
}

/** READER_GRACE_MS of the store, in seconds. */
const DEFAULT_GRACE_SECONDS = 10;
const MS_PER_SECOND = 1_000;

/** Adds the command to the program. */
export function addPruneCommand(program: Command, _context: CommandContext): void {
  program
    .command('prune')
    .description('Take away history that is not to be kept; readers may go on beside it.')
    .requiredOption('--data <dir>', 'folder of the ledger')
    .option('--keep <versions>', 'keep the newest so many versions', bound, 0)
    .option('--keep-seconds <n>', 'keep so many seconds, by the time of the ledger', bound, 0)
    .option(
      '--keep-account <address>',
      'keep the whole history of this account from now on; may be given again',
      (address: string, before: readonly string[]) => [...before, address],
      [],
    )
    .option('--keep-accounts-file <file>', 'file of such addresses, one on a line', '')
    .option(
      '--grace-seconds <n>',
      'time for requests under way before anything is deleted; 0 only when nobody reads',
      graceSeconds,
      DEFAULT_GRACE_SECONDS,
    )
    .option('--json', 'print the report as one JSON object')
    .action(run);
}

async function run(flags: PruneFlags): Promise<void> {
  const { pruneFolder } = await import('../node/prune.ts');
  const keep = {
    keepVersions: flags.keep,
    keepSeconds: flags.keepSeconds,
    keepAccounts: flags.keepAccount.join(','),
    keepAccountsFile: flags.keepAccountsFile,
  };
  let shown: { progress: Progress; firstVersion: bigint } | undefined;
  const graceMs = flags.graceSeconds * MS_PER_SECOND;
  const report = await pruneFolder(flags.data, keep, graceMs, ({ clearedBelow }, oldest) => {
    shown ??= {
      progress: new Progress('versions', Number(oldest - clearedBelow)),
      firstVersion: clearedBelow,
    };
    shown.progress.update(Number(clearedBelow - shown.firstVersion));
  });
  shown?.progress.finish();
  const facts = factsOf(report);
  process.stdout.write(flags.json ? `${JSON.stringify(facts)}\n` : lines(facts));
}

function factsOf({ head, versions, rows, keptAccounts, seconds }: PruneFolderReport) {
  return {
    ledger_version: String(head.version),
    oldest_ledger_version: String(head.oldestVersion),
    oldest_block_height: String(head.oldestBlockHeight),
    pruned_versions: String(versions),
    changed_rows: rows,
    kept_accounts: keptAccounts,
    seconds: Number(seconds.toFixed(2)),
  };
}

function lines(facts: Readonly<Record<string, string | number>>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(24)}${value}\n`)
    .join('');
}

function bound(text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (value < 1 || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError('expected a number of at least 1');
  }
  return value;
}

function graceSeconds(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('expected 0 to 9999');
  return Number(text);
}
