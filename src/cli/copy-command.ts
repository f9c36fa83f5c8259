/** `daybook copy`: a consistent, compact copy of a ledger, also of one in use. */
import type { Command } from 'commander';
import { countText, withProgress } from '../node/progress.ts';
import { digestFacts, digestLines } from './column-digests.ts';
import { addCommand, addReport, addSettingOption, factLines } from './command-line.ts';

const BYTES_PER_MB = 1_000_000;

export function addCopyCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'copy',
    purpose: 'Copy a ledger, also while a node serves and writes it.',
    about:
      'The copy is the ledger of one moment, without the free space of the file: it is a backup, and ' +
      'the way to a smaller file after pruning. To or from PostgreSQL, rows are copied and their digests ' +
      'compared; the same command resumes a copy that was cut off.',
    examples: [
      'copy --to ./backup',
      'copy --data ./mainnet --to /backup/mainnet --json',
      'copy --data ./mainnet --to postgres://me@db.example/daybook',
    ],
  });
  addSettingOption(command, 'data', 'the ledger to copy: a folder, or postgres://…').requiredOption(
    '--to <dir>',
    'where to: a folder that is absent or empty, or postgres://…',
  );
  addReport(command, async ({ to }: { readonly to: string }, { data }) => {
    const { copyLedger } = await import('../node/copy.ts');
    const { head, fromBytes, toBytes, seconds, columns } = await withProgress((show) =>
      copyLedger(data, to, (what, done, needed) => {
        const startedMs = performance.now();
        const inUnit = (count: number) => (what === 'bytes' ? count / BYTES_PER_MB : count);
        const unit = what === 'bytes' ? 'MB' : what;
        const total = Math.ceil(inUnit(needed));
        show(() => countText(unit, Math.ceil(inUnit(done())), total, startedMs));
      }),
    );
    const facts = {
      ledger_version: String(head.version),
      oldest_ledger_version: String(head.oldestVersion),
      source_bytes: fromBytes,
      copy_bytes: toBytes,
      seconds: Number(seconds.toFixed(2)),
    };
    if (columns === undefined) return { facts };
    const lines = ['', ...digestLines(columns), '', 'both are equal'].map((line) => `${line}\n`);
    const text = factLines(facts) + lines.join('');
    return { facts: { ...facts, columns: digestFacts(columns) }, text };
  });
}
