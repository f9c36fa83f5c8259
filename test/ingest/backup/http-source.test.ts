/** Backups behind URLs: buckets, servers with directory listings, and downloads that are cut, refused or changed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readBackupIndex } from '../../../src/ingest/backup/backup-index.ts';
import { FolderSource, MAX_FILE_BYTES } from '../../../src/ingest/backup/backup-source.ts';
import { HttpSource } from '../../../src/ingest/backup/http-source.ts';
import { MAX_DOWNLOAD_FAILURES } from '../../../src/remote/download.ts';
import { NEVER } from '../feed-following.ts';
import { newBackup, shortChain } from './backup-chain.ts';
import { type ServerManners, serveBackup } from './backup-server.ts';
import { refusal, rowsOf } from './restoring.ts';

const SHAPE = { snapshotEpochs: [1], transactionsPerBackup: 60, keysPerChunk: 100 };
const backup = () => newBackup(SHAPE, shortChain());

async function filesBehind(manners: ServerManners) {
  const { folder } = backup();
  const { url } = await serveBackup(folder, manners);
  const [there, here] = [new HttpSource(url), new FolderSource(folder)];
  const files = await there.metadataFiles(NEVER);
  expect([...files].sort()).toEqual([...(await here.metadataFiles())].sort());
  expect(await readBackupIndex(there, NEVER)).toMatchObject({ epochs: expect.any(Array) });
}

describe('the list of files', () => {
  it('is that of a folder', () => filesBehind({ lists: 'pages' }));
  it('is that of a bucket which is the host', () => filesBehind({ lists: 'host' }));
  it('is that of a bucket in the path', () => filesBehind({ lists: 'path' }));
  it('comes in parts', () => filesBehind({ lists: 'path', namesAtOnce: 2 }));

  it('may be missing', async () => {
    const { url } = await serveBackup(backup().folder, { lists: 'nothing' });
    const files = new HttpSource(url).metadataFiles(NEVER);
    await expect(files).rejects.toMatchObject({ code: 'backup_incomplete' });
  });
});

describe('a backup behind a URL', () => {
  it('has files up to a size', async () => {
    const here = backup();
    const { url } = await serveBackup(here.folder, { lists: 'pages' });
    const source = new HttpSource(url);
    const file = here.files.find((name) => /^state_.*chunk$/.test(name))!;
    const { length } = readFileSync(join(here.folder, file));
    for (const most of [length + 1, length]) {
      expect(await source.read(file, NEVER, most)).toHaveLength(length);
    }
    const refused = source.read(file, NEVER, length - 1);
    await expect(refused).rejects.toMatchObject({ code: 'backup_malformed' });
  });

  it('makes the ledger that the same folder makes', async () => {
    const here = backup();
    const { url, requests } = await serveBackup(here.folder, { lists: 'pages' });
    const rows = await rowsOf(here, { source: new HttpSource(url) });
    expect(rows).toEqual(await rowsOf(here));
    expect(requests.length).toBeGreaterThan(10);
  });

  it('goes on where a download was cut', async () => {
    const here = backup();
    const { url, requests } = await serveBackup(here.folder, {
      lists: 'pages',
      cutAfter: (file, request) =>
        file.startsWith('state_') && request <= 3 ? 1_000 * request : undefined,
    });
    expect(await rowsOf(here, { source: new HttpSource(url) })).toEqual(await rowsOf(here));
    const [chunk] = here.files.filter((file) => /^state_.*chunk$/.test(file));
    const starts = requests.filter(({ file }) => file === chunk).map(({ start }) => start);
    expect(starts).toEqual([0, 1_000, 3_000, 6_000]);
  });

  it('begins again where ranges are not served, or the file is another one', async () => {
    const here = backup();
    const cutAfter = (file: string, request: number) =>
      file.startsWith('state_') && request === 1 ? 1_000 : undefined;
    for (const manners of [
      { hasRanges: false },
      { tag: (_: string, request: number) => `"${request}"` },
    ]) {
      const { url } = await serveBackup(here.folder, { lists: 'pages', cutAfter, ...manners });
      expect(await rowsOf(here, { source: new HttpSource(url) })).toEqual(await rowsOf(here));
    }
  });

  it('has files up to a size, however often they begin', async () => {
    const here = backup();
    const file = here.files.find((name) => /^state_.*chunk$/.test(name))!;
    const { length } = readFileSync(join(here.folder, file));
    for (const hasRanges of [true, false]) {
      for (const most of [length + 1, length, length - 1]) {
        const cutAfter = (_: string, request: number) => (request === 1 ? 1_000 : undefined);
        const { url } = await serveBackup(here.folder, { lists: 'pages', cutAfter, hasRanges });
        const read = new HttpSource(url).read(file, NEVER, most);
        if (most >= length) expect(await read).toHaveLength(length);
        else await expect(read).rejects.toMatchObject({ code: 'backup_malformed' });
      }
    }
  });

  it('is waited for when it is busy, for a while', async () => {
    const here = backup();
    const [file] = here.files.filter((name) => /^state_.*chunk$/.test(name));
    const source = async (until: number) => {
      const refuse = (asked: string, request: number) =>
        asked === file && request <= until ? 503 : undefined;
      return new HttpSource((await serveBackup(here.folder, { lists: 'pages', refuse })).url);
    };
    const patient = await source(2);
    expect(await patient.read(file!, NEVER, MAX_FILE_BYTES)).toEqual(
      readFileSync(join(here.folder, file!)),
    );
    const endless = await source(MAX_DOWNLOAD_FAILURES);
    const refused = endless.read(file!, NEVER, MAX_FILE_BYTES);
    await expect(refused).rejects.toMatchObject({ code: 'backup_unreachable' });
  });

  it('is refused when files are missing, or the server refuses', async () => {
    const here = backup();
    for (const [status, code] of [
      [404, 'backup_incomplete'],
      [403, 'backup_incomplete'],
      [401, 'backup_unreachable'],
    ] as const) {
      const refuse = (file: string) => (file.startsWith('state_') ? status : undefined);
      const { url } = await serveBackup(here.folder, { lists: 'pages', refuse });
      expect(await refusal(here, { source: new HttpSource(url) })).toMatchObject({ code });
    }
  });
});
