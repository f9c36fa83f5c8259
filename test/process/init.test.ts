/** `daybook init` as a command on a small handmade genesis: its output, refusals and files. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_GENESIS_BYTES, readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { formatWaypoint } from '../../src/move/transactions/waypoint.ts';
import { SMALL_CHAIN_ID, SMALL_COUNTS, smallGenesisFile } from '../api/genesis-small.ts';
import { expectFailure, runCommand, temporaryFolder } from './command.ts';

const folder = temporaryFolder();
const genesis = join(folder, 'small.blob');
const file = smallGenesisFile();
const waypoint = formatWaypoint(computeGenesisHashes(readGenesis(file)).waypoint);
const otherWaypoint = `0:${'7'.repeat(64)}`;
writeFileSync(genesis, file);

let folders = 0;
/** A folder that does not exist yet. */
function absent(): string {
  folders += 1;
  return join(folder, `ledger-${folders}`);
}

/** A file of the temporary folder with this content. */
function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function init(data: string, ...more: string[]) {
  return runCommand(['init', '--data', data, '--genesis', genesis, ...more]);
}

describe('what init prints', () => {
  const { modules, resources, groups, tableItems, events } = SMALL_COUNTS;

  it('text, with a waypoint', async () => {
    expect(await init(absent(), '--waypoint', waypoint)).toEqual({
      code: 0,
      signal: null,
      stderr: '',
      stdout:
        `chain id        ${SMALL_CHAIN_ID}\n` +
        `waypoint        ${waypoint} (equal to the waypoint given)\n` +
        `modules         ${modules}\nresources       ${resources}\nresource groups ${groups}\n` +
        `table items     ${tableItems}\nevents          ${events}\n`,
    });
  });

  it('text, without: that nothing was compared', async () => {
    const { code, stdout } = await init(absent());
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`${waypoint} (nothing was compared`),
    ]);
  });

  it.each([true, false])('one JSON object, waypoint given: %s', async (isGiven) => {
    const given = isGiven ? ['--waypoint', waypoint] : [];
    const { code, stdout, stderr } = await init(absent(), '--json', ...given);
    expect([code, stderr, stdout.split('\n').length]).toEqual([0, '', 2]);
    expect(JSON.parse(stdout)).toEqual({
      chain_id: SMALL_CHAIN_ID,
      waypoint,
      waypoint_compared: isGiven,
      modules,
      resources,
      resource_groups: groups,
      table_items: tableItems,
      events,
    });
  });

  it.each([
    ['a file', `${waypoint}`],
    ['a file that ends in a newline', `${waypoint}\n`],
  ])('takes the waypoint from %s', async (_, content) => {
    const { code, stdout } = await init(absent(), '--waypoint', fileOf('waypoint.txt', content));
    expect([code, stdout]).toEqual([0, expect.stringContaining('equal to the waypoint given')]);
  });
});

describe('waypoints that init refuses', () => {
  it('another one: both are shown and nothing is stored', async () => {
    const data = absent();
    const line = expectFailure(await init(data, '--waypoint', otherWaypoint), 1);
    expect(line).toBe(
      `the genesis has waypoint ${waypoint}, not ${otherWaypoint}; nothing was stored`,
    );
    expect(existsSync(data)).toBe(false);
  });

  it('one of a later version', async () => {
    const later = waypoint.replace('0:', '1638030465:');
    const line = expectFailure(await init(absent(), '--waypoint', later), 1);
    expect(line).toContain(`${later} is of version 1638030465`);
    expect(line).toContain(waypoint);
  });

  it.each(['0:', '0:77', `${otherWaypoint}00`, `0:${'g'.repeat(64)}`, `1e3:${'7'.repeat(64)}`])(
    'no waypoint, %s: wrong usage',
    async (text) => {
      const result = await init(absent(), '--waypoint', text);
      const isText = /^\d+:/.test(text);
      expect(expectFailure(result, isText ? 2 : 1)).toContain(text);
    },
  );

  it.each([
    ['an absent file', () => join(folder, 'no-waypoint.txt'), /ENOENT/],
    ['a file that holds none', () => fileOf('bad.txt', 'hello'), /not a waypoint/],
    ['an empty file', () => fileOf('empty.txt', ''), /not a waypoint/],
    ['a file that is too long', () => fileOf('long.txt', '0'.repeat(4097)), /more than 4096 bytes/],
    ['a file of control characters', () => fileOf('control.txt', '\x1b[2J\n\n'), /not a waypoint/],
  ])('%s', async (_, path, text) => {
    expect(expectFailure(await init(absent(), '--waypoint', path()), 1)).toMatch(text);
  });
});

