/**
 * Pages of resources and modules: order, groups, cursors, limits (docs/spec/ledger.md §5.4; docs/spec/http.md §11.3).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { physicalStateKey, resourceStateKey } from '../../src/move/types/state-key.ts';
import {
  BROKEN,
  type ContentLedger,
  HOLDER,
  LONG_TYPE,
  MODULE_BYTES,
  NEWEST,
  openContentLedger,
  PUBLISHER,
  typeOf,
  WRITES,
} from './content-ledger.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { expectError } from './error-answers.ts';
import { FileCursor, typeName } from './genesis-file.ts';

const BCS = { accept: 'application/x-bcs' };
const CURSOR = 'x-node-cursor';
let ledger: ContentLedger;
let document: DocumentSchemas;

beforeAll(async () => {
  ledger = await openContentLedger();
  document = new DocumentSchemas((await ledger.app.request('/v1/spec.json')).json<Json>());
});
afterAll(() => ledger.close());

interface Page {
  /** Types of resources or names of modules, in the page's order. */
  readonly names: readonly string[];
  readonly cursor: string | undefined;
}

async function page(url: string): Promise<Page> {
  const response = await ledger.app.request(url);
  expect([url, response.statusCode]).toEqual([url, 200]);
  const items = response.json<({ type: string } | { abi: { name: string }; bytecode: string })[]>();
  const schema = url.includes('/modules') ? 'MoveModuleBytecode' : 'MoveResource';
  for (const item of items) {
    const reference = { $ref: `#/components/schemas/${schema}` };
    expect(document.problems(reference, item as unknown as Json)).toEqual([]);
  }
  const names = items.map((item) => ('type' in item ? item.type : item.abi.name));
  return { names, cursor: response.headers[CURSOR] as string | undefined };
}

/** Names and values of a page in BCS, in the order of the map. */
async function bcsPage(url: string): Promise<{ entries: [string, Buffer][]; cursor: unknown }> {
  const response = await ledger.app.request({ url, headers: BCS });
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, BCS.accept]);
  const cursor = new FileCursor(response.bytes);
  const keys: Buffer[] = [];
  const entries: [string, Buffer][] = [];
  for (let left = cursor.uleb(); left > 0; left -= 1) {
    const start = cursor.offset;
    const name = url.includes('/modules') ? cursor.text() : typeName(cursor.namedType());
    keys.push(cursor.since(start));
    entries.push([name, cursor.bytes()]);
  }
  expect(cursor.isAtEnd).toBe(true);
  expect(keys).toEqual([...keys].sort(Buffer.compare));
  return { entries, cursor: response.headers[CURSOR] };
}

/** All pages, from the first one. */
async function walk(url: string): Promise<Page[]> {
  const pages: Page[] = [];
  let start = '';
  do {
    const next = await page(`${url}${start}`);
    pages.push(next);
    start = next.cursor === undefined ? '' : `&start=${next.cursor}`;
  } while (start !== '' && pages.length < 100);
  return pages;
}

/** An account's physical keys with a value at a version, ordered by their bytes. */
function keysAt(account: string, kinds: readonly number[], version: number): Buffer[] {
  const values = new Map<string, boolean>();
  for (const writes of WRITES.slice(0, version + 1)) {
    for (const { key, value } of writes) values.set(key.toString('hex'), value !== undefined);
  }
  return [...values]
    .filter(([key, exists]) => exists && key.startsWith(`00${account}`))
    .map(([key]) => Buffer.from(key, 'hex'))
    .filter((key) => kinds.includes(pathOf(key)[0]!))
    .sort(Buffer.compare);
}

function pathOf(key: Buffer): Buffer {
  return new FileCursor(key.subarray(33)).bytes();
}

/** Members of the groups at a version in decoded order, which is by name; the encoded map has shorter names first. */
function membersAt(group: string, version: number): string[] {
  if (group === '0x7::m::Tong') return ['0x7::m::Zero'];
  const all = ['0x7::m::Alpha', '0x7::m::Beta', '0x7::m::Box<u8>'];
  return version < 2 ? all : all.slice(0, 1);
}

