/** `daybook init`: a ledger from a genesis file. */
import type { Command } from 'commander';
import type { InitReport } from '../node/init.ts';
import { factLines } from './command-line.ts';

interface InitFlags {
  readonly data: string;
  readonly genesis: string;
  readonly waypoint?: string;
  readonly json?: boolean;
}

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
      const facts = factsOf(report);
      process.stdout.write(flags.json ? `${JSON.stringify(facts)}\n` : linesOf(facts));
    });
}

function factsOf({ chainId, waypoint, waypointCompared, counts }: InitReport) {
  return {
    chain_id: chainId,
    waypoint,
    waypoint_compared: waypointCompared,
    modules: counts.modules,
    resources: counts.resources,
    resource_groups: counts.resourceGroups,
    table_items: counts.tableItems,
    events: counts.events,
  };
}

function linesOf({ waypoint_compared: isCompared, ...facts }: ReturnType<typeof factsOf>): string {
  const compared = isCompared
    ? 'equal to the waypoint given'
    : 'nothing was compared: give --waypoint to check the file';
  return factLines({ ...facts, waypoint: `${facts.waypoint} (${compared})` }, 16);
}