describe('files that are no genesis', () => {
  it.each<[string, () => string, RegExp]>([
    ['absent', () => join(folder, 'none.blob'), /cannot read genesis file .*ENOENT/],
    ['a folder', () => folder, /cannot read genesis file .*EISDIR/],
    ['empty', () => fileOf('empty.blob', ''), /the genesis file is empty/],
    ['cut', () => fileOf('cut.blob', file.subarray(0, 700)), /does not decode: .* at byte \d+/],
    [
      'with a byte more',
      () => fileOf('more.blob', Buffer.concat([file, file])),
      /goes on after the genesis/,
    ],
    ['text', () => fileOf('text.blob', 'version https://git-lfs'), /not a genesis: .* at byte 0/],
    ['without an end', () => '/dev/zero', /has more than 16777216 bytes/],
    ['nowhere', () => '/dev/null', /the genesis file is empty/],
  ])('%s', async (_, path, text) => {
    const data = absent();
    const result = await runCommand(['init', '--data', data, '--genesis', path()]);
    expect(expectFailure(result, 1)).toMatch(text);
    expect(existsSync(data)).toBe(false);
  });

  it('too large by a byte, and none by content at the limit', async () => {
    const path = fileOf('large.blob', '');
    for (const [bytes, text] of [
      [MAX_GENESIS_BYTES - 1, 'not a genesis'],
      [MAX_GENESIS_BYTES, 'not a genesis'],
      [MAX_GENESIS_BYTES + 1, 'more than 16777216 bytes'],
    ] as const) {
      truncateSync(path, bytes);
      const result = await runCommand(['init', '--data', absent(), '--genesis', path]);
      expect(expectFailure(result, 1)).toContain(text);
    }
  });
});

describe('folders that init refuses', () => {
  it('one with other files in it, which stay', async () => {
    const data = absent();
    mkdirSync(data);
    writeFileSync(join(data, 'letter.txt'), 'dear');
    expect(expectFailure(await init(data), 1)).toContain('is not empty (it holds letter.txt)');
    expect(readdirSync(data)).toEqual(['letter.txt']);
  });

  it('one with a ledger in it, which stays', async () => {
    const data = absent();
    await init(data);
    const before = readFileSync(join(data, 'ledger.db'));
    for (const again of [['--waypoint', waypoint], []]) {
      expect(expectFailure(await init(data, ...again), 1)).toContain('holds a ledger already');
    }
    const { stdout } = await runCommand(['status', '--data', data, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ chain_id: SMALL_CHAIN_ID, ledger_version: '0' });
    expect(readFileSync(join(data, 'ledger.db')).length).toBe(before.length);
  });

  it('one that is a file, or is below one', async () => {
    for (const data of [genesis, join(genesis, 'ledger')]) {
      expect(expectFailure(await init(data), 1)).toMatch(/ENOTDIR/);
    }
    expect(readFileSync(genesis)).toEqual(file);
  });

  it('an empty one is taken, with parents that are not there made', async () => {
    const data = absent();
    mkdirSync(data);
    expect((await init(data)).code).toBe(0);
    expect((await init(join(absent(), 'a', 'b'))).code).toBe(0);
  });
});
