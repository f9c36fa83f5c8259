/** Versions by time (docs/extensions.md): exact at the boundaries of blocks, and the same everywhere. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseTimeText } from '../../src/api/endpoints/time-text.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { formatAddress } from '../../src/move/types/address.ts';
import type { Block } from '../../src/store/columns/block-column.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { Random, testSeed } from '../random.ts';
import { block, chunk, transaction } from '../store/chunks.ts';
import {
  ASSETS,
  coinWrite,
  HOLDERS,
  type OpenedBalances,
  openBalances,
} from './balance-changes.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { expectError } from './error-answers.ts';

const [HOLDER] = HOLDERS as [string];
const [[COIN]] = ASSETS as [(typeof ASSETS)[0]];

describe('the text of a time', () => {
  it.each([
    ['1970-01-01T00:00:00Z', 0n],
    ['1970-01-01T00:00:00.000001z', 1n],
    ['1970-01-01t00:00:00.1Z', 100_000n],
    ['1970-01-01T01:00:00+01:00', 0n],
    ['1970-01-01T01:00:00 01:00', 0n],
    ['1969-12-31T23:30:00-00:30', 0n],
    ['1970-01-01T23:59:59.999999+23:59', 59_999_999n],
    ['2024-02-29T12:00:00Z', 1_709_208_000_000_000n],
    ['2026-01-01T00:00:11.608695Z', 1_767_225_611_608_695n],
    ['9999-12-31T23:59:59.999999Z', 253_402_300_799_999_999n],
  ])('%s', (text, usecs) => {
    expect(parseTimeText(text)).toBe(usecs);
    if (text.endsWith('Z') && !text.includes('.')) {
      expect(usecs).toBe(BigInt(Date.parse(text)) * 1_000n);
    }
  });

  it.each([
    '',
    '2026-01-01',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.1234567Z',
    '2026-1-1T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2016-12-31T23:59:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+00:60',
    '2026-01-01T00:00:00+0100',
    '1969-12-31T23:59:59.999999Z',
    '1970-01-01T00:00:00+00:01',
    '0026-01-01T00:00:00Z',
    '+026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Zx',
    '1767225611608695',
  ])('is not %j', (text) => {
    expect(parseTimeText(text)).toBeUndefined();
  });
});

/** Versions with the times of their blocks: two blocks begin at the same time, and one has a single version. */
const TIMES = [0, 5, 5, 5, 7, 7, 7, 20, 21, 21].map((seconds) => BigInt(seconds) * 1_000_000n);
const FIRSTS = [0, 1, 3, 4, 7, 8];

/** HOLDER's balance is the version plus one. */
function byTime(): Chunk {
  const transactions = TIMES.map((_, version) =>
    transaction(version, { writes: [coinWrite(HOLDER, BigInt(version + 1))] }),
  );
  const blocks = FIRSTS.map((first, height) => ({
    ...block(height, first, Math.floor(height / 2)),
    timestampUsecs: TIMES[first]!,
  }));
  return { ...chunk(0, transactions), blocks };
}

