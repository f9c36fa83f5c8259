/**
 * `daybook verify` with the real program: digests and exit codes, a ledger damaged row by row, and data files that were
 * truncated or filled with garbage. SEED repeats a run.
 */
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { STATE } from '../../src/store/columns/columns.ts';
import { columnDigest } from '../../src/store/read/digest.ts';
import { openSqliteReader, openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { randomSource, testSeed } from '../random.ts';
import { expectFailure, runCommand, temporaryFolder } from './command.ts';

const PAGE_BYTES = 4096;

describe('verify', () => {
  const random = randomSource(testSeed());
  const below = (most: number) => Math.floor(random() * most);
  const folder = temporaryFolder();
  const data = join(folder, 'ledger');

  beforeAll(async () => {
    const args = ['--transactions', '400', '--accounts', '40', '--seed', '3'];
    expect((await runCommand(['sample', '--data', data, ...args])).code).toBe(0);
  });

  it('prints rows and a digest of every column, and exits 0', async () => {
    const { code, stdout, stderr } = await runCommand(['verify', '--data', data]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const store = openSqliteReader({ directory: data });
    for (const { column } of await store.statistics()) {
      const { rows, digest } = await columnDigest(store, column);
      const line = new RegExp(`^${column.name} +${rows}  ${digest.toString('hex')}$`, 'm');
      expect(stdout).toMatch(line);
    }
    await store.close();
    expect(stdout).toMatch(/everything holds\n$/);
    const json = await runCommand(['verify', '--data', data, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ holds: true, damage_count: 0, damages: [] });
  });

  it('two ledgers of one seed have the same digests', async () => {
    const twin = join(folder, 'twin');
    const args = ['--transactions', '400', '--accounts', '40', '--seed', '3'];
    await runCommand(['sample', '--data', twin, ...args]);
    const digests = async (of: string) => {
      const report = JSON.parse((await runCommand(['verify', '--data', of, '--json'])).stdout);
      return report.columns;
    };
    expect(await digests(twin)).toEqual(await digests(data));
  });

  it('names a damaged row by column, key and version, and exits 1', async () => {
    const damaged = join(folder, 'row');
    cpSync(data, damaged, { recursive: true });
    const store = await openSqliteStore({ directory: damaged });
    const rows = await store.scan(STATE, { maxRows: 1_000, maxBytes: 1e9 });
    const { partition, order, value } = rows[below(rows.length)]!;
    value[value.length - 1]! ^= 1;
    await store.commit(new Batch().put(STATE, partition, order, value));
    await store.close();
    const { code, stdout, stderr } = await runCommand(['verify', '--data', damaged]);
    const key = `${partition.toString('hex')}/${order.toString('hex')}`;
    const version = order.readBigUInt64BE();
    expect(code).toBe(1);
    const where = `column state, key ${key}, version ${version}: `;
    expect(stdout).toContain(`damaged: ${where}`);
    expect(stderr).toMatch(/^daybook: the ledger in .* is damaged in 1 place, first in [^\n]+\n$/);
    expect(stderr).toContain(where);
    expect(stderr).toContain('put a good copy of the folder in its place');
  });

  it('says that there is no ledger', async () => {
    const result = await runCommand(['verify', '--data', join(folder, 'nowhere')]);
    expect(expectFailure(result, 1)).toContain('there is no ledger');
  });

  it('a data file that was cut off is named, whatever is missing', async () => {
    const cut = join(folder, 'cut');
    mkdirSync(cut);
    const file = join(cut, 'ledger.db');
    const { length } = readFileSync(join(data, 'ledger.db'));
    for (const bytes of [1, 100, PAGE_BYTES, 2 * PAGE_BYTES, length >> 2, length >> 1]) {
      copyFileSync(join(data, 'ledger.db'), file);
      truncateSync(file, bytes);
      const message = expectFailure(await runCommand(['verify', '--data', cut]), 1);
      expect(message, `${bytes} bytes`).toMatch(/damaged|not a Daybook store/);
    }
  });

  it('pages of rubbish never end the command without a word', async () => {
    const rubbish = join(folder, 'rubbish');
    mkdirSync(rubbish);
    const whole = readFileSync(join(data, 'ledger.db'));
    const pages = whole.length / PAGE_BYTES;
    let found = 0;
    const rounds = 12;
    for (let round = 0; round < rounds; round += 1) {
      const damaged = Buffer.from(whole);
      // A third of all pages, so that some of them are in use.
      for (let count = Math.ceil(pages / 3); count > 0; count -= 1) {
        const page = 2 + below(pages - 2);
        const kind = round % 3;
        const end = (page + 1) * PAGE_BYTES;
        if (kind === 0) damaged.fill(0xff, page * PAGE_BYTES, end);
        else if (kind === 1) damaged.fill(0, page * PAGE_BYTES, end);
        else for (let at = page * PAGE_BYTES; at < end; at += 1) damaged[at] = below(256);
      }
      writeFileSync(join(rubbish, 'ledger.db'), damaged);
      const { code, signal, stderr } = await runCommand(['verify', '--data', rubbish]);
      expect({ code, signal }, stderr).toEqual({ code: 1, signal: null });
      expect(stderr).toMatch(/^daybook: [^\n]+\n$/);
      expect(stderr).not.toContain('unexpected failure');
      found += 1;
    }
    expect(found).toBe(rounds);
  });
});
