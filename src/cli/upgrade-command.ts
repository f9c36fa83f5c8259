/** `daybook upgrade`: turns a ledger of an older store format into one of the present format. */
import type { Command } from 'commander';
import { countText, ProgressLine } from '../node/progress.ts';
import { DEFAULT_DATA_FOLDER } from '../node/settings/settings.ts';
import { printFacts } from './command-line.ts';

export function addUpgradeCommand(program: Command): void {
  program
    .command('upgrade')
    .description(
      'Turn a ledger of an older store format into one that this program reads. No other process may ' +
        'use it meanwhile; a run that was cut off is continued.',
    )
    .option('--data <dir>', 'folder of the ledger', DEFAULT_DATA_FOLDER)
    .option('--json', 'print the report as one JSON object')
    .action(run);
}

async function run({ data, json }: { data: string; json?: boolean }): Promise<void> {
  const { upgradeFolder } = await import('../node/upgrade.ts');
  const line = new ProgressLine();
  const startedMs = performance.now();
  const report = await upgradeFolder(data, ({ from, below, head }) =>
    line.update(() => {
      const counted = countText('versions', Number(below), Number(head.version) + 1, startedMs);
      return `format ${from}: ${counted}`;
    }),
  );
  line.clear();
  const { head, fromFormat, toFormat, seconds } = report;
  const facts = {
    ledger_version: String(head.version),
    from_format: fromFormat,
    to_format: toFormat,
    seconds: Number(seconds.toFixed(2)),
  };
  printFacts(facts, json);
}