function resourceNames(version: number): string[][] {
  return keysAt(HOLDER, [1, 2], version)
    .filter((key) => pathOf(key).length > 2)
    .map((key) => {
      const path = new FileCursor(pathOf(key));
      const isGroup = path.uleb() === 2;
      const name = typeName(path.namedType());
      return isGroup ? membersAt(name, version) : [name];
    });
}

describe('resources', () => {
  const url = '/v1/accounts/0xbeef/resources';

  it.each([0, 1, 2, 3, 4])('at version %i stand in the order of their keys', async (version) => {
    const expected = resourceNames(version).flat();
    expect(expected.length).toBeGreaterThan(8);
    expect(await page(`${url}?ledger_version=${version}`)).toEqual({
      names: expected,
      cursor: undefined,
    });
    const { entries, cursor } = await bcsPage(`${url}?ledger_version=${version}`);
    expect(cursor).toBeUndefined();
    // Box<u8> is both outside and in a group: the later one wins.
    expect(new Set(entries.map(([name]) => name))).toEqual(new Set(expected));
    for (const [name, value] of entries) {
      const single = await ledger.app.request({
        url: `/v1/accounts/0xbeef/resource/${encodeURIComponent(name)}?ledger_version=${version}`,
        headers: BCS,
      });
      // A member that also exists outside is only looked up in its group.
      if (!name.startsWith('0x7::m::Box')) expect(single.bytes.equals(value)).toBe(true);
    }
  });

  it('at the latest version are the default', async () => {
    expect(await page(url)).toEqual(await page(`${url}?ledger_version=${NEWEST}`));
  });

  it.each([0, 1, 2, 3, 4])('at version %i are walked with any page size', async (version) => {
    const groups = resourceNames(version);
    for (let limit = 1; limit <= groups.length + 1; limit += 1) {
      const pages = await walk(`${url}?ledger_version=${version}&limit=${limit}`);
      expect(pages.flatMap(({ names }) => names)).toEqual(groups.flat());
      // A group counts as one item, whatever it contains.
      expect(pages.length).toBe(Math.ceil(groups.length / limit));
      const expected = groups.slice(0, limit).flat();
      expect(pages[0]!.names).toEqual(expected);
    }
  });

  it('have the next key as their cursor, that of a group written as a resource', async () => {
    const keys = keysAt(HOLDER, [1, 2], 0).filter((key) => pathOf(key).length > 2);
    const cursors: (string | undefined)[] = [];
    for (let limit = 1; limit <= keys.length; limit += 1) {
      cursors.push((await page(`${url}?ledger_version=0&limit=${limit}`)).cursor);
    }
    const expected = keys.slice(1).map((key) => {
      const path = pathOf(key);
      const at = key.length - path.length;
      return Buffer.concat([key.subarray(0, at), Buffer.of(1), path.subarray(1)]).toString('hex');
    });
    expect(cursors).toEqual([...expected, undefined]);
    expect(keys.some((key) => pathOf(key)[0] === 2)).toBe(true);
    expect(keys.some((key) => key.length > 1024)).toBe(true);
  });

  it('go on from a key that is gone, and from one that never was', async () => {
    const all = resourceNames(4).flat();
    const gone = physicalStateKey(resourceStateKey(HOLDER, typeOf('Quip'))).toString('hex');
    const atOne = await page(`${url}?ledger_version=1&start=${gone}`);
    expect(atOne.names[0]).toBe('0x7::m::Sing');
    const never = physicalStateKey(resourceStateKey(HOLDER, typeOf('Quiz'))).toString('hex');
    expect((await page(`${url}?start=${never}`)).names).toEqual(
      all.slice(all.indexOf('0x7::m::Quip') + 1),
    );
    const long = physicalStateKey(resourceStateKey(HOLDER, LONG_TYPE)).toString('hex');
    expect((await page(`${url}?start=${long}`)).names.length).toBe(1);
  });

  it('of other accounts, of tables and of nobody are an empty page', async () => {
    const foreign = physicalStateKey(resourceStateKey(PUBLISHER, typeOf('Quip'))).toString('hex');
    for (const start of [foreign, `01${HOLDER}00`, 'ff', 'ff00']) {
      expect(await page(`${url}?start=${start}`)).toEqual({ names: [], cursor: undefined });
    }
    expect(await page('/v1/accounts/0x5/resources')).toEqual({ names: [], cursor: undefined });
    const empty = await ledger.app.request({ url: '/v1/accounts/0x5/resources', headers: BCS });
    expect(empty.bytes).toEqual(Buffer.of(0));
  });

  it('are pages of at most the node’s maximum, which is also the default', async () => {
    const small = await openContentLedger({ maxAccountPageSize: 3 });
    for (const query of ['', '?limit=3', '?limit=4', '?limit=65535']) {
      const response = await small.app.request(`${url}${query}`);
      expect(response.json()).toHaveLength(resourceNames(4).slice(0, 3).flat().length);
      expect(response.headers[CURSOR]).toMatch(/^00/);
    }
    await small.close();
  });

  it('of a group that does not decode are an internal error in both forms', async () => {
    for (const headers of [{}, BCS]) {
      expectError(
        await ledger.app.request({ url: `/v1/accounts/0x${BROKEN}/resources`, headers }),
        500,
        'internal_error',
        'Failed to get resources from storage: unexpected end of input',
      );
    }
  });

  it('that cannot be shown are an internal error, their bytes are not', async () => {
    const broken = '/v1/accounts/0xbad1/resources';
    const response = await ledger.app.request(broken);
    expectError(
      response,
      500,
      'internal_error',
      'Failed to build move resource response from data in DB: unexpected end of input',
    );
    expect((await bcsPage(broken)).entries.map(([name]) => name)).toEqual([
      '0x7::m::Handles',
      '0x7::m::Missing',
    ]);
  });
});

