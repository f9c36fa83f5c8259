/** Snapshots between nodes: offered, downloaded, and used to start a replica. */
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointUpTo } from '../../src/ingest/checkpoint.ts';
import { openView } from '../../src/store/read/view.ts';
import { openSqliteReader } from '../../src/store/sqlite/sqlite-store.ts';
import { filesOf } from '../ingest/backup/snapshots.ts';
import { randomSource, roundsOf, testSeed } from '../random.ts';
import { storeReferenceChain } from '../reference/reference-chain.ts';
import { namesIn, STORE_FILES } from '../store/store-files.ts';
import {
  endOf,
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';
import { digestsOf, expectSound } from './ledger-contents.ts';

/** Creating the ledgers takes seconds, and many times that on a busy machine. */
const HOOK_TIMEOUT_MS = 600_000;
const KILLS = roundsOf('KILLS', 3, 30);
/** A command may have hardly begun, or have loaded some chunks. */
const LONGEST_LIFE_MS = 2_500;

const folder = temporaryFolder();
const source = join(folder, 'source');
const offered = join(folder, 'offered');
/** Version of the state in the newer snapshot. */
let version: string;
let newestVersion: string;
let node: ServedNode;

async function done(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCommand([...args, '--json']);
  expect([code, stderr, code === 0 ? '' : stdout]).toEqual([0, expect.anything(), '']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

beforeAll(async () => {
  const half = join(folder, 'half');
  await storeReferenceChain(source);
  await storeReferenceChain(half, 1_200);
  mkdirSync(offered);
  const store = openSqliteReader({ directory: half });
  const view = await openView(store);
  const [older, newer] = [await checkpointUpTo(view, 400n), await checkpointUpTo(view, 800n)];
  await store.close();
  const snapshot = (name: string) => ['snapshot', '--data', half, '--out', join(offered, name)];
  await done(...snapshot('old'), '--version', String(older!.version));
  version = String(newer!.version);
  const facts = await done(...snapshot('new.2'), '--version', version, '--with-transactions');
  newestVersion = String(facts['newest_version']);
  // Other contents of the folder.
  writeFileSync(join(offered, 'letter.txt'), 'dear');
  mkdirSync(join(offered, 'half.unfinished'));
  mkdirSync(join(offered, 'odd', 'metadata'), { recursive: true });
  writeFileSync(join(offered, 'odd', 'metadata', 'odd.meta'), '{"Other":{}}\n');
  node = await ServedNode.start(source, ['--snapshots', offered]);
}, HOOK_TIMEOUT_MS);
afterAll(killLeftNodes);

describe('GET /v1/-/snapshots', () => {
  it('lists the snapshots of the folder, the newest first', async () => {
    const answer = await node.get('/-/snapshots');
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      [
        { name: 'new.2', chain_id: 4, version, newest_version: newestVersion },
        { name: 'old', chain_id: 4 },
      ],
    ]);
  });

  it('has their files, and nothing else', async () => {
    const old = join(offered, 'old');
    for (const name of filesOf(old)) {
      const file = await node.get(`/-/snapshots/old/${name}`);
      const bytes = Buffer.from(await file.arrayBuffer());
      expect(bytes.equals(readFileSync(join(old, name))), name).toBe(true);
    }
    const page = await node.get('/-/snapshots/old/metadata/');
    expect(page.headers.get('content-type')).toContain('text/html');
    const [meta] = filesOf(old).filter((name) => name.startsWith('metadata/'));
    const name = meta!.slice('metadata/'.length);
    expect(await page.text()).toBe(`<a href="${name}">${name}</a>\n`);
    for (const path of [
      ...['old/metadata/none.meta', `none/${meta}`, 'none/metadata/', 'old/letter.txt', 'old'],
      ...[`..%2Foffered/${meta}`, `%2e%2e/offered/${meta}`, `old/..%2Fold%2F${meta}`],
      ...['half.unfinished/metadata/', `old/${meta}%00`, 'letter.txt/metadata/', 'old/metadata'],
    ]) {
      expect([path, (await node.get(`/-/snapshots/${path}`)).status]).toEqual([path, 404]);
    }
  });

  it('is empty where nothing is offered; a folder that is absent is refused', async () => {
    const other = await ServedNode.start(source);
    expect(await (await other.get('/-/snapshots')).json()).toEqual([]);
    expect((await other.get('/-/snapshots/old/metadata/')).status).toBe(404);
    await other.stop();
    const refused = await runCommand([
      'serve',
      '--data',
      source,
      '--snapshots',
      join(folder, 'no'),
    ]);
    expect(expectFailure(refused, 2)).toContain('there is no folder');
  });
});

describe('init --snapshot URL', () => {
  const url = (name: string) => `${node.ready.url}/-/snapshots/${name}`;

  it('makes the same ledger as the folder', async () => {
    const [near, far] = [join(folder, 'near'), join(folder, 'far')];
    const facts = await done('init', '--data', near, '--snapshot', join(offered, 'new.2'));
    const { seconds: _, ...same } = facts;
    const trust = `${version}:${same['accumulator_root']}`;
    const fetched = await done('init', '--data', far, '--snapshot', url('new.2'), '--trust', trust);
    expect(fetched).toMatchObject({ ...same, trust_compared: true });
    expect(await digestsOf(far)).toEqual(await digestsOf(near));
    await expectSound(far, BigInt(newestVersion));
  });

  it(`killed ${KILLS} times, it goes on`, { timeout: 600_000 }, async () => {
    const random = randomSource(testSeed());
    const data = join(folder, 'killed');
    const init = ['init', '--data', data, '--snapshot', url('new.2')];
    const whole = await digestsOf(join(folder, 'near'));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = startCommand(init);
      const ended = endOf(child);
      await sleep(random() * LONGEST_LIFE_MS);
      child.kill('SIGKILL');
      await ended;
      if (existsSync(join(data, 'ledger.db'))) {
        expect(await digestsOf(data)).toEqual(whole);
        rmSync(data, { recursive: true });
      }
    }
    await done(...init);
    expect(await digestsOf(data)).toEqual(whole);
    expect(namesIn(data)).toEqual(STORE_FILES);
  });

  it('that is no snapshot, damaged, or of another history: no ledger', async () => {
    const lying = join(offered, 'lying');
    cpSync(join(offered, 'old'), lying, { recursive: true });
    const chunk = filesOf(lying).find((name) => name.endsWith('/0-.chunk'))!;
    rmSync(join(lying, chunk));
    const at = join(folder, 'refused');
    const cases: [string[], RegExp, number][] = [
      [[url('none')], /has no metadata files, or cannot be listed/, 1],
      [[`${node.ready.url}/`], /has no metadata files, or cannot be listed/, 1],
      [[url('lying')], /state_epoch_.*\/0-\.chunk: the server answers with 404/, 1],
      [['http://user:s3cr3t@host/'], /must have no query, fragment, user or password/, 2],
      [[url('old'), '--trust', `7:${'0'.repeat(64)}`], /a root of version 7 cannot be compared/, 1],
      [[url('old'), '--waypoint', `0:${'1'.repeat(64)}`], /it states genesis waypoint 0:/, 1],
    ];
    for (const [args, text, code] of cases) {
      const result = await runCommand(['init', '--data', at, '--snapshot', ...args]);
      expect(expectFailure(result, code as 1)).toMatch(text);
      expect(result.stderr).not.toContain('s3cr3t');
      expect(existsSync(join(at, 'ledger.db'))).toBe(false);
    }
    rmSync(lying, { recursive: true });
  });
});

