/** Limits of a query at −1, 0 and +1, and documents that try to be expensive, to inject SQL or to read more. */
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../src/indexer/catalogue/index.ts';
import type { Database } from '../../src/indexer/database/session.ts';
import { QUERY_LIMITS, type QueryLimits } from '../../src/indexer/graphql/limits.ts';
import { Random, testSeed } from '../random.ts';
import { ask } from './dialect/ask.ts';
import { openTables, randomRows } from './dialect/random-rows.ts';

let database: Database;

beforeAll(async () => {
  database = await openTables(randomRows(new Random(testSeed())));
});
afterAll(() => database.close());

const repeated = (count: number, text: (place: number) => string): string =>
  Array.from({ length: count }, (_, place) => text(place)).join(' ');

const around = (count: number, before: string, inner: string, after: string): string =>
  before.repeat(count) + inner + after.repeat(count);

/** Nested relations with one row each. */
function nested(count: number, place = 0): string {
  if (count === 0) return '__typename';
  const name = place % 2 === 0 ? 'current_token_data' : 'current_token_ownerships(limit: 1)';
  return `${name}{${nested(count - 1, place + 1)}}`;
}

interface Request {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
}

/** Requests that use `count` units of a limit. */
const SIZED: readonly [keyof QueryLimits, (count: number) => Request][] = [
  ['documentLength', (count) => ({ query: '{ledger_infos{chain_id}}'.padEnd(count) })],
  ['tokens', (count) => ({ query: `{ledger_infos{${'chain_id '.repeat(count - 5)}}}` })],
  [
    'nesting',
    (count) => ({ query: `{events(where:${around(count - 3, '{_not:', '{}', '}')}){type}}` }),
  ],
  [
    'nesting',
    (count) => ({
      query: 'query($where:events_bool_exp){events(where:$where){type}}',
      variables: { where: JSON.parse(around(count - 1, '{"_not":', '{}', '}')) },
    }),
  ],
  ['depth', (count) => ({ query: `{current_token_ownerships_v2(limit:1){${nested(count - 1)}}}` })],
  [
    'fields',
    (count) => ({ query: `{ledger_infos{${repeated(count - 1, (i) => `a${i}:chain_id`)}}}` }),
  ],
  [
    'conditions',
    (count) => ({ query: `{events(order_by:[${'{type:asc}'.repeat(count)}]){type}}` }),
  ],
  ['totalRows', (count) => ({ query: `{events(limit:${count}){type}}` })],
  [
    'patternLength',
    (count) => ({ query: `{events(where:{type:{_regex:"${'a'.repeat(count)}"}}){type}}` }),
  ],
  [
    'regularExpressions',
    (count) => ({
      query: `{events(where:{_and:[${repeated(
        count,
        (i) => `{type:{${i % 2 === 0 ? '_niregex' : '_similar'}:"a"}}`,
      )}]}){type}}`,
    }),
  ],
  ['cells', (count) => ({ query: `{events(limit:${count}){type}}` })],
  [
    'cells',
    (count) => ({ query: `{ledger_infos(limit:1){${repeated(count, (i) => `a${i}:chain_id`)}}}` }),
  ],
  // A JSON value counts as 25.
  [
    'cells',
    (count) => ({
      query: `{events(limit:1){data ${repeated(count - 25, (i) => `a${i}:type`)}}}`,
    }),
  ],
  // A key counts once per 64 characters, rounded up.
  ['cells', (count) => ({ query: `{events(limit:1){${'a'.repeat(64 * count)}:type}}` })],
  [
    'cells',
    (count) => ({
      query: `{user_transactions_aggregate{aggregate{max{version} ${repeated(
        count - 3,
        (i) => `a${i}:count`,
      )}}}}`,
    }),
  ],
  [
    'introspectedFields',
    (count) => ({ query: `{__type(name:"events"){${repeated(count, (i) => `a${i}:name`)}}}` }),
  ],
];