describe('types', () => {
  it('are those of the version read, so that a pinned answer never changes', async () => {
    const url = '/v1/accounts/0xbad2/resources';
    const text = '{"type":"0x7::ab::Plain","data":{"value":"6"}}';
    const atZero = await ledger.app.request(`${url}?ledger_version=0`);
    expect(atZero.body).toBe(`[${text}]`);
    const single = '/v1/accounts/0xbad2/resource/0x7::ab::Plain?ledger_version=0';
    expect((await ledger.app.request(single)).body).toBe(text);
    for (const query of ['', '?ledger_version=1']) {
      expectError(
        await ledger.app.request(`${url}${query}`),
        500,
        'internal_error',
        'Failed to build move resource response from data in DB: Module ModuleId { address: ' +
          `${PUBLISHER}, name: Identifier("ab") } can't be found`,
      );
    }
  });
});

describe('modules', () => {
  const url = '/v1/accounts/0x7/modules';
  const expected = [
    ['m', 'aa', 'ab', 'longer', 'x'.repeat(120)],
    ['m', 'aa', 'longer', 'x'.repeat(120)],
    ['m', 'aa', 'late', 'longer', 'x'.repeat(120)],
  ];

  it.each([0, 1, 2, 3, 4])('at version %i are walked with any page size', async (version) => {
    const names = expected[Math.min(version, 2)]!;
    for (let limit = 1; limit <= names.length + 1; limit += 1) {
      const all: string[] = [];
      let start = '';
      do {
        const query = `?ledger_version=${version}&limit=${limit}${start}`;
        const { entries, cursor } = await bcsPage(`${url}${query}`);
        for (const [name, bytes] of entries) {
          all.push(name);
          expect(bytes.equals(MODULE_BYTES)).toBe(true);
        }
        start = cursor === undefined ? '' : `&start=${cursor}`;
        const { cursor: jsonCursor, names: shown } = await page(`${url}${query}`);
        expect(jsonCursor).toBe(cursor);
        expect(shown).toHaveLength(entries.length);
      } while (start !== '');
      expect(all).toEqual(names.map((name) => `0x7::${name}`));
    }
  });

  it('have the documented cursor', async () => {
    const { cursor } = await bcsPage(`${url}?limit=2`);
    const module = Buffer.from('late').toString('hex');
    expect(cursor).toBe(`00${PUBLISHER}2600${PUBLISHER}04${module}`);
  });

  it('are found among resources', async () => {
    expect(await page('/v1/accounts/0xbeef/modules')).toEqual({ names: ['m'], cursor: undefined });
    expect(await page('/v1/accounts/0xac0/modules')).toEqual({ names: [], cursor: undefined });
  });

  it('are as single ones are shown', async () => {
    const list = await ledger.app.request('/v1/accounts/0xbeef/modules');
    const single = await ledger.app.request('/v1/accounts/0xbeef/module/m');
    expect(list.body).toBe(`[${single.body}]`);
  });
});

