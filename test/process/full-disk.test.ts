/**
 * A full disk under a writing node: it is reported clearly, reads continue, and writing resumes when there is space.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { hasStore, restoreStore } from '../../src/node/open-store.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { SUBMISSION } from './follow-witness.ts';
import { digestsOf, expectSound, makeBulkLedger, makeSample } from './ledger-contents.ts';
import { canMount, SmallDisk } from './small-disk.ts';
import { until } from './worker-processes.ts';

const TROUBLE = 'following continues after a fault';

/** The log of a node. Between its lines the engine writes some that are not JSON. */
function linesOf(node: ServedNode): () => Record<string, unknown>[] {
  let stderr = '';
  node.process.stderr!.on('data', (text: string) => {
    stderr += text;
  });
  return () => {
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
}

/** The first line with a message, once it has been written. */
async function lineOf(lines: () => Record<string, unknown>[], msg: string) {
  const found = () => lines().find((line) => line['msg'] === msg);
  await until(`${msg}: ${JSON.stringify(lines())}`, () => found() !== undefined);
  return found()!;
}

async function versionOf(node: ServedNode): Promise<bigint> {
  const { headers } = await node.get('/');
  return BigInt(headers.get('x-node-ledger-version')!);
}

/** All four operations respond from the current ledger, with the upstream's bodies. */
async function expectReads(node: ServedNode, upstream: ServedNode, version: bigint) {
  const at = `ledger_version=${version}`;
  for (const path of [
    `/accounts/0x1/module/coin?${at}`,
    `/accounts/${CAFE_HEX}/balance/0x1::aptos_coin::AptosCoin?${at}`,
    `/accounts/${CAFE_HEX}/events/2?start=0&limit=10`,
  ]) {
    const [answer, due] = await Promise.all([node.get(path), upstream.get(path)]);
    expect([answer.status, await answer.text()], path).toEqual([200, await due.text()]);
    expect(answer.headers.get('x-node-ledger-version')).toBe(String(version));
  }
  const encoded = await fetch(`${node.ready.url}/transactions/encode_submission`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: SUBMISSION,
  });
  expect(encoded.status).toBe(200);
  expect(encoded.headers.get('x-node-ledger-version')).toBe(String(version));
}

describe.skipIf(!canMount)('a full disk (needs the right to mount a file system)', () => {
  let disk: SmallDisk | undefined;
  afterEach(async () => {
    killLeftNodes();
    await sleep(200);
    disk?.unmount();
    disk = undefined;
  });

  it('under a sample that the package brings', async () => {
    disk = new SmallDisk(join(temporaryFolder(), 'disk'), '2m');
    const data = join(disk.folder, 'ledger');
    const copied = restoreStore(data, Buffer.alloc(4 * 1024 * 1024), async () => undefined);
    await expect(copied).rejects.toMatchObject({
      ...{ name: 'NodeError', code: 'data_not_usable', cause: { code: 'store_full' } },
      message: expect.stringMatching(/^no room for a ledger: \d+ bytes are free .*make room/),
    });
    expect(await hasStore(data)).toBe(false);
  });

  it('under a node that produces', async () => {
    disk = new SmallDisk(join(temporaryFolder(), 'disk'), '24m');
    const data = join(disk.folder, 'ledger');
    await makeSample(data, 600);
    const filler = join(disk.folder, 'filler');
    writeFileSync(filler, Buffer.alloc(15 * 1024 * 1024));
    const node = await ServedNode.start(data, ['--workers', '1', '--produce', '1000']);
    const lines = linesOf(node);
    const full = await lineOf(lines, 'producing waits: the disk is full');
    expect(full).toMatchObject({ level: 50, err: { code: 'store_full' } });
    const stuck = await versionOf(node);
    expect((await node.get('/accounts/0x1/module/coin')).status).toBe(200);
    await expectSound(data, stuck);
    rmSync(filler);
    await lineOf(lines, 'producing continues: there is space again');
    let later = stuck;
    await until('it produces', async () => {
      later = await versionOf(node);
      return later > stuck;
    });
    expect((await node.stop()).code).toBe(0);
    await expectSound(data, later);
  });

  it('under a node that follows', async () => {
    const folder = temporaryFolder();
    const source = join(folder, 'source');
    await makeBulkLedger(source, 5_000);
    const upstream = await ServedNode.start(source);
    const newest = BigInt(upstream.ready.ledger_version);
    disk = new SmallDisk(join(folder, 'disk'), '6m');
    const data = join(disk.folder, 'ledger');
    const node = await ServedNode.start(data, ['--follow', upstream.ready.url, '--workers', '2']);
    const lines = linesOf(node);
    const full = await lineOf(lines, TROUBLE);
    expect(full).toMatchObject({
      level: 40,
      err: { code: 'store_full', message: expect.stringMatching(/make room and try again/) },
    });
    const stuck = await versionOf(node);
    expect(stuck).toBeLessThan(newest);
    await expectReads(node, upstream, stuck);
    await expectSound(data, stuck);
    // It stays full for some attempts.
    const troubles = () => lines().filter(({ msg }) => msg === TROUBLE);
    await until('it tries again', () => troubles().length >= 3);
    await expectReads(node, upstream, stuck);
    disk.resize('400m');
    await until('it resumes', async () => (await versionOf(node)) === newest);
    for (const { err } of troubles()) expect(err).toMatchObject({ code: 'store_full' });
    expect(lines().filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect((await node.stop()).code).toBe(0);
    expect(await digestsOf(data)).toEqual(await digestsOf(source));
  });
});