describe('limits', () => {
  it.each(SIZED)('%s', async (name, sized) => {
    for (const more of [-1, 0, 1]) {
      const { query, variables } = sized(30 + more);
      const answer = await ask(database, query, variables, {
        ...QUERY_LIMITS,
        ...{ depth: 100, totalRows: 1_000 },
        [name]: 30,
      });
      const failures = (answer.errors ?? []).map((error: ErrorShown) => error.extensions.code);
      expect(failures, query).toEqual(more > 0 ? ['limit-exceeded'] : []);
    }
  });

  it('rows', async () => {
    const limits = { ...QUERY_LIMITS, rows: 5 };
    const shown = async (given: string): Promise<number> => {
      const { data } = await ask(database, `{events${given}{type}}`, {}, limits);
      return data.events.length;
    };
    expect(await shown('')).toBe(5);
    expect(await shown('(limit: 4)')).toBe(4);
    expect(await shown('(limit: 5)')).toBe(5);
    expect(await shown('(limit: 6)')).toBe(5);
    const query = '{user_transactions_aggregate{aggregate{count} nodes{version}}}';
    const { data } = await ask(database, query, {}, limits);
    const { aggregate, nodes } = data.user_transactions_aggregate;
    expect(nodes).toHaveLength(5);
    expect(aggregate.count).toBeGreaterThan(5);
  });

  it('cost, where nothing stops a slow query', async () => {
    const query = '{events{type}}';
    const refused = await ask(database, query, {}, { ...QUERY_LIMITS, cost: 0.01 });
    expect(refused.errors[0].extensions.code).toBe('limit-exceeded');
    // A limit of rows only makes a query cheap if its rows are found soon.
    const first = await ask(database, '{events(limit:1){type}}', {}, { ...QUERY_LIMITS, cost: 1 });
    expect(first.errors[0].extensions.code).toBe('limit-exceeded');
    const stopping = { ...database, stopsSlowQueries: true, query: database.query.bind(database) };
    const answered = await ask(stopping, query, {}, { ...QUERY_LIMITS, cost: 0.01 });
    expect(answered.data.events.length).toBeGreaterThan(0);
  });
});

interface ErrorShown {
  readonly message: string;
  readonly extensions: { readonly code: string; readonly path: string };
}

const HOSTILE: Readonly<Record<string, string>> = {
  'a document of 1 MB': `{ledger_infos{${'a '.repeat(500_000)}}}`,
  'a string of 1 MB': `{events(where:{type:{_eq:"${'a'.repeat(1_000_000)}"}}){type}}`,
  'brackets that never close': '{'.repeat(60_000),
  'fields within each other': around(2_000, '{a', '', '}'),
  'lists within each other': `{events(where:{type:{_in:${around(2_000, '[', '', ']')}}}){type}}`,
  'types within each other': `query($a:${around(2_000, '[', 'Int', ']')}){ledger_infos{chain_id}}`,
  'aliases by the thousand': `{${repeated(2_000, (i) => `a${i}:ledger_infos{chain_id}`)}}`,
  'the same field again': `{${'ledger_infos{chain_id} '.repeat(1_900)}}`,
  'fragments that double': `{...A0} ${repeated(
    40,
    (i) => `fragment A${i} on query_root{...A${i + 1} ...A${i + 1}}`,
  )} fragment A40 on query_root{ledger_infos{chain_id}}`,
  'fragments in a circle': '{...A} fragment A on query_root{...B} fragment B on query_root{...A}',
  'types of types': `{__schema{types{${around(6, 'fields{type{', 'name', '}}')}}}}`,
  'all types many times': `{${repeated(
    400,
    (i) => `a${i}:__schema{types{name fields{name type{name}} inputFields{name}}}`,
  )}}`,
  'columns of JSON by the hundred': `{events{${repeated(900, (i) => `a${i}:data`)}}}`,
  'regular expressions by the hundred': `{events(where:{_and:[${repeated(
    300,
    (i) => `{type:{_nregex:"q${i}(ab|cd|ef|gh)*"}}`,
  )}]}){type}}`,
  'rows of rows': '{current_token_datas_v2{current_token_ownerships{composed_nfts{amount}}}}',
  'a back reference': '{events(where:{type:{_regex:"(a*)\\\\1"}}){type}}',
  'a pattern that does not compile': '{events(where:{type:{_regex:"("}}){type}}',
  'a pattern with a huge count':
    '{events(where:{type:{_regex:"((a{1,255}){1,255}){1,255}"}}){type}}',
  'a number without end': `{events(where:{event_index:{_eq:${'9'.repeat(10_000)}}}){type}}`,
  'a number of many digits':
    '{current_objects(where:{last_guid_creation_num:{_eq:1e999999}}){object_address}}',
  'a text with a zero': '{events(where:{type:{_eq:"a\\u0000b"}}){type}}',
  'half a character': '{events(where:{type:{_eq:"\\uD800"}}){type}}',
  'a negative limit': '{events(limit:-1){type}}',
  'a negative offset': '{events(offset:-1){type}}',
  'a table of PostgreSQL': '{pg_class{relname}}',
  'a table in another schema': '{information_schema{tables}}',
  'the progress of the indexer': '{daybook_progress{next_version}}',
  'a prototype': '{events(where:{__proto__:{}}){type}}',
  'a constructor': '{events(where:{constructor:{}}){type}}',
  'a mutation': 'mutation{insert_events{affected_rows}}',
  'a subscription': 'subscription{events{type}}',
};

