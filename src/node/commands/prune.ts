/** `daybook prune`: deletes old history, except for selected accounts. */
import type { Command } from 'commander';
import { countText, withProgress } from '../progress.ts';
import { type PruneFolderReport, pruneFolder } from '../prune.ts';
import {
  addReport,
  addSettingOption,
  collected,
  describe,
  secondsSince,
  wholeNumber,
} from './command-line.ts';

interface PruneFlags {
  readonly keep?: number;
  readonly keepSeconds?: number;
  readonly keepAccount?: readonly string[];
  readonly keepAccountsFile?: string;
  readonly graceSeconds: number;
}

const DEFAULT_GRACE_SECONDS = 10;
const MS_PER_SECOND = 1_000;

export function define(command: Command): void {
  describe(command, {
    about:
      'Give --keep, --keep-seconds or both. Readers can continue meanwhile; no other process may ' +
      'write. The file does not shrink: daybook copy makes a smaller one.',
    examples: [
      'prune --data ./mainnet --keep 10000000',
      'prune --data ./mainnet --keep-seconds 2592000 --keep-account 0x1',
    ],
  });
  addSettingOption(command, 'data')
    .option('--keep <versions>', 'retain this many of the newest versions', wholeNumber(1))
    .option('--keep-seconds <n>', 'retain this many seconds, by ledger time', wholeNumber(1))
    .option(
      '--keep-account <address>',
      'retain the whole history of this account from now on; may be given again',
      collected,
    )
    .option('--keep-accounts-file <file>', 'file of such addresses, one per line')
    .option(
      '--grace-seconds <n>',
      'time for requests in flight before anything is deleted; 0 only when nobody reads',
      wholeNumber(0, 9_999),
      DEFAULT_GRACE_SECONDS,
    );
  addReport(command, async (flags: PruneFlags, { data }) => {
    const startedMs = performance.now();
    const { head, versions, keptAccounts } = await runPrune(data, flags);
    return {
      facts: {
        ledger_version: head.version,
        oldest_ledger_version: head.oldestVersion,
        oldest_block_height: head.oldestBlockHeight,
        pruned_versions: versions,
        kept_accounts: keptAccounts,
        seconds: secondsSince(startedMs),
      },
    };
  });
}

async function runPrune(data: string, flags: PruneFlags): Promise<PruneFolderReport> {
  const { keep = 0, keepSeconds = 0, keepAccount = [], keepAccountsFile = '' } = flags;
  const keeping = {
    keepVersions: keep,
    keepSeconds,
    keepAccounts: keepAccount.join(','),
    keepAccountsFile,
  };
  const { graceSeconds } = flags;
  return await withProgress((show) => {
    show(() => `requests in flight get ${graceSeconds} s to finish`);
    let first: { readonly version: bigint; readonly atMs: number } | undefined;
    const graceMs = graceSeconds * MS_PER_SECOND;
    return pruneFolder(data, keeping, graceMs, ({ clearedBelow }, oldest) => {
      first ??= { version: clearedBelow, atMs: performance.now() };
      const { version, atMs } = first;
      const [done, total] = [Number(clearedBelow - version), Number(oldest - version)];
      show(() => countText('versions', done, total, atMs));
    });
  });
}
