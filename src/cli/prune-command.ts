/** `daybook prune`: deletes old history, except for selected accounts. */
import type { Command } from 'commander';
import { countText, ProgressLine } from '../node/progress.ts';
import type { PruneFolderReport } from '../node/prune.ts';
import { collected, printFacts, wholeNumber } from './command-line.ts';

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

export function addPruneCommand(program: Command): void {
  program
    .command('prune')
    .description(
      'Delete old history, except for selected accounts; readers can continue meanwhile.',
    )
    .requiredOption('--data <dir>', 'folder of the ledger')
    .option('--keep <versions>', 'keep this many of the newest versions', wholeNumber(1), 0)
    .option('--keep-seconds <n>', 'keep this many seconds, by ledger time', wholeNumber(1), 0)
    .option(
      '--keep-account <address>',
      'keep the whole history of this account from now on; may be given again',
      collected,
      [],
    )
    .option('--keep-accounts-file <file>', 'file of such addresses, one per line', '')
    .option(
      '--grace-seconds <n>',
      'time for requests in flight before anything is deleted; 0 only when nobody reads',
      wholeNumber(0, 9_999),
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
  const line = new ProgressLine();
  let first: { readonly version: bigint; readonly atMs: number } | undefined;
  const graceMs = flags.graceSeconds * MS_PER_SECOND;
  const report = await pruneFolder(flags.data, keep, graceMs, ({ clearedBelow }, oldest) => {
    first ??= { version: clearedBelow, atMs: performance.now() };
    const [done, total] = [Number(clearedBelow - first.version), Number(oldest - first.version)];
    const { atMs } = first;
    line.update(() => countText('versions', done, total, atMs));
  });
  line.clear();
  printFacts(factsOf(report), flags.json);
}

function factsOf({ head, versions, keptAccounts, seconds }: PruneFolderReport) {
  return {
    ledger_version: String(head.version),
    oldest_ledger_version: String(head.oldestVersion),
    oldest_block_height: String(head.oldestBlockHeight),
    pruned_versions: String(versions),
    kept_accounts: keptAccounts,
    seconds: Number(seconds.toFixed(2)),
  };
}
