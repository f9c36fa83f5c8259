/** `daybook init`: a ledger from a genesis file. */
import type { Command } from 'commander';
import type { InitReport } from '../node/init.ts';
import { withProgress } from '../node/progress.ts';
import { addCommand, addReport, addSettingOption, factLines } from './command-line.ts';

interface InitFlags {
  readonly genesis: string;
  readonly waypoint?: string;
  readonly distribute?: true;
}

export function addInitCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'init',
    purpose: 'Make a ledger from a genesis file.',
    about: 'The file is checked against its waypoint before anything is written.',
    examples: ['init --data ./mainnet --genesis genesis.blob --waypoint genesis_waypoint.txt'],
  });
  addSettingOption(
    command,
    'data',
    'folder for the ledger, absent or empty, or postgres://HOST/DATABASE',
  )
    .requiredOption('--genesis <file>', 'genesis transaction (genesis.blob)')
    .option('--waypoint <text or file>', '"0:hex", or a file that contains it; compared if given')
    .option('--distribute', 'over the workers of Citus, for a ledger in PostgreSQL');
  addReport(command, async ({ genesis, waypoint, distribute }: InitFlags, { data }) => {
    const { initLedger } = await import('../node/init.ts');
    const facts = factsOf(
      await withProgress((show) =>
        initLedger(data, genesis, waypoint, (stage) => show(() => stage), distribute),
      ),
    );
    return { facts, text: textOf(facts) };
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

function textOf({ waypoint_compared: isCompared, ...facts }: ReturnType<typeof factsOf>): string {
  const compared = isCompared
    ? 'equal to the waypoint given'
    : 'nothing was compared: give --waypoint to check the file';
  return factLines({ ...facts, waypoint: `${facts.waypoint} (${compared})` }, 16);
}
