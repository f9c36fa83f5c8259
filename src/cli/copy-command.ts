/** `daybook copy`: a consistent, compact copy of a ledger, also of one in use. */
import type { Command } from 'commander';
import { countText, withProgress } from '../node/progress.ts';
import { addCommand, addReport, addSettingOption } from './command-line.ts';

const BYTES_PER_MB = 1_000_000;

export function addCopyCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'copy',
    purpose: 'Copy a ledger, also while a node serves and writes it.',
    about:
      'The copy is the ledger of one moment, without the free space of the file: it is a backup, and ' +
      'the way to a smaller file after pruning.',
    examples: ['copy --to ./backup', 'copy --data ./mainnet --to /backup/mainnet --json'],
  });
  addSettingOption(command, 'data', 'folder of the ledger to copy').requiredOption(
    '--to <dir>',
    'folder for the copy; must be absent or empty',
  );
  addReport(command, async ({ to }: { readonly to: string }, { data }) => {
    const { copyLedger } = await import('../node/copy.ts');
    const startedMs = performance.now();
    const { head, fromBytes, toBytes, seconds } = await withProgress((show) =>
      copyLedger(data, to, (copiedBytes, neededBytes) => {
        const inMb = (bytes: number) => Math.ceil(bytes / BYTES_PER_MB);
        show(() => countText('MB', inMb(copiedBytes()), inMb(neededBytes), startedMs));
      }),
    );
    const facts = {
      ledger_version: String(head.version),
      oldest_ledger_version: String(head.oldestVersion),
      source_bytes: fromBytes,
      copy_bytes: toBytes,
      seconds: Number(seconds.toFixed(2)),
    };
    return { facts };
  });
}
