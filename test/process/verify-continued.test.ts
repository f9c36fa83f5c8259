/** `daybook verify --progress FILE` with the real program: it resumes a run, and refuses files of anything else. */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStoreReader } from '../../src/node/open-store.ts';
import { RunFile } from '../../src/node/verification/run-file.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import type { SavedRun } from '../../src/verify/saved-run.ts';
import { NO_POSTGRES } from '../postgres/cluster.ts';
import { newPostgresLocation } from '../postgres/shared.ts';
import { expectFailure, runCommand, temporaryFolder } from './command.ts';

const folder = temporaryFolder();
const file = join(folder, 'progress');

/** Leaves the file of a run that was killed after `saves` saves. */
async function cutOffAt(data: string, saves: number): Promise<void> {
  const store = await openStoreReader(data);
  const saved = new RunFile(file, data);
  let left = saves;
  const onSave = (run: SavedRun): void => {
    if (left <= 0) return;
    saved.write(run);
    left -= 1;
    if (left === 0) throw new Error('killed');
  };
  const run = verifyLedger(store, { saving: { run: undefined, intervalMs: 0, onSave } });
  await expect(run).rejects.toThrow('killed');
  await store.close();
}

async function makeSample(data: string): Promise<void> {
  const args = ['--transactions', '400', '--accounts', '40', '--seed', '3'];
  expect((await runCommand(['sample', '--data', data, ...args])).code).toBe(0);
}

/** Without the line that says where it resumed. */
function withoutLine(text: string): string {
  const lines = text.split('\n');
  const [line, ...more] = lines.filter((one) => one.startsWith('continued from'));
  expect(line).toMatch(/^continued from +version \d+, [a-z_ ]+$/);
  expect(more).toEqual([]);
  return lines.filter((one) => one !== line).join('\n');
}

describe('verify --progress', () => {
  const data = join(folder, 'ledger');
  const verify = (...args: string[]) => runCommand(['verify', '--data', data, ...args]);
  const cutOff = (saves: number) => cutOffAt(data, saves);

  beforeAll(() => makeSample(data));

  it('begins without a file, and leaves none', async () => {
    const plain = await verify();
    expect(await verify('--progress', file)).toEqual(plain);
    expect(existsSync(file)).toBe(false);
  });

  it.each([1, 5, 9])(
    'prints what a run prints that was not killed after save %i',
    async (saves) => {
      const plain = await verify();
      await cutOff(saves);
      const { stdout, ...others } = await verify('--progress', file);
      expect({ ...others, stdout: withoutLine(stdout) }).toEqual(plain);
      expect(existsSync(file)).toBe(false);
    },
  );

  it('says in JSON where it was continued', async () => {
    await cutOff(5);
    const { stdout } = await verify('--progress', file, '--json');
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ holds: true, later_versions: '0' });
    expect(report.continued_from).toEqual({
      version: expect.any(String),
      step: expect.any(String),
    });
  });

  it('refuses a file that is torn, changed, or of something else, and leaves it', async () => {
    await cutOff(5);
    const whole = readFileSync(file);
    const changed = Buffer.from(whole);
    changed[whole.length - 20]! ^= 1;
    for (const bytes of [
      ...[0, 1, 17, 48, 49, whole.length >> 1, whole.length - 1].map((end) =>
        whole.subarray(0, end),
      ),
      Buffer.concat([whole, Buffer.of(0)]),
      changed,
      Buffer.from('{"subject":{"program":"0.1.0"},"done":[]}\n'),
    ]) {
      writeFileSync(file, bytes);
      const message = expectFailure(await verify('--progress', file), 2);
      expect(message).toMatch(/cannot be continued: it is (?:damaged|not of this command)/);
      expect(message).toContain('delete it to begin from the start');
      expect(readFileSync(file).equals(bytes)).toBe(true);
    }
  });

  it('refuses the file of a copy of the ledger, and of another command', async () => {
    await cutOff(5);
    const copy = join(folder, 'copy');
    cpSync(data, copy, { recursive: true });
    const ofCopy = await runCommand(['verify', '--data', copy, '--progress', file]);
    expect(expectFailure(ofCopy, 2)).toContain('it is of another ledger');
    const repair = await verify('--repair', '--from', 'http://127.0.0.1:1', '--progress', file);
    expect(expectFailure(repair, 2)).toContain('a repair is not continued');
  });

  it('refuses the file when a copy has taken the place of the ledger', async () => {
    await cutOff(5);
    const copy = join(folder, 'copy-in-place');
    cpSync(data, copy, { recursive: true });
    rmSync(data, { recursive: true });
    cpSync(copy, data, { recursive: true });
    expect(expectFailure(await verify('--progress', file), 2)).toContain('it is of another ledger');
  });

  it('says that it cannot write its file', async () => {
    const nowhere = join(folder, 'nowhere', 'progress');
    expect(expectFailure(await verify('--progress', nowhere), 1)).toContain('cannot write');
  });
});

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}verify --progress in PostgreSQL`, () => {
  it('continues a run, but not that of another place', { timeout: 300_000 }, async () => {
    const [data, other] = [await newPostgresLocation(), await newPostgresLocation()];
    for (const location of [data, other]) await makeSample(location);
    const plain = await runCommand(['verify', '--data', data]);
    await cutOffAt(data, 5);
    const ofOther = await runCommand(['verify', '--data', other, '--progress', file]);
    expect(expectFailure(ofOther, 2)).toContain('it is of another ledger');
    const { stdout, ...others } = await runCommand(['verify', '--data', data, '--progress', file]);
    expect({ ...others, stdout: withoutLine(stdout) }).toEqual(plain);
  });
});
