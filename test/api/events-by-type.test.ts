/** Module events by type (docs/extensions.md): every query gives the same events as the transactions. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { parseStructTag } from '../../src/move/types/type-parser.ts';
import { formatTypeTag, TypeTag } from '../../src/move/types/type-tag.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { Random, testSeed } from '../random.ts';
import { chunk, transaction } from '../store/chunks.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { expectError } from './error-answers.ts';
import { openChunks, type ServedChunks, type TypedEvent } from './typed-events.ts';

interface ShownTransaction {
  readonly version: string;
  readonly events?: readonly {
    readonly type: string;
    readonly guid: { account_address: string };
  }[];
}

const BCS = { accept: 'application/x-bcs' };
const CURSOR = 'x-node-cursor';

describe('of a sample ledger', () => {
  let ledger: ServedChunks;
  let head: number;
  /** Every module event with its position, as in the transactions. */
  const events: TypedEvent[] = [];
  const ofType = (type: string) => events.filter((event) => event.type === type);

  beforeAll(async () => {
    ledger = await openChunks(bulkChunks({ seed: 5, transactions: 1_500, accounts: 30 }));
    head = Number(ledger.writer.head!.version);
    for (let start = 0; start <= head; start += 100) {
      const { app } = ledger;
      const page = await app.request(`/v1/transactions?start=${start}&limit=100`);
      for (const { version, events: emitted = [] } of page.json<ShownTransaction[]>()) {
        for (const [index, event] of emitted.entries()) {
          if (event.guid.account_address === '0x0') events.push({ version, index, ...event });
        }
      }
    }
  });
  afterAll(() => ledger.close());

  const types = () => [...new Set(events.map(({ type }) => type))];

  it('each type has what the transactions have, in the form that the document describes', async () => {
    expect(types().length).toBeGreaterThan(5);
    const document = (await ledger.app.request('/v1/spec.json')).json() as Json;
    const schemas = new DocumentSchemas(document);
    for (const type of types()) {
      const found = await ledger.walk(type, '0', 'limit=7');
      expect(found).toEqual(ofType(type));
      for (const event of found.slice(0, 5)) {
        expect(
          schemas.problems({ $ref: '#/components/schemas/TypedEvent' }, event as never),
        ).toEqual([]);
      }
    }
  });

  it('any page, at any version', async () => {
    const random = new Random(testSeed());
    for (let turn = 0; turn < 200; turn += 1) {
      const type = random.pick(types());
      const version = random.below(head + 1);
      const start = { version: random.below(head + 3), index: random.below(4) };
      const limit = 1 + random.below(40);
      const text = start.index === 0 ? `${start.version}` : `${start.version}:${start.index}`;
      const query = `start=${text}&limit=${limit}&ledger_version=${version}`;
      const expected = ofType(type).filter((event) => {
        const after = Number(event.version) - start.version || event.index - start.index;
        return after >= 0 && Number(event.version) <= version;
      });
      const page = await ledger.ask(type, query);
      expect(page.json(), query).toEqual(expected.slice(0, limit));
      const next = expected[limit];
      expect(page.headers[CURSOR]).toBe(next && `${next.version}:${next.index}`);
    }
  });

  it('as BCS: version, index and event', async () => {
    const type = types()[0]!;
    const page = await ledger.ask(type, 'start=0&limit=10', BCS);
    const json = await ledger.ask(type, 'start=0&limit=10');
    expect(page.headers[CURSOR]).toBe(json.headers[CURSOR]);
    const reader = new BcsReader(page.bytes);
    const read = reader.vector(1, (inner) => {
      const place = { version: String(inner.u64()), index: inner.u32() };
      expect(inner.variant(2, 'ContractEvent')).toBe(1);
      const tagBytes = TypeTag.encode({ kind: 'struct', struct: parseStructTag(type) });
      expect(formatTypeTag(TypeTag.decode(inner.fixed(tagBytes.length)))).toBe(type);
      inner.bytes();
      return place;
    });
    reader.finish();
    expect(read).toEqual(
      ofType(type)
        .slice(0, 10)
        .map(({ version, index }) => ({ version, index })),
    );
  });

  it('limits of a page', async () => {
    const type = types().find((one) => ofType(one).length > 101)!;
    const count = async (query: string) =>
      (await ledger.ask(type, query)).json<TypedEvent[]>().length;
    expect(await count('start=0')).toBe(25);
    expect(await count('start=0&limit=1')).toBe(1);
    expect(await count('start=0&limit=99')).toBe(99);
    expect(await count('start=0&limit=100')).toBe(100);
    expect(await count('start=0&limit=101')).toBe(100);
    const none = await ledger.ask(type, 'limit=0');
    expectError(none, 400, 'invalid_input', 'Given limit value (0) must not be zero');
  });

  it('a page without a start begins with the first event', async () => {
    const type = types()[1]!;
    expect((await ledger.ask(type)).json()).toEqual(ofType(type).slice(0, 25));
  });

  it('types that never occurred, and other type arguments, have none', async () => {
    const [generic] = types().filter((type) => type.includes('<'));
    const others = ['0x1::none::None', '0x1::account::KeyRotation', '0x1::coin::Other<0x1::a::B>'];
    if (generic !== undefined)
      others.push(generic.replace(/<.*>/, '<bool>'), generic.replace(/<.*>/, ''));
    for (const type of others) {
      const page = await ledger.ask(type);
      expect([page.statusCode, page.body, page.headers[CURSOR]]).toEqual([200, '[]', undefined]);
      expect((await ledger.ask(type, '', BCS)).bytes).toEqual(Buffer.of(0));
    }
  });

  it('events of streams are not among them', async () => {
    const page = await ledger.ask('0x1::block::NewBlockEvent');
    expect(page.json()).toEqual([]);
  });

  it('what is asked at a version and from a start never changes', async () => {
    const type = types()[0]!;
    const fixed = await ledger.ask(type, `start=0&ledger_version=${head}`);
    expect(fixed.headers['cache-control']).toContain('immutable');
    for (const query of [`ledger_version=${head}`, 'start=0']) {
      const { headers } = await ledger.ask(type, query);
      expect(headers['cache-control'] ?? '').not.toContain('immutable');
      const etag = String(headers['etag']);
      expect((await ledger.ask(type, query, { 'if-none-match': etag })).statusCode).toBe(304);
    }
  });

  it.each([
    ['type', 'nonsense', ''],
    ['type', 'u64', ''],
    ['start', '0x1::a::B', 'start=1:'],
    ['start', '0x1::a::B', 'start=:1'],
    ['start', '0x1::a::B', 'start=1:2:3'],
    ['start', '0x1::a::B', 'start=-1'],
    ['start', '0x1::a::B', 'start=18446744073709551616'],
    ['start', '0x1::a::B', 'start=1:4294967296'],
    ['limit', '0x1::a::B', 'limit=x'],
  ])('refuses a bad %s: %s %s', async (name, type, query) => {
    const { statusCode, body } = await ledger.ask(type, query);
    expect(statusCode).toBe(400);
    expect(body).toContain(name === 'type' ? 'path `type`' : `parameter \`${name}\``);
  });

  it('takes the highest start there is', async () => {
    const { body } = await ledger.ask('0x1::a::B', 'start=18446744073709551615:4294967295');
    expect(body).toBe('[]');
  });

  it('refuses types that nest too deeply, and versions that are not there', async () => {
    const deep = `${'0x1::a::B<'.repeat(9)}u8${'>'.repeat(9)}`;
    expect((await ledger.ask(deep)).statusCode).toBe(400);
    const above = await ledger.ask('0x1::a::B', `ledger_version=${head + 1}`);
    const message = `Ledger version not found by Ledger version(${head + 1})`;
    expectError(above, 404, 'version_not_found', message);
  });

  it('pruned: 410 below the oldest version, the rest as before', async () => {
    await new Pruner(ledger.writer, { graceMs: 0, restFactor: 0 }).run({ versions: 700 });
    const oldest = Number(ledger.writer.head!.oldestVersion);
    expect(oldest).toBeGreaterThan(0);
    const type = types().find((one) => Number(ofType(one)[0]!.version) < oldest)!;
    for (const query of [`start=${oldest - 1}`, 'start=0:1', `ledger_version=${oldest - 1}`]) {
      const { statusCode, body } = await ledger.ask(type, query);
      expect([statusCode, body]).toEqual([410, expect.stringContaining('version_pruned')]);
    }
    const left = ofType(type).filter(({ version }) => Number(version) >= oldest);
    expect(await ledger.walk(type, `${oldest}`, 'limit=100')).toEqual(left);
    expect((await ledger.ask(type)).json()).toEqual(left.slice(0, 25));
  });
});

