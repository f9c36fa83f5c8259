/** `daybook upgrade`: turns a ledger of an older store format into one of the present format. */
import type { Command } from 'commander';
import { countText, withProgress } from '../node/progress.ts';
import { addCommand, addReport, addSettingOption } from './command-line.ts';

export function addUpgradeCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'upgrade',
    purpose: 'Upgrade a ledger of an older store format.',
    about:
      'No other process may use the ledger meanwhile. A run that was cut off is continued by the ' +
      'next one.',
    examples: ['upgrade --data ./mainnet'],
  });
  addSettingOption(command, 'data');
  addReport(command, async (_flags, { data }) => {
    const { upgradeFolder } = await import('../node/upgrade.ts');
    const startedMs = performance.now();
    const { head, fromFormat, toFormat, seconds } = await withProgress((show) =>
      upgradeFolder(data, ({ from, below, head: { version } }) =>
        show(() => {
          const counted = countText('versions', Number(below), Number(version) + 1, startedMs);
          return `format ${from}: ${counted}`;
        }),
      ),
    );
    const facts = {
      ledger_version: String(head.version),
      from_format: fromFormat,
      to_format: toFormat,
      seconds: Number(seconds.toFixed(2)),
    };
    return { facts };
  });
}
