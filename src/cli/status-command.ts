/** `daybook status`: what a ledger is and how much each of its columns contains. */
import type { Command } from 'commander';
import type { StatusReport } from '../node/status.ts';
import { addCommand, addReport, addSettingOption, factLines } from './command-line.ts';

export function addStatusCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'status',
    purpose: 'Show what a ledger is and how much it contains.',
    about: 'It works while a node serves the ledger.',
    examples: ['status', 'status --data ./mainnet --json'],
  });
  addSettingOption(command, 'data');
  addReport(command, async (_flags, { data }) => {
    const { ledgerStatus } = await import('../node/status.ts');
    const facts = await ledgerStatus(data);
    return { facts, text: textOf(facts) };
  });
}

function textOf({ columns, ...facts }: StatusReport): string {
  const header = `\n${'column'.padEnd(24)}${'rows'.padStart(14)}${'bytes'.padStart(18)}\n`;
  const columnLines = Object.entries(columns).map(
    ([name, { rows, bytes }]) =>
      `${name.padEnd(24)}${String(rows).padStart(14)}${String(bytes).padStart(18)}\n`,
  );
  return factLines(facts) + header + columnLines.join('');
}
