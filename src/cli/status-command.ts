/** `daybook status`: what a ledger is and how much each of its columns contains. */
import type { Command } from 'commander';
import { DEFAULT_DATA_FOLDER } from '../node/settings/settings.ts';
import type { StatusReport } from '../node/status.ts';
import { factLines } from './command-line.ts';

export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('Show what a ledger is and how much it contains; works while a node serves it.')
    .option('--data <dir>', 'folder of the ledger', DEFAULT_DATA_FOLDER)
    .option('--json', 'print one JSON object')
    .action(async ({ data, json }: { data: string; json?: boolean }) => {
      const { ledgerStatus } = await import('../node/status.ts');
      const report = await ledgerStatus(data);
      process.stdout.write(json ? `${JSON.stringify(report)}\n` : lines(report));
    });
}

function lines({ columns, ...facts }: StatusReport): string {
  const header = `\n${'column'.padEnd(24)}${'rows'.padStart(14)}${'bytes'.padStart(18)}\n`;
  const columnLines = Object.entries(columns).map(
    ([name, { rows, bytes }]) =>
      `${name.padEnd(24)}${String(rows).padStart(14)}${String(bytes).padStart(18)}\n`,
  );
  return factLines(facts) + header + columnLines.join('');
}