function isoOf(usecs: bigint): string {
  const seconds = new Date(Number(usecs / 1_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${seconds}.${String(usecs % 1_000_000n).padStart(6, '0')}Z`;
}

/** The last version at or before a time. */
function expectedAt(times: readonly bigint[], usecs: bigint): number {
  return times.findLastIndex((time) => time <= usecs);
}

describe('a version by time', () => {
  let opened: OpenedBalances;
  const ask = (path: string, headers = {}) => opened.app.request({ url: `/v1${path}`, headers });
  const balance = (query: string) => ask(`/accounts/${HOLDER}/balance/${COIN}?${query}`);
  beforeAll(async () => {
    opened = await openBalances([byTime()]);
  });
  afterAll(() => opened.close());

  const edges = [...new Set(TIMES.flatMap((time) => [time - 1n, time, time + 1n]))].filter(
    (time) => time >= 0n,
  );

  it.each(edges)(
    'is the last at or before %i µs, wherever a version is asked for',
    async (usecs) => {
      const version = expectedAt(TIMES, usecs);
      const height = FIRSTS.findLastIndex((first) => first <= version);
      const reply = await ask(`/versions/by_timestamp/${usecs}`);
      expect(reply.json()).toEqual({
        version: String(version),
        timestamp: String(TIMES[version]),
        block_height: String(height),
        epoch: String(Math.floor(height / 2)),
      });
      const time = `@${isoOf(usecs)}`;
      const byNumber = await balance(`ledger_version=${version}`);
      const byClock = await balance(`ledger_version=${time}`);
      expect(byClock.body).toBe(byNumber.body);
      expect(byClock.body).toBe(String(version + 1));
      const isFinal = version < TIMES.length - 1;
      for (const { headers } of [reply, byClock]) {
        expect(headers['cache-control']?.includes('immutable') ?? false).toBe(isFinal);
      }
      for (const [path, query] of [
        [`/accounts/${HOLDER}`, 'ledger_version='],
        [`/accounts/${HOLDER}/modules`, 'ledger_version='],
        [`/accounts/${HOLDER}/balances`, 'limit=1&ledger_version='],
        [`/accounts/${HOLDER}/balance/${COIN}/history`, 'to_version='],
        [`/accounts/${HOLDER}/balance/${COIN}/history`, 'from_version='],
        ['/transactions/auxiliary_info', 'start_version='],
        [`/accounts/${HOLDER}/transaction_summaries`, 'end_version='],
      ]) {
        const [timed, numbered] = [
          await ask(`${path}?${query}${time}`),
          await ask(`${path}?${query}${version}`),
        ];
        expect([path, timed.statusCode, timed.body]).toEqual([
          path,
          numbered.statusCode,
          numbered.body,
        ]);
      }
    },
  );

  it('is as the document has it, and the same in BCS', async () => {
    const spec = new DocumentSchemas((await ask('/spec.json')).json<Json>());
    const shown = (await ask('/versions/by_timestamp/7000000')).json<Json>();
    expect(spec.problems({ $ref: '#/components/schemas/VersionAtTime' }, shown)).toEqual([]);
    const { bytes } = await ask('/versions/by_timestamp/7000000', { accept: 'application/x-bcs' });
    const reader = new BcsReader(bytes);
    expect([reader.u64(), reader.u64(), reader.u64(), reader.u64()]).toEqual([
      6n,
      7_000_000n,
      3n,
      1n,
    ]);
    reader.finish();
  });

  it('takes an offset, escaped or not, and says what is wrong with another text', async () => {
    for (const offset of ['%2B01:00', '+01:00']) {
      expect((await balance(`ledger_version=@1970-01-01T01:00:07${offset}`)).body).toBe('7');
    }
    expect((await balance('ledger_version=%401969-12-31T23:00:07-01:00')).body).toBe('7');
    expectError(
      await balance('ledger_version=@yesterday'),
      400,
      'web_framework_error',
      'failed to parse parameter `ledger_version`: failed to parse "string(U64)": "@yesterday" is not `@` and a ' +
        'time from 1970 on as in RFC 3339: @2026-01-31T23:59:59.123456Z or @2026-02-01T01:00:00%2B01:00 ' +
        '(occurred while parsing "optional<string(U64)>")',
    );
    const summaries = await ask('/transactions/auxiliary_info?start_version=@');
    expect([summaries.statusCode, summaries.body]).toEqual([
      400,
      expect.stringContaining('"@\\" is not'),
    ]);
  });

  it('is the version of a batch, and of reads in it', async () => {
    const path = `/v1/accounts/${HOLDER}/balance/${COIN}`;
    const { body } = await opened.app.request({
      method: 'POST',
      url: '/v1/batch?ledger_version=@1970-01-01T00:00:07Z',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        requests: [{ path }, { path: `${path}?ledger_version=@1970-01-01T00:00:05Z` }],
      }),
    });
    const batch = JSON.parse(body) as { ledger_version: string; responses: { body: number }[] };
    expect(batch.ledger_version).toBe('6');
    expect(batch.responses.map((one) => one.body)).toEqual([7, 4]);
  });

  it('is not taken in paths and for sequence numbers', async () => {
    const time = '@1970-01-01T00:00:07Z';
    for (const path of [
      `/transactions/by_version/${time}`,
      `/blocks/by_version/${time}`,
      `/accounts/${HOLDER}/events/2?start=${time}`,
    ]) {
      expect([path, (await ask(path)).statusCode]).toEqual([path, 400]);
    }
  });

  it('is a newer one when the ledger has grown, also behind a cached answer', async () => {
    const grown = await openBalances([byTime()]);
    const url = `/v1/accounts/${HOLDER}/balance/${COIN}?ledger_version=@1970-01-01T00:01:00Z`;
    expect((await grown.app.request(url)).body).toBe('10');
    const writes = [coinWrite(HOLDER, 99n)];
    const next = { ...block(6, 10), timestampUsecs: 60_000_000n };
    await grown.writer.append({ ...chunk(10, [transaction(10, { writes })]), blocks: [next] });
    expect((await grown.app.request(url)).body).toBe('99');
    await grown.close();
  });

  it('is 410 before the oldest block of a pruned ledger, also for a pinned account', async () => {
    const pruned = await openBalances([byTime()]);
    await pruned.prune(6, [HOLDER]);
    const { oldestVersion } = (await pruned.ledger.view()).state;
    expect(oldestVersion).toBe(4n);
    const text = (usecs: bigint) =>
      `Ledger versions at Ledger timestamp(${usecs}) have been pruned`;
    for (const usecs of [0n, 6_999_999n]) {
      const path = `/v1/versions/by_timestamp/${usecs}`;
      expectError(await pruned.app.request(path), 410, 'version_pruned', text(usecs));
      const url = `/v1/accounts/${formatAddress(HOLDER)}/balance/${COIN}?ledger_version=@${isoOf(usecs)}`;
      expectError(await pruned.app.request(url), 410, 'version_pruned', text(usecs));
    }
    const first = await pruned.app.request('/v1/versions/by_timestamp/7000000');
    expect(first.json()).toMatchObject({ version: '6', block_height: '3' });
    await pruned.close();
  });
});

it('a version before the first block is 404 where nothing was pruned', async () => {
  const opened = await openBalances([
    {
      ...byTime(),
      blocks: byTime().blocks.map((one) => ({ ...one, timestampUsecs: one.timestampUsecs + 3n })),
    },
  ]);
  const text = 'Ledger version not found by Ledger timestamp(2)';
  const reply = await opened.app.request('/v1/versions/by_timestamp/2');
  expectError(reply, 404, 'version_not_found', text);
  expect((await opened.app.request('/v1/versions/by_timestamp/3')).json()).toMatchObject({
    version: '0',
  });
  await opened.close();
});

it('versions by time in random ledgers are what their blocks say', async () => {
  const random = new Random(testSeed());
  for (let round = 0; round < 3; round += 1) {
    const blocks: Block[] = [];
    const times: bigint[] = [];
    let time = 0n;
    for (let version = 0; version < 200; version += 1) {
      if (version === 0 || random.below(3) === 0) {
        // Regular blocks, bursts, and long pauses, for which interpolation guesses wrong.
        if (version > 0)
          time += BigInt(random.pick([0, 1, 1, 1_000, 10 ** (3 + random.below(10))]));
        blocks.push({ ...block(blocks.length, version), timestampUsecs: time });
      }
      times.push(time);
    }
    const transactions = times.map((_, version) => transaction(version));
    const opened = await openBalances([{ ...chunk(0, transactions), blocks }]);
    const view = await opened.ledger.view();
    for (let asked = 0; asked < 60; asked += 1) {
      const usecs = random.pick(times) + BigInt(random.pick([-1, 0, 1]));
      if (usecs < 0n) continue;
      const found = await view.versionAtTime(usecs);
      expect([usecs, found.version]).toEqual([usecs, BigInt(expectedAt(times, usecs))]);
      expect(found.timestampUsecs).toBe(times[Number(found.version)]);
    }
    await opened.close();
  }
});