describe('parameters', () => {
  it.each([
    ['0x00', 'Failed to decode StateKey as hex string'],
    ['0', 'Failed to decode StateKey as hex string'],
    ['zz', 'Failed to decode StateKey as hex string'],
    ['', 'Failed to decode StateKey from hex string'],
    ['00', 'Failed to decode StateKey from hex string'],
    ['05', 'Failed to decode StateKey from hex string'],
    [`00${HOLDER}020909`, 'Failed to decode StateKey from hex string'],
    [`00${HOLDER}03090900`, 'Failed to decode StateKey from hex string'],
  ])('start=%s is refused', async (start, why) => {
    for (const list of ['resources', 'modules']) {
      expectError(
        await ledger.app.request(`/v1/accounts/0xbeef/${list}?start=${start}`),
        400,
        'web_framework_error',
        `failed to parse parameter \`start\`: failed to parse "string(StateKeyWrapper)": ${why} ` +
          '(occurred while parsing "optional<string(StateKeyWrapper)>")',
      );
    }
  });

  it('limit is 1 or more, looked at after the version', async () => {
    const url = '/v1/accounts/0xbeef/resources?limit=0';
    const text = 'Given limit value (0) must not be zero';
    expectError(await ledger.app.request(url), 400, 'invalid_input', text);
    expectError(
      await ledger.app.request(`${url}&ledger_version=5`),
      404,
      'version_not_found',
      'Ledger version not found by Ledger version(5)',
    );
  });
});

describe('caching of pages', () => {
  it('takes the cursor into the tag, and sends it with a 304', async () => {
    const url = '/v1/accounts/0x7/modules?limit=1&ledger_version=4';
    const first = await ledger.app.request(url);
    expect(first.headers['cache-control']).toContain('immutable');
    const tag = String(first.headers.etag);
    const headers = { 'if-none-match': tag };
    const again = await ledger.app.request({ url, headers });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    expect(again.headers[CURSOR]).toBe(first.headers[CURSOR]);
    // The last page has the same body.
    const last = await ledger.app.request('/v1/accounts/0xbeef/modules?limit=1');
    expect(last.body).toBe(first.body);
    expect(last.headers[CURSOR]).toBeUndefined();
    expect(last.headers.etag).not.toBe(tag);
    const head = await ledger.app.request({ method: 'HEAD', url });
    expect([head.headers[CURSOR], head.headers.etag]).toEqual([first.headers[CURSOR], tag]);
  });

  it('is named by the prefix and exposed to browsers', async () => {
    const other = await openContentLedger({ headerPrefix: 'X-Aptos' });
    const url = '/v1/accounts/0x7/modules?limit=1';
    const response = await other.app.request({ url, headers: { origin: 'https://a.example' } });
    expect(response.headers['x-aptos-cursor']).toMatch(/^00/);
    expect(response.headers['access-control-expose-headers']).toContain('x-aptos-cursor');
    await other.close();
  });
});
