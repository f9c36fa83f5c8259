/** `daybook init`: a ledger from a genesis file, a snapshot, or a backup of the reference. */
import type { Command } from 'commander';
import type { RestoredBackup } from '../node/backup.ts';
import type { InitReport } from '../node/init.ts';
import { NodeError } from '../node/node-error.ts';
import { countText, withProgress } from '../node/progress.ts';
import type { LoadedSnapshot } from '../node/snapshot.ts';
import { addCommand, addReport, addSettingOption, collected, factLines } from './command-line.ts';

interface InitFlags {
  readonly genesis?: string;
  readonly waypoint?: string;
  readonly distribute?: true;
  readonly snapshot?: string;
  readonly trust?: readonly string[];
  readonly backup?: string;
}

export function addInitCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'init',
    purpose: 'Make a ledger from a genesis file, snapshot or backup.',
    about:
      'A genesis file is checked against its waypoint before anything is written. Of a snapshot ' +
      '(daybook snapshot) every chunk is checked and the root of the state is computed again; what ' +
      'does not match leaves no ledger. Of a backup the signatures of the validators are checked ' +
      'from the waypoint on, and everything by proofs from there. daybook follow goes on from each.',
    examples: [
      'init --data ./mainnet --genesis genesis.blob --waypoint genesis_waypoint.txt',
      'init --data ./mainnet --snapshot mainnet.tar --trust 5009:6a0c…',
      'init --data ./mainnet --backup https://bucket.example/e1 --waypoint genesis_waypoint.txt',
      'init --data ./mainnet --snapshot https://node.example/v1/-/snapshots/mainnet-5009',
    ],
  });
  addSettingOption(
    command,
    'data',
    'folder for the ledger, absent or empty, or postgres://HOST/DATABASE',
  )
    .option('--genesis <file>', 'genesis transaction (genesis.blob)')
    .option(
      '--waypoint <text or file>',
      '"0:hex", or a file that contains it; compared if given. A backup needs it, and takes later ones',
    )
    .option('--distribute', 'over the workers of Citus, for a ledger in PostgreSQL')
    .option(
      '--snapshot <path or url>',
      'what daybook snapshot has made: a folder, a file, or the URL of a folder',
    )
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
    if (snapshot !== undefined) return await reportOfSnapshot(data, flags);
    if (backup !== undefined) return await reportOfBackup(data, flags);
    const { initLedger } = await import('../node/init.ts');
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

async function reportOfBackup(data: string, flags: InitFlags) {
  const { backup = '', waypoint, distribute = false } = flags;
  if (waypoint === undefined) throw wrongUsage('--backup needs a --waypoint that you trust');
  const { initFromBackup } = await import('../node/backup.ts');
  const startedMs = performance.now();
  let stageMs = startedMs;
  let lastStage = '';
  const restored = await withProgress((show) =>
    initFromBackup(data, backup, { waypoint, distribute }, ({ stage, done, total }) => {
      if (stage !== lastStage) stageMs = performance.now();
      lastStage = stage;
      show(() => countText(stage, done, total, stageMs));
    }),
  );
  const facts = backupFacts(restored, (performance.now() - startedMs) / 1000);
  const covered = facts.genesis_covered
    ? 'the one given'
    : 'as the backup says: the waypoint given does not cover it';
  const genesis = `${facts.genesis_waypoint} (${covered})`;
  return { facts, text: factLines({ ...facts, genesis_waypoint: genesis }, 24) };
}

function backupFacts(restored: RestoredBackup, seconds: number) {
  return {
    chain_id: restored.chainId,
    genesis_waypoint: restored.genesisWaypoint,
    genesis_covered: restored.isGenesisCovered,
    epochs: restored.epochs,
    ledger_version: String(restored.head.version),
    state_version: String(restored.stateVersion),
    state_root: restored.stateRoot.toString('hex'),
    keys: restored.keys,
    seconds: Number(seconds.toFixed(2)),
  };
}

async function reportOfSnapshot(data: string, flags: InitFlags) {
  const { snapshot = '', trust = [], distribute = false, waypoint } = flags;
  const { initFromSnapshot } = await import('../node/snapshot.ts');
  const startedMs = performance.now();
  const loaded = await withProgress((show) =>
    initFromSnapshot(data, snapshot, { trust, distribute, waypoint }, (done, total) =>
      show(() => countText('chunks', done, total, startedMs)),
    ),
  );
  const facts = snapshotFacts(loaded, (performance.now() - startedMs) / 1000);
  const compared = loaded.isTrustCompared
    ? 'equal to the root given'
    : 'nothing was compared: give --trust to check it';
  const root = `${facts.accumulator_root} (${compared})`;
  return { facts, text: factLines({ ...facts, accumulator_root: root }, 24) };
}

function snapshotFacts(loaded: LoadedSnapshot, seconds: number) {
  return {
    chain_id: loaded.chainId,
    ledger_version: String(loaded.head.version),
    state_version: String(loaded.stateVersion),
    state_root: loaded.stateRoot.toString('hex'),
    accumulator_root: loaded.accumulatorRoot.toString('hex'),
    trust_compared: loaded.isTrustCompared,
    keys: loaded.keys,
    seconds: Number(seconds.toFixed(2)),
  };
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
