/**
 * The program's commands beside a committing node that is killed: each reports the true contents. ATTACK_COMMANDS sets
 * the number of rounds.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from '../../process/command.ts';
import { expectSound, makeSample } from '../../process/ledger-contents.ts';
import { roundsOf } from '../../random.ts';

const ROUNDS = roundsOf('ATTACK_COMMANDS', 1, 6);

afterEach(killLeftNodes);

async function versionOf(node: ServedNode): Promise<bigint> {
  const { ledger_version: version } = (await (await node.get('/')).json()) as Record<
    string,
    string
  >;
  return BigInt(version!);
}

it('status, verify, copy and other nodes beside one that commits', {
  timeout: ROUNDS * 180_000,
}, async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'ledger');
  await makeSample(data, 600);
  const reader = await ServedNode.start(data, ['--workers', '1']);
  for (let round = 0; round < ROUNDS; round += 1) {
    const writer = await ServedNode.start(data, ['--produce', '400', '--workers', '1']);
    const before = await versionOf(writer);
    const copy = join(folder, 'copy');
    const [status, verify, copied, refused] = await Promise.all([
      runCommand(['status', '--data', data, '--json']),
      runCommand(['verify', '--data', data]),
      runCommand(['copy', '--data', data, '--to', copy]),
      runCommand(['serve', '--data', data, '--produce', '1', '--listen', '127.0.0.1:0']),
    ]);
    expect(status).toMatchObject({ code: 0, stderr: '' });
    expect(verify).toMatchObject({ code: 0, stderr: '' });
    expect(copied).toMatchObject({ code: 0, stderr: '' });
    expect(expectFailure(refused, 1)).toContain(
      `is being written by process ${writer.process.pid}`,
    );
    const seen = await versionOf(writer);
    writer.process.kill('SIGKILL');
    await writer.end();
    const { ledger_version: shown } = JSON.parse(status.stdout) as Record<string, string>;
    expect(BigInt(shown!)).toBeGreaterThanOrEqual(before);
    await expectSound(data, seen);
    await expectSound(copy, before);
    expect(await versionOf(reader)).toBeGreaterThanOrEqual(seen);
    rmSync(copy, { recursive: true });
  }
  expect(reader.complaints).toEqual([]);
  await reader.stop();
});