describe('serve --follow --bootstrap', () => {
  it('begins with the newest snapshot, follows, and goes on without it later', async () => {
    const data = join(folder, 'replica');
    const follow = ['--follow', node.ready.url, '--bootstrap'];
    const replica = await ServedNode.start(data, follow);
    const begun = replica.log.find(({ msg }) => msg === 'the ledger begins with the snapshot');
    expect(begun).toMatchObject({ state_version: version, version: newestVersion });
    const newest = async () => (await replica.get('/')).headers.get('x-node-ledger-version');
    await expect.poll(newest, { timeout: 60_000 }).toBe(node.ready.ledger_version);
    for (const asked of [BigInt(version) + 1n, node.ready.ledger_version]) {
      const path = `/transactions/by_version/${asked}`;
      expect(await (await replica.get(path)).text()).toBe(await (await node.get(path)).text());
    }
    expect((await replica.get('/transactions/by_version/7')).status).toBe(410);
    expect((await replica.stop()).code).toBe(0);
    const again = await ServedNode.start(data, follow);
    expect(again.log.some(({ msg }) => msg === 'loading a snapshot')).toBe(false);
    expect((await again.stop()).code).toBe(0);
    await expectSound(data, BigInt(node.ready.ledger_version));
  });

  it('with nothing to begin with says so, and leaves nothing', async () => {
    const none = await ServedNode.start(source);
    const data = join(folder, 'nothing');
    const serve = ['serve', '--data', data, '--listen', '127.0.0.1:0', '--bootstrap'];
    const refused = await runCommand([...serve, '--follow', none.ready.url]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('offers no snapshot: start without --bootstrap');
    expect(existsSync(data)).toBe(false);
    await none.stop();
    const page = createServer((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in</html>'),
    ).listen(0, '127.0.0.1');
    await once(page, 'listening');
    const port = (page.address() as AddressInfo).port;
    const odd = await runCommand([...serve, '--follow', `http://127.0.0.1:${port}`]);
    expect([odd.code, odd.stderr]).toEqual([1, expect.stringContaining('answers with a page')]);
    page.close();
    page.closeAllConnections();
    const alone = await runCommand(serve);
    expect(expectFailure(alone, 2)).toContain('--bootstrap needs --follow');
    const waypoint = `0:${'1'.repeat(64)}`;
    const other = await runCommand([...serve, '--follow', node.ready.url, '--waypoint', waypoint]);
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('genesis waypoint')]);
    expect(existsSync(data)).toBe(false);
  });
});
