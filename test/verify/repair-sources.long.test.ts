/** Repairing from sources that lie, lack versions, or fail: what is written is right, and the error tells the cause. */
import { beforeAll, describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { EVENTS } from '../../src/store/columns/columns.ts';
import { decodeEventRow } from '../../src/store/columns/event-column.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { digests, upstreamOver } from '../ingest/feed-following.ts';
import type { Misbehaviour } from '../ingest/feed-upstream.ts';
import { damagedLedger, digestsOf, repaired, soundStore, withoutInfos } from './damaged-ledgers.ts';

let sound: Store;
let other: Store;
let expected: Record<string, string>;
beforeAll(async () => {
  sound = await soundStore();
  other = await soundStore(6);
  expected = await digests(sound);
});

async function expectHealed(directory: string): Promise<void> {
  const { url } = await upstreamOver(sound);
  const { report } = await repaired(directory, url);
  expect(report.damages).toEqual([]);
  expect(await digestsOf(directory)).toEqual(expected);
}

const isPage = (url: string | undefined, start: number) => url!.includes(`start=${start}&`);

/** Sends changed pages. */
function sending(start: number, change: (page: Buffer) => Buffer): Misbehaviour {
  return (request, response, page) => {
    if (!isPage(request.url, start)) return false;
    response.setHeader('content-type', 'application/x-bcs');
    response.end(change(page));
    return true;
  };
}

describe('nothing is written from a source', () => {
  test.each<[string, () => Promise<string>, RegExp]>([
    [
      'of another history',
      async () => (await upstreamOver(other)).url,
      /another history, or the head is damaged; nothing was written$/,
    ],
    [
      'of another chain',
      async () => {
        const upstream = await upstreamOver(sound);
        upstream.settings.chainId = 77;
        return upstream.url;
      },
      /is of chain 77.*nothing was written$/,
    ],
    [
      'that sends wrong bytes',
      async () => {
        const upstream = await upstreamOver(sound);
        upstream.settings.misbehave = sending(200, (page) => {
          page[page.length >> 1]! ^= 1;
          return page;
        });
        return upstream.url;
      },
      /version 200, .*nothing was written$/,
    ],
    [
      'that sends rubbish',
      async () => {
        const upstream = await upstreamOver(sound);
        upstream.settings.misbehave = sending(200, () => Buffer.alloc(1_000, 0xff));
        return upstream.url;
      },
      /nothing was written$/,
    ],
    [
      'that sends empty pages',
      async () => {
        const upstream = await upstreamOver(sound);
        upstream.settings.misbehave = sending(200, () => Buffer.of(0));
        return upstream.url;
      },
      /nothing was written$/,
    ],
    [
      'that breaks off',
      async () => {
        const upstream = await upstreamOver(sound);
        upstream.settings.misbehave = (request, response) => {
          if (!isPage(request.url, 200)) return false;
          response.destroy();
          return true;
        };
        return upstream.url;
      },
      /broke off.*nothing was written$/,
    ],
    [
      'that has no version whose info is damaged',
      async () => {
        const upstream = await upstreamOver(sound);
        upstream.settings.oldest = 100n;
        return upstream.url;
      },
      /an info is damaged in one of 2 versions that the source lacks.*nothing was written$/,
    ],
    ['that is not there', async () => 'http://127.0.0.1:9', /cannot reach.*nothing was written$/],
  ])('%s', async (_, source, message) => {
    const directory = await withoutInfos([50n, 51n, 200n]);
    const before = await digestsOf(directory);
    const url = await source();
    await expect(repaired(directory, url)).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(message),
    });
    expect(await digestsOf(directory)).toEqual(before);
  });
});

test('a source that lies only when it is asked again: what was proved before stays', async () => {
  const directory = await withoutInfos([50n, 51n, 200n]);
  const liar = await upstreamOver(other);
  const upstream = await upstreamOver(sound);
  let pages = 0;
  upstream.settings.misbehave = async (request, response) => {
    if (!isPage(request.url, 200)) return false;
    pages += 1;
    if (pages === 1) return false;
    const lie = await fetch(new URL(request.url!, liar.url));
    response.setHeader('content-type', 'application/x-bcs');
    response.end(Buffer.from(await lie.arrayBuffer()));
    return true;
  };
  await expect(repaired(directory, upstream.url, 1)).rejects.toMatchObject({
    code: 'damaged',
    message: expect.stringMatching(
      /version 200: .* before, 2 versions and 0 other rows were repaired$/,
    ),
  });
  await expectHealed(directory);
});

test('versions that the source lacks stay damaged, the others are repaired', async () => {
  const directory = await damagedLedger(() => undefined);
  const store = await openSqliteStore({ directory });
  const batch = new Batch();
  const versions = new Set<bigint>();
  for (const row of await store.scan(EVENTS, { maxRows: 10_000, maxBytes: 1e9 })) {
    const { version } = decodeEventRow(row.partition, row);
    if (![...versions].every((one) => version > one + 40n || version + 40n < one)) continue;
    versions.add(version);
    batch.delete(EVENTS, row.partition, row.order);
  }
  await store.commit(batch);
  await store.close();
  const upstream = await upstreamOver(sound);
  upstream.settings.oldest = 60n;
  upstream.settings.newest = 300n;
  const isLacked = (version: bigint) => version < 60n || version > 300n;
  const lacked = [...versions].filter(isLacked);
  expect(lacked.length).toBeGreaterThan(1);
  const { report, repaired: done } = await repaired(directory, upstream.url);
  expect(done).toEqual({
    versions: versions.size - lacked.length,
    rows: 0,
    unavailable: lacked.length,
  });
  const left = new Set(report.damages.flatMap(({ version }) => version ?? []));
  for (const version of versions)
    expect(left.has(version), String(version)).toBe(isLacked(version));
  await expectHealed(directory);
});

test('a source that is busy for a moment is asked again', async () => {
  const directory = await withoutInfos([50n]);
  const upstream = await upstreamOver(sound);
  let answers = 0;
  upstream.settings.misbehave = (_, response) => {
    answers += 1;
    if (answers % 2 === 0) return false;
    response.statusCode = 503;
    response.end();
    return true;
  };
  const { report } = await repaired(directory, upstream.url);
  expect(report.damages).toEqual([]);
  expect(await digestsOf(directory)).toEqual(expected);
});
