/** `daybook snapshot`: the state of a ledger at a version, in files that a new ledger begins with. */
import type { Command } from 'commander';
import { grouped, withProgress } from '../node/progress.ts';
import { addCommand, addReport, addSettingOption, u64 } from './command-line.ts';

interface SnapshotFlags {
  readonly out: string;
  readonly version?: bigint;
  readonly withTransactions?: boolean;
}

export function addSnapshotCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'snapshot',
    purpose: 'Write the state at a version, to make ledgers from.',
    about:
      'A node may serve, write and prune the ledger meanwhile. A run that was cut off is continued by ' +
      'the same command. daybook init --snapshot makes a ledger of the result and proves it.',
    examples: ['snapshot --data ./mainnet --out ./snapshot', 'snapshot --out mainnet.tar'],
  });
  addSettingOption(command, 'data')
    .requiredOption('--out <path>', 'folder to make; or a file, if the name ends in .tar')
    .option(
      '--version <version>',
      'version of the state, one that states its root; default the newest such',
      u64('a version'),
    )
    .option('--with-transactions', 'also the transactions after that version, with their events');
  addReport(command, async (flags: SnapshotFlags, { data }) => {
    const { snapshotLedger } = await import('../node/snapshot.ts');
    const { out, version, withTransactions = false } = flags;
    const startedMs = performance.now();
    const made = await withProgress((show) =>
      snapshotLedger(data, out, { version, withTransactions }, ({ what, done }) =>
        show(() => `${what}: ${grouped(done)}`),
      ),
    );
    const sum = (part: 'bytes' | 'contentBytes') =>
      made.chunks.reduce((total, chunk) => total + chunk[part], 0);
    return {
      facts: {
        state_version: String(made.version),
        newest_version: String(made.newestVersion),
        state_root: made.stateRoot.toString('hex'),
        accumulator_root: made.accumulatorRoot.toString('hex'),
        keys: made.keys,
        chunks: made.chunks.length,
        bytes: sum('bytes'),
        content_bytes: sum('contentBytes'),
        seconds: Number(((performance.now() - startedMs) / 1000).toFixed(2)),
      },
    };
  });
}
