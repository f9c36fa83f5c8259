/** `daybook init`: a ledger from a genesis file, a snapshot, or a backup of the reference. */
import type { Command } from 'commander';
import { initFromBackup, type RestoredBackup } from '../backup.ts';
import { type InitReport, initLedger } from '../init.ts';
import { NodeError } from '../node-error.ts';
import { countText, withProgress } from '../progress.ts';
import {
  addReport,
  addSettingOption,
  collected,
  describe,
  factLines,
  secondsSince,
} from './command-line.ts';

interface InitFlags {
  readonly genesis?: string;
  readonly waypoint?: string;
  readonly distribute?: true;
  readonly snapshot?: string;
  readonly trust?: readonly string[];
  readonly backup?: string;
}

export function define(command: Command): void {
  describe(command, {
    about:
      'A genesis file is checked against its waypoint before anything is written. For a backup the ' +
      'signatures of the validators are checked from the waypoint on, and everything by proofs from ' +
      'there. A snapshot (daybook snapshot) has the same proofs, but no signatures: --trust gives ' +
      'its root. What does not match leaves no ledger. daybook follow goes on from each.',
    examples: [
      'init --data ./mainnet --genesis genesis.blob --waypoint genesis_waypoint.txt',
      'init --data ./mainnet --snapshot ./snapshot --trust 5009:6a0c…',
      'init --data ./mainnet --backup https://bucket.example/e1 --waypoint genesis_waypoint.txt',
      'init --data ./mainnet --snapshot https://node.example/v1/-/snapshots/mainnet-5009',
    ],
  });
  addSettingOption(
    command,
    'data',
    'folder for the ledger, absent or empty, or postgres://HOST/DATABASE',
  )
    .option('--genesis <file or url>', 'genesis transaction (genesis.blob)')
    .option(
      '--waypoint <text or file>',
      '"0:hex", or a file that contains it; compared if given. A backup needs it, and takes later ones',
    )
    .option('--distribute', 'over the workers of Citus, for a ledger in PostgreSQL')
    .option('--snapshot <folder or url>', 'what daybook snapshot has made')
    .option(
      '--trust <version:root>',
      'accumulator root of a version of the snapshot, from a source you trust; may be given again',
      collected,
    );
  command.option('--backup <folder or url>', 'public backup of the reference');
  addReport(command, async (flags: InitFlags, { data }) => {
    const { genesis, waypoint, snapshot, trust, distribute, backup } = flags;
    if ([genesis, snapshot, backup].filter((source) => source !== undefined).length !== 1) {
      throw wrongUsage('give one of --genesis, --snapshot and --backup');
    }
    if (snapshot === undefined && trust !== undefined)
      throw wrongUsage('--trust is for --snapshot');
    const location = snapshot ?? backup;
    if (location !== undefined) return await reportOfBackup(data, location, flags);
    const facts = factsOf(
      await withProgress((show) =>
        initLedger(data, genesis!, waypoint, (stage) => show(() => stage), distribute),
      ),
    );
    return { facts, text: textOf(facts) };
  });
}

function wrongUsage(message: string): NodeError {
  return new NodeError('bad_input', message, { exitCode: 2 });
}

async function reportOfBackup(data: string, location: string, flags: InitFlags) {
  const { backup, waypoint, trust, distribute } = flags;
  const isSigned = backup !== undefined;
  if (isSigned && waypoint === undefined) {
    throw wrongUsage('--backup needs a --waypoint that you trust');
  }
  const init = { isSigned, waypoint, trust, distribute };
  const startedMs = performance.now();
  let stageMs = startedMs;
  let lastStage = '';
  const restored = await withProgress((show) =>
    initFromBackup(data, location, init, ({ stage, done, total }) => {
      if (stage !== lastStage) stageMs = performance.now();
      lastStage = stage;
      show(() => countText(stage, done, total, stageMs));
    }),
  );
  const facts = backupFacts(restored, isSigned, secondsSince(startedMs));
  return { facts, text: factLines({ ...facts, ...comparedTexts(restored, isSigned) }, 24) };
}

function backupFacts(restored: RestoredBackup, isSigned: boolean, seconds: number) {
  return {
    chain_id: restored.chainId,
    genesis_waypoint: restored.genesisWaypoint,
    ...(isSigned
      ? { genesis_covered: restored.isGenesisCovered, epochs: restored.epochs }
      : {
          accumulator_root: restored.accumulatorRoot.toString('hex'),
          trust_compared: restored.isTrustCompared,
        }),
    ledger_version: restored.head.version,
    state_version: restored.stateVersion,
    state_root: restored.stateRoot.toString('hex'),
    keys: restored.keys,
    seconds,
  };
}

/** Says in words whether the given waypoint or root vouches for the ledger. */
function comparedTexts(restored: RestoredBackup, isSigned: boolean) {
  if (isSigned) {
    const covered = restored.isGenesisCovered
      ? 'the one given'
      : 'as the backup says: the waypoint given does not cover it';
    return { genesis_waypoint: `${restored.genesisWaypoint} (${covered})` };
  }
  const compared = restored.isTrustCompared
    ? 'equal to the root given'
    : 'nothing was compared: give --trust to check it';
  return { accumulator_root: `${restored.accumulatorRoot.toString('hex')} (${compared})` };
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
