/** `daybook copy`: a copy of one moment while a node produces and prunes; either complete, or no ledger at all. */
import { cpSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
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
import { digestsOf, expectSound, makeSample } from './ledger-contents.ts';
import { canMount, SmallDisk } from './small-disk.ts';
import { until } from './worker-processes.ts';

interface CopyFacts {
  readonly ledger_version: string;
  readonly oldest_ledger_version: string;
  readonly source_bytes: number;
  readonly copy_bytes: number;
}

/** Smaller than a copy. */
const DISK_BYTES = 2 * 1024 * 1024;
const folder = temporaryFolder();
const source = join(folder, 'source');
let digests: Record<string, string>;

async function copied(data: string, to: string): Promise<CopyFacts> {
  const { code, stdout, stderr } = await runCommand(['copy', '--data', data, '--to', to, '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as CopyFacts;
}

/** Unused pages of a store's file. */
function freePages(data: string): number {
  const database = new DatabaseSync(join(data, 'ledger.db'), { readOnly: true });
  const { freelist_count: pages } = database.prepare('pragma freelist_count').get();
  database.close();
  return Number(pages);
}

async function versionsOf(node: ServedNode): Promise<{ newest: bigint; oldest: bigint }> {
  const { headers } = await node.get('/');
  const version = (name: string) => BigInt(headers.get(`x-node-ledger-${name}`)!);
  return { newest: version('version'), oldest: version('oldest-version') };
}

beforeAll(async () => {
  await makeSample(source, 1_200);
  digests = await digestsOf(source);
});
afterEach(killLeftNodes);

it('equals its source, row for row, and has no free pages', async () => {
  const to = join(folder, 'deep', 'copy');
  const facts = await copied(source, to);
  expect(namesIn(to)).toEqual(STORE_FILES);
  expect(facts.source_bytes).toBe(statSync(join(source, 'ledger.db')).size);
  expect(facts.copy_bytes).toBe(statSync(join(to, 'ledger.db')).size);
  expect(freePages(to)).toBe(0);
  expect(await digestsOf(to)).toEqual(digests);
  const again = await runCommand(['copy', '--data', to, '--to', source]);
  expect(expectFailure(again, 1)).toContain(`${source} holds a ledger already`);
});

it('of a pruned ledger is small', async () => {
  const data = join(folder, 'pruned');
  cpSync(source, data, { recursive: true });
  const prune = ['prune', '--data', data, '--keep', '100', '--grace-seconds', '0'];
  expect((await runCommand(prune)).code).toBe(0);
  expect(freePages(data)).toBeGreaterThan(0);
  const facts = await copied(data, join(folder, 'pruned-copy'));
  expect(freePages(join(folder, 'pruned-copy'))).toBe(0);
  expect(facts.copy_bytes).toBeLessThan(facts.source_bytes / 2);
});

it('while a node produces and prunes: one moment of its ledger, which others may write', async () => {
  const data = join(folder, 'growing');
  const unpruned = join(folder, 'unpruned');
  cpSync(source, data, { recursive: true });
  cpSync(source, unpruned, { recursive: true });
  const keep = ['--keep', '400', '--prune-grace-seconds', '1'];
  const node = await ServedNode.start(data, ['--produce', '100', ...keep]);
  // Has the same transactions, and prunes none.
  const other = await ServedNode.start(unpruned, ['--follow', node.ready.url]);
  await until('it prunes', async () => (await versionsOf(node)).oldest > 0n);
  const to = join(folder, 'growing-copy');
  const before = await versionsOf(node);
  const facts = await copied(data, to);
  const [newest, oldest] = [BigInt(facts.ledger_version), BigInt(facts.oldest_ledger_version)];
  expect(newest).toBeGreaterThanOrEqual(before.newest);
  expect(oldest).toBeGreaterThanOrEqual(before.oldest);
  const verified = await runCommand(['verify', '--data', to]);
  expect(verified).toMatchObject({ code: 0, stderr: '' });
  // The node still writes to its ledger. The copy can be written too, because it has its own lock.
  const prune = ['prune', '--keep', String(newest - oldest + 1n), '--grace-seconds', '0'];
  expect(await runCommand([...prune, '--data', to])).toMatchObject({ code: 0 });
  await until('it is there', async () => (await versionsOf(other)).newest >= newest);
  expect((await node.stop()).code).toBe(0);
  await expectSound(data, newest);
  const expected = join(folder, 'expected');
  const follow = ['follow', '--data', expected, '--from', other.ready.url];
  expect((await runCommand([...follow, '--until', String(newest)])).code).toBe(0);
  expect(await runCommand([...prune, '--data', expected])).toMatchObject({ code: 0 });
  expect(await digestsOf(to)).toEqual(await digestsOf(expected));
});

describe('what is cut off or refused', () => {
  it('killed in the middle: no ledger, and the next copy is whole', async () => {
    const to = join(folder, 'killed');
    const hasBegun = () => namesIn(to).some((name) => name.endsWith('.new'));
    for (let isCut = false; !isCut; ) {
      // A copy that finished before the kill has left a ledger.
      rmSync(to, { recursive: true, force: true });
      const child = startCommand(['copy', '--data', source, '--to', to]);
      const ended = endOf(child);
      while (!hasBegun() && child.exitCode === null) await sleep(0);
      child.kill('SIGKILL');
      isCut = (await ended).signal === 'SIGKILL';
    }
    const status = await runCommand(['status', '--data', to]);
    expect(expectFailure(status, 1)).toContain(`there is no ledger in ${to}: a command that was`);
    await copied(source, to);
    expect(namesIn(to)).toEqual(STORE_FILES);
    expect(await digestsOf(to)).toEqual(digests);
  });

  it('no ledger to copy, or a folder of something else', async () => {
    const none = join(folder, 'none');
    const to = join(folder, 'of-none');
    const absent = await runCommand(['copy', '--data', none, '--to', to]);
    expect(expectFailure(absent, 1)).toContain(`there is no ledger in ${none}`);
    expect(existsSync(to)).toBe(false);
    const used = join(folder, 'used');
    mkdirSync(used);
    writeFileSync(join(used, 'letter.txt'), 'dear');
    const refused = await runCommand(['copy', '--data', source, '--to', used]);
    expect(expectFailure(refused, 1)).toContain(`${used} is not empty (it holds letter.txt)`);
  });

  it('into no folder, what is no folder, and beside another’s files', async () => {
    for (const to of ['', 'postgres:/me:s3cr3t@host/db', 'postgre://me:s3cr3t@host/db']) {
      const refused = await runCommand(['copy', '--data', source, '--to', to]);
      const text = expectFailure(refused, 2);
      expect(text).toContain('the location of the ledger is');
      expect(text).not.toContain('s3cr3t');
    }
    // A name like those of unfinished stores.
    const letter = join(folder, 'others', 'ledger-letter.new');
    mkdirSync(dirname(letter), { recursive: true });
    writeFileSync(letter, 'dear');
    const refused = await runCommand(['copy', '--data', source, '--to', join(folder, 'others')]);
    expect(expectFailure(refused, 1)).toContain('is not empty (it holds ledger-letter.new)');
    expect(existsSync(letter)).toBe(true);
  });

  describe.skipIf(!canMount)('a full disk (needs the right to mount a file system)', () => {
    let disk: SmallDisk | undefined;
    afterAll(() => disk?.unmount());

    it('is said before the copy begins, and when it fills meanwhile; nothing is left', async () => {
      disk = new SmallDisk(join(folder, 'disk'), String(DISK_BYTES));
      const to = join(disk.folder, 'copy');
      const copy = async () => {
        const { code, stdout } = await runCommand([
          ...['copy', '--data', source, '--to', to, '--json'],
        ]);
        expect(code).toBe(1);
        expect(namesIn(to)).toEqual(['writer.lock']);
        const { error } = JSON.parse(stdout) as { error: { cause: string; message: string } };
        expect(error.cause).toBe('store_full');
        const [, needed, free] = /copy of (\d+) bytes: (\d+) are free/.exec(error.message)!;
        return { neededBytes: Number(needed), freeBytes: Number(free) };
      };
      const small = await copy();
      expect(small.freeBytes).toBeLessThan(small.neededBytes);
      // Just enough for the columns, but not for the rest of the file.
      disk.resize(String(DISK_BYTES + small.neededBytes - small.freeBytes));
      const tight = await copy();
      expect(tight.freeBytes).toBeGreaterThanOrEqual(tight.neededBytes);
      disk.resize('64m');
      await copied(source, to);
      expect(await digestsOf(to)).toEqual(digests);
    });
  });
});
