/** `daybook init --backup` as a command: its output, refusals and files; killed at chunks, and resumed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { change, fileOf, newBackup, shortChain } from '../ingest/backup/backup-chain.ts';
import { type ServerManners, serveBackup } from '../ingest/backup/backup-server.ts';
import { framed } from '../ingest/backup/backup-writer.ts';
import { MANY_VALUES, transactionOf } from '../ingest/many-values.ts';
import { someOf } from '../random.ts';
import { namesIn } from '../store/store-files.ts';
import { expectFailure, runCommand, startCommand, temporaryFolder } from './command.ts';

const backup = () =>
  newBackup(
    {
      ...{ epochsPerBackup: 2, keysPerChunk: 50, snapshotEpochs: [1] },
      ...{ transactionsPerBackup: 60, transactionsPerChunk: 20 },
    },
    shortChain(),
  );

const folder = temporaryFolder();
let folders = 0;
/** A folder that does not exist yet. */
function absent(): string {
  folders += 1;
  return join(folder, `ledger-${folders}`);
}

const init = (data: string, from: string, ...more: string[]) =>
  runCommand(['init', '--data', data, '--backup', from, ...more]);

async function digests(data: string): Promise<unknown> {
  const { stdout, code } = await runCommand(['verify', '--data', data, '--json']);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as { columns: unknown }).columns;
}

describe('init --backup', () => {
  it('says what was restored, as text and as JSON', async () => {
    const { folder: from, waypoints } = backup();
    const data = absent();
    const { stdout, stderr, code } = await init(data, from, '--waypoint', waypoints[0]!);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^chain id +4$/m);
    expect(stdout).toContain(`${waypoints[0]} (the one given)`);
    expect(stdout).toMatch(/^epochs +2$/m);
    const json = await init(absent(), from, '--waypoint', waypoints[1]!, '--json');
    expect(JSON.parse(json.stdout)).toEqual({
      chain_id: 4,
      genesis_waypoint: waypoints[0],
      genesis_covered: false,
      epochs: 1,
      ledger_version: expect.stringMatching(/^\d+$/),
      state_version: '1',
      state_root: expect.stringMatching(/^[0-9a-f]{64}$/),
      keys: 278,
      seconds: expect.any(Number),
    });
    const status = await runCommand(['status', '--data', data, '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ chain_id: 4, oldest_ledger_version: '2' });
  });

  it('needs a waypoint, and one source', async () => {
    const { folder: from, waypoints } = backup();
    expect(expectFailure(await init(absent(), from), 2)).toContain('--waypoint');
    const two = await init(absent(), from, '--genesis', 'x', '--waypoint', waypoints[0]!);
    expect(expectFailure(two, 2)).toContain('one of');
    const trust = await init(absent(), from, '--trust', '1:00', '--waypoint', waypoints[0]!);
    expect(expectFailure(trust, 2)).toContain('--trust');
    const nowhere = await init(absent(), '/no/such/backup', '--waypoint', waypoints[0]!);
    expect(expectFailure(nowhere, 1)).toContain('no backup');
  });

  it('leaves nothing of a backup that it refuses', async () => {
    const written = backup();
    const file = fileOf(written, 'state_epoch_1', '/100-.chunk');
    change(written, file, (bytes) => {
      bytes[40]! ^= 1;
      return bytes;
    });
    const data = absent();
    const refused = await init(data, written.folder, '--waypoint', written.waypoints[0]!, '--json');
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { code: 'backup_refused', cause: expect.stringMatching(/^backup_/) },
    });
    expect(refused.stderr).toContain(file);
    expect(namesIn(data)).toEqual(['writer.lock']);
    const other = `0:${'7'.repeat(64)}`;
    const mismatch = await init(data, written.folder, '--waypoint', other, '--json');
    expect(JSON.parse(mismatch.stdout)).toMatchObject({ error: { code: 'waypoint_mismatch' } });
  });

  it('refuses small files of millions of values with little memory', async () => {
    const written = backup();
    const { folder: from, waypoints } = written;
    const environment = { NODE_OPTIONS: '--max-old-space-size=200' };
    const refused = async (start: string, end: string, bytes: Buffer) => {
      const file = fileOf(written, start, end);
      const stored = readFileSync(join(from, file));
      change(written, file, () => bytes);
      const data = absent();
      const args = ['init', '--data', data, '--backup', from, '--waypoint', waypoints[0]!];
      const result = await runCommand([...args, '--json'], { environment });
      expect(result).toMatchObject({ code: 1, signal: null });
      expect(JSON.parse(result.stdout)).toMatchObject({
        error: { code: 'backup_refused', cause: 'backup_malformed' },
      });
      expect(result.stderr).toContain(file);
      expect(namesIn(data).filter((name) => name !== 'writer.lock')).toEqual([]);
      writeFileSync(join(from, file), stored);
    };
    // A raw key and a value, both empty.
    const value = Buffer.of(0, 0, 0, 4, 2, 0, 0, 0);
    const cases: [string, string, () => Buffer][] = [
      ['transaction_1-', '/1-.chunk', () => framed([transactionOf({ args: MANY_VALUES })])],
      ['state_epoch_1', '/0-.chunk', () => Buffer.alloc(MANY_VALUES, value)],
      ['state_epoch_1', '.manifest', () => Buffer.from(`[${'{},'.repeat(20_000_000)}`)],
    ];
    for (const [start, end, make] of someOf(cases, 1)) await refused(start, end, make());
  });

  it('is continued when it was killed, or the storage was away', async () => {
    const { folder: from, waypoints, files } = backup();
    const chunks = files.filter((file) => /^(state|transaction_[1-9]).*chunk$/.test(file));
    expect(chunks.length).toBeGreaterThan(9);
    const whole = absent();
    await init(whole, from, '--waypoint', waypoints[0]!);
    const data = absent();
    for (const [index, chunk] of someOf(chunks, 4).entries()) {
      const manners: ServerManners =
        index % 4 === 0
          ? { lists: 'pages', refuse: (file) => (file === chunk ? 404 : undefined) }
          : { lists: 'pages', hangs: (file) => file === chunk };
      const { url, requests } = await serveBackup(from, manners);
      const child = startCommand([
        ...['init', '--data', data, '--waypoint', waypoints[0]!, '--backup', url.href],
      ]);
      const ended = new Promise((resolve) => child.on('close', resolve));
      if (manners.hangs !== undefined) {
        while (!requests.some(({ file }) => file === chunk) && child.exitCode === null) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        child.kill('SIGKILL');
      }
      await ended;
      expect(namesIn(data), chunk).toContainEqual(expect.stringMatching(/^ledger-.*\.new$/));
    }
    const { code } = await init(data, from, '--waypoint', waypoints[0]!);
    expect(code).toBe(0);
    expect(await digests(data)).toEqual(await digests(whole));
  });
});