describe('hostile documents get an error', () => {
  it.each(Object.keys(HOSTILE))('%s', async (name) => {
    const answer = await ask(database, HOSTILE[name]!);
    expect(answer).toEqual({
      errors: [
        {
          message: expect.any(String),
          extensions: { path: expect.stringMatching(/^\$/), code: expect.any(String) },
        },
      ],
    });
    // The response does not repeat a failure's whole cause.
    expect(JSON.stringify(answer).length).toBeLessThan(15_000);
  });

  it('and nothing is worse than before', async () => {
    const { data } = await ask(database, '{ledger_infos{chain_id}}');
    expect(data.ledger_infos.length).toBeGreaterThan(0);
  });

  it('hidden columns are not shown, ordered by, compared or named', async () => {
    const hidden = CATALOGUE.flatMap(({ name, columns }) =>
      columns.filter((column) => column.hidden).map((column) => [name, column.name] as const),
    );
    for (const [table, column] of hidden) {
      for (const query of [
        `{${table}{${column}}}`,
        `{${table}(order_by:{${column}:asc}){__typename}}`,
        `{${table}(where:{${column}:{_is_null:true}}){__typename}}`,
        `{${table}(distinct_on:${column}){__typename}}`,
      ]) {
        expect((await ask(database, query)).errors[0].extensions.code).toBe('validation-failed');
      }
    }
  });
});

describe('texts are values, never SQL', () => {
  const ATTACKS = [
    `'; DROP SCHEMA indexer CASCADE; --`,
    `' OR '1'='1`,
    `\\'; SELECT pg_sleep(10); --`,
    `$1`,
    `{"a"}`,
    `{a,NULL,"b"}`,
    `\\`,
    `"`,
    `%`,
    `_`,
    `NULL`,
    `x'); COPY events TO 'x'; --`,
  ];
  const PLACES: Readonly<Record<string, string>> = {
    _eq: 'query($a:String!){events(where:{type:{_eq:$a}}){type}}',
    _in: 'query($a:String!){events(where:{type:{_in:[$a]}}){type}}',
    _has_key: 'query($a:String!){events(where:{data:{_has_key:$a}}){type}}',
    _has_keys_any: 'query($a:String!){events(where:{data:{_has_keys_any:[$a]}}){type}}',
    path: 'query($a:String!){events(limit:1){data(path:$a)}}',
  };

  it.each(Object.entries(PLACES))('%s', async (name, query) => {
    for (const a of ATTACKS) {
      const { data, errors } = await ask(database, query, { a });
      if (name === 'path')
        expect(errors?.[0].extensions.code ?? 'parse-failed').toBe('parse-failed');
      else {
        expect(errors).toBeUndefined();
        for (const { type } of name.startsWith('_has') ? [] : data.events) expect(type).toBe(a);
      }
    }
    const { data } = await ask(
      database,
      '{events_by_pk(transaction_version:0,event_index:-7){type} events{type}}',
    );
    expect(data.events.length).toBeGreaterThan(0);
  });
});

describe('introspection', () => {
  it('answers what code generators and pages ask', async () => {
    const { data } = await ask(database, getIntrospectionQuery());
    const types = new Map(data.__schema.types.map((type: { name: string }) => [type.name, type]));
    for (const { name } of CATALOGUE) expect(types.has(name)).toBe(true);
    expect(data.__schema.queryType.name).toBe('query_root');
    expect(data.__schema.mutationType).toBeNull();
  });

  it('stands beside rows, in the order of the document', async () => {
    const query = '{b:ledger_infos{chain_id} a:__type(name:"events"){name} __typename}';
    const { data } = await ask(database, query);
    expect(Object.keys(data)).toEqual(['b', 'a', '__typename']);
    expect(data.a).toEqual({ name: 'events' });
    expect(data.__typename).toBe('query_root');
  });
});
