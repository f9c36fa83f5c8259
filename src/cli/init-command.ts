/** `daybook init`: a ledger from a genesis file. */
import type { Command } from 'commander';
import type { InitReport } from '../node/init.ts';

interface InitFlags {
  readonly data: string;
  readonly genesis: string;
  readonly waypoint?: string;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('Make a ledger from a genesis file, checked against its waypoint.')
    .requiredOption('--data <dir>', 'folder for the ledger; must be absent or empty')
    .requiredOption('--genesis <file>', 'genesis transaction (genesis.blob)')
    .option('--waypoint <text or file>', '"0:hex", or a file that contains it; compared if given')
    .option('--json', 'print the report as one JSON object')
    .action(async (flags: InitFlags) => {
      const { initLedger } = await import('../node/init.ts');
      const report = await initLedger(flags.data, flags.genesis, flags.waypoint);
      process.stdout.write(
        flags.json ? `${JSON.stringify(reportObject(report))}\n` : lines(report),
      );
    });
}

function reportObject(report: InitReport): Record<string, unknown> {
  return {
    chain_id: report.chainId,
    waypoint: report.waypoint,
    waypoint_compared: report.waypointCompared,
    modules: report.counts.modules,
    resources: report.counts.resources,
    resource_groups: report.counts.resourceGroups,
    table_items: report.counts.tableItems,
    events: report.counts.events,
  };
}

function lines(report: InitReport): string {
  const compared = report.waypointCompared
    ? 'equal to the waypoint given'
    : 'nothing was compared: give --waypoint to check the file';
  const rows: [string, string | number][] = [
    ['chain id', report.chainId],
    ['waypoint', `${report.waypoint} (${compared})`],
    ['modules', report.counts.modules],
    ['resources', report.counts.resources],
    ['resource groups', report.counts.resourceGroups],
    ['table items', report.counts.tableItems],
    ['events', report.counts.events],
  ];
  return rows.map(([name, value]) => `${name.padEnd(16)}${value}\n`).join('');
}
