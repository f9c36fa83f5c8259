/**
 * Commands on a store whose files were damaged: a clear line, and never the death of the process.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PAGE_BYTES } from '../../src/store/lmdb/lmdb-file.ts';
import { smallGenesisFile } from '../api/genesis-small.ts';
import { type CommandResult, runCommand, temporaryFolder } from './command.ts';

const folder = temporaryFolder();
const genesis = join(folder, 'small.blob');
const data = join(folder, 'ledger');
let store: Buffer;

beforeAll(async () => {
  writeFileSync(genesis, smallGenesisFile());
  expect((await runCommand(['init', '--data', data, '--genesis', genesis])).code).toBe(0);
  store = readFileSync(join(data, 'data.mdb'));
});

/** A folder whose store has these bytes; its lock file is that of the whole store. */
function damagedFolder(bytes: Buffer): string {
  const damaged = join(folder, 'damaged');
  rmSync(damaged, { recursive: true, force: true });
  mkdirSync(damaged);
  writeFileSync(join(damaged, 'data.mdb'), bytes);
  copyFileSync(join(data, 'lock.mdb'), join(damaged, 'lock.mdb'));
  return damaged;
}

/**
 * Exit code 1 and a last line with what is wrong; the engine may print one of its own before.
 */
function expectRefused(result: CommandResult, text: RegExp): void {
  expect(result).toMatchObject({ code: 1, signal: null, stdout: '' });
  const lines = result.stderr.split('\n');
  expect(lines.length).toBeLessThanOrEqual(3);
  expect(lines.at(-2)).toMatch(text);
}

async function expectAllRefuse(damaged: string, text: RegExp): Promise<void> {
  expectRefused(await runCommand(['status', '--data', damaged]), text);
  expectRefused(await runCommand(['serve', '--data', damaged, '--listen', '127.0.0.1:0']), text);
  expectRefused(await runCommand(['init', '--data', damaged, '--genesis', genesis]), text);
}

describe('a data file', () => {
  it.each<[string, (whole: Buffer) => Buffer, RegExp]>([
    ['of one byte', (whole) => whole.subarray(0, 1), /not a Daybook store/],
    ['of text', () => Buffer.from('hello world\n'.repeat(1000)), /not a Daybook store/],
    ['of zeros', (whole) => Buffer.alloc(whole.length), /not a Daybook store/],
    ['cut within its first page', (whole) => whole.subarray(0, 2000), /is damaged/],
    ['of one page', (whole) => whole.subarray(0, PAGE_BYTES), /is damaged/],
    ['of two pages', (whole) => whole.subarray(0, 2 * PAGE_BYTES), /is damaged/],
    ['cut in half', (whole) => whole.subarray(0, whole.length / 2), /is damaged/],
    [
      'with nothing but zeros behind its two first pages',
      (whole) => Buffer.concat([whole.subarray(0, 2 * PAGE_BYTES)], whole.length),
      /is damaged/,
    ],
  ])('%s is refused by every command', async (_, damage, text) => {
    await expectAllRefuse(damagedFolder(damage(store)), text);
  });

  it('that is empty counts as none', async () => {
    const damaged = damagedFolder(Buffer.alloc(0));
    expectRefused(await runCommand(['status', '--data', damaged]), /there is no ledger in/);
    const made = await runCommand(['init', '--data', damaged, '--genesis', genesis]);
    expect(made).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a lock file', () => {
  it.each([
    ['that is empty', Buffer.alloc(0)],
    ['of text', Buffer.from('hello world\n'.repeat(3000))],
    ['of zeros', Buffer.alloc(32_976)],
  ])('%s does no harm', async (_, bytes) => {
    const damaged = damagedFolder(store);
    writeFileSync(join(damaged, 'lock.mdb'), bytes);
    const result = await runCommand(['status', '--data', damaged, '--json']);
    expect(result).toMatchObject({ code: 0, signal: null, stderr: '' });
  });
});