describe('bounds of a page', () => {
  const WANTED = '0x1::a::Wanted';
  const tagOf = (type: string) => TypeTag.encode({ kind: 'struct', struct: parseStructTag(type) });
  const event = (type: string, data = Buffer.of(1)) => ({
    kind: 'module' as const,
    typeTag: tagOf(type),
    data,
  });

  async function ledgerOf(events: readonly ReturnType<typeof event>[]): Promise<ServedChunks> {
    const ledger = await openChunks([chunk(0, [transaction(0), transaction(1, { events })])]);
    onTestFinished(() => ledger.close());
    return ledger;
  }

  const placesIn = (bytes: Buffer) =>
    new BcsReader(bytes).vector(1, (inner) => {
      inner.u64();
      const index = inner.u32();
      inner.variant(2, 'ContractEvent');
      inner.fixed(tagOf(WANTED).length);
      inner.bytes();
      return index;
    });

  // The first read takes 32 rows, later ones 1,024 each, up to 10,000.
  const LAST_READ = 32 + 10 * 1_024 - 1;

  it.each([
    [LAST_READ - 1, [LAST_READ - 1], undefined],
    [LAST_READ, [LAST_READ], `1:${LAST_READ + 1}`],
    [LAST_READ + 1, [], `1:${LAST_READ + 1}`],
  ])('an event that %i others come before', async (before, found, cursor) => {
    const others = Array.from({ length: before }, () => event('0x1::a::Other'));
    const { ask } = await ledgerOf([...others, event(WANTED)]);
    const page = await ask(WANTED, 'start=0', BCS);
    expect([placesIn(page.bytes), page.headers[CURSOR]]).toEqual([found, cursor]);
    if (cursor === undefined) return;
    const next = await ask(WANTED, `start=${cursor}`, BCS);
    expect(placesIn(next.bytes)).toEqual(found.length === 0 ? [before] : []);
    expect(next.headers[CURSOR]).toBeUndefined();
  });

  const MIB = 1024 * 1024;

  it.each([
    [-1, 5],
    [0, 4],
    [1, 4],
  ])('events of 4 MiB%s bytes', async (more, count) => {
    const overhead = event(WANTED).typeTag.length + 3;
    const events = Array.from({ length: 6 }, (_, at) =>
      event(WANTED, Buffer.alloc(MIB - overhead + (at === 0 ? more : 0))),
    );
    const { ask } = await ledgerOf(events);
    const page = await ask(WANTED, 'start=0', BCS);
    expect(placesIn(page.bytes)).toEqual([...events.keys()].slice(0, count));
    expect(page.headers[CURSOR]).toBe(`1:${count}`);
  });
});
