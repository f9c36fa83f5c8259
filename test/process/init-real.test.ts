/** `daybook init` as a command on real genesis files: intact, damaged, and killed in the middle. */
import { readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  genesisPath,
  genesisPresent,
  NETWORK_NAMES,
  NETWORKS,
  type Network,
} from '../api/genesis-file.ts';
import { writeSmallGenesis } from '../api/genesis-small.ts';
import { Random, testSeed } from '../random.ts';
import { endOf, expectFailure, runCommand, startCommand, temporaryFolder } from './command.ts';

const FLIPS_PER_FILE = 3;
const KILLS = 6;

function waypointOf(network: Network): string {
  return readFileSync(genesisPath(NETWORKS[network].waypointFile), 'utf8').trim();
}

describe.skipIf(!genesisPresent)('real genesis files (needs ../shared/genesis)', () => {
  const folder = temporaryFolder();

  it.each(NETWORK_NAMES)('%s: counts, chain id and the waypoint of its file', async (network) => {
    const { chainId, counts, waypointFile } = NETWORKS[network];
    const waypoint = waypointOf(network);
    const given = ['--genesis', genesisPath(`${network}.blob`), '--waypoint'];
    const [text, object] = await Promise.all([
      runCommand(['init', '--data', join(folder, `${network}-a`), ...given, waypoint]),
      runCommand([
        ...['init', '--json', '--data', join(folder, `${network}-b`)],
        ...[...given, genesisPath(waypointFile)],
      ]),
    ]);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toBe(
      `chain id        ${chainId}\n` +
        `waypoint        ${waypoint} (equal to the waypoint given)\n` +
        `modules         ${counts.modules}\nresources       ${counts.resources}\n` +
        `resource groups ${counts.groups}\ntable items     ${counts.tableItems}\n` +
        `events          ${counts.events}\n`,
    );
    expect(object).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(object.stdout)).toEqual({
      chain_id: chainId,
      waypoint,
      waypoint_compared: true,
      modules: counts.modules,
      resources: counts.resources,
      resource_groups: counts.groups,
      table_items: counts.tableItems,
      events: counts.events,
    });
  });

  it.each(NETWORK_NAMES)('%s: the waypoint of another network is refused', async (network) => {
    const other = waypointOf(NETWORK_NAMES.find((name) => name !== network)!);
    const args = ['--genesis', genesisPath(`${network}.blob`), '--waypoint', other];
    const line = expectFailure(
      await runCommand(['init', '--data', join(folder, 'no'), ...args]),
      1,
    );
    expect(line).toBe(
      `the genesis has waypoint ${waypointOf(network)}, not ${other}; nothing was stored`,
    );
  });

  it.each(['mainnet', 'testnet'] as const)('%s: so is its own of today', async (network) => {
    const file = genesisPath(`${network}.waypoint.txt`);
    const args = ['--genesis', genesisPath(`${network}.blob`), '--waypoint', file];
    const line = expectFailure(
      await runCommand(['init', '--data', join(folder, 'no'), ...args]),
      1,
    );
    expect(line).toContain(readFileSync(file, 'utf8').trim());
    expect(line).toContain(waypointOf(network));
  });

  // test/ingest/genesis-flip.long.test.ts flips 200 positions of each file, without processes.
  it.each(NETWORK_NAMES)('%s: a flipped byte is refused', async (network) => {
    const random = new Random(testSeed(`flips of ${network} as a command`));
    const whole = readFileSync(genesisPath(`${network}.blob`));
    for (let run = 0; run < FLIPS_PER_FILE; run += 1) {
      const bytes = Buffer.from(whole);
      bytes[random.below(bytes.length)]! ^= 1 + random.below(255);
      const path = join(folder, 'flipped.blob');
      writeFileSync(path, bytes);
      const args = ['--genesis', path, '--waypoint', waypointOf(network)];
      const result = await runCommand(['init', '--data', join(folder, 'no'), ...args]);
      expect(expectFailure(result, 1)).toMatch(/not decode|waypoint|not a genesis|genesis/);
    }
  });
});

describe('an init that is killed', () => {
  const folder = temporaryFolder();
  const small = writeSmallGenesis();

  it('leaves nothing or everything, and the next one continues from there', async () => {
    const genesis = genesisPresent ? genesisPath('mainnet.blob') : small.path;
    const data = join(folder, 'ledger');
    const args = ['init', '--data', data, '--genesis', genesis];
    const random = new Random(testSeed('moments of a kill'));
    const outcomes = { killed: 0, done: 0 };
    for (let run = 0; run < KILLS; run += 1) {
      await killInTheMiddle(args, data, random.below(300));
      const status = await runCommand(['status', '--data', data, '--json']);
      if (status.code === 0) {
        outcomes.done += 1;
        expectWhole(status.stdout);
        expect(expectFailure(await runCommand(args), 1)).toContain('holds a ledger already');
        rmSync(data, { recursive: true });
      } else {
        outcomes.killed += 1;
        expect(status.code).toBe(1);
        expect(JSON.parse(status.stdout).error.code).toBe('no_ledger');
        const serve = await runCommand(['serve', '--data', data, '--log-level', 'silent']);
        expect(expectFailure(serve, 1)).toMatch(/no ledger/);
      }
    }
    console.log(outcomes);
    rmSync(data, { recursive: true, force: true });
    await killInTheMiddle(args, data, 0);
    const again = await runCommand([...args, '--json']);
    const isDone = again.code === 0 || again.stderr.includes('holds a ledger already');
    expect([isDone, again.stderr]).toEqual([true, expect.any(String)]);
    expectWhole((await runCommand(['status', '--data', data, '--json'])).stdout);
    rmSync(small.folder, { recursive: true });
  });
});

/** Kills a command some time after it has first changed its folder. */
async function killInTheMiddle(args: readonly string[], data: string, afterMs: number) {
  const child = startCommand(args);
  const end = endOf(child);
  const watcher = watch(join(data, '..'), { recursive: true });
  const touched = new Promise((resolve) => watcher.once('change', resolve));
  await Promise.race([touched, end]);
  watcher.close();
  await delay(afterMs);
  child.kill('SIGKILL');
  await end;
}

/** A ledger with only genesis has its one version, complete. */
function expectWhole(status: string): void {
  const { columns, ledger_version } = JSON.parse(status) as {
    ledger_version: string;
    columns: Record<string, { rows: number }>;
  };
  expect(ledger_version).toBe('0');
  const rows = genesisPresent ? { state: 1394, events: 1499 } : { state: 12, events: 4 };
  expect(columns['state']!.rows).toBe(rows.state);
  expect(columns['events']!.rows).toBe(rows.events);
  for (const one of ['head', 'transactions', 'transaction_infos', 'version_writes']) {
    expect(columns[one]!.rows).toBe(1);
  }
}
