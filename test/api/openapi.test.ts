/** The document is valid OpenAPI 3.1, complete, and agrees with the registered routes and the responses. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { ERROR_CODES } from '../../src/api/error-table.ts';
import { ENDPOINTS } from '../../src/api/http/endpoint-list.ts';
import { openApiDocument } from '../../src/api/http/openapi.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { withoutLedger } from './error-answers.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Json }[];
  readonly requestBody?: { content: Record<string, { schema: Json }> };
  readonly responses: Record<string, { $ref?: string; description?: string; headers?: object }>;
}

interface Document {
  readonly openapi: string;
  readonly servers: readonly { url: string }[];
  readonly tags: readonly { name: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    readonly schemas: Record<string, Record<string, unknown>>;
    readonly headers: Record<string, { required: boolean; schema: Record<string, unknown> }>;
    readonly responses: Record<string, { headers: object; content: Record<string, unknown> }>;
  };
}

const app = withoutLedger();
afterAll(() => app.close());
const document = openApiDocument(ENDPOINTS, { headerPrefix: 'X-NODE' }) as unknown as Document;

/** Every value of a member name anywhere in the document. */
function* membersNamed(name: string, value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  for (const [member, inner] of Object.entries(value)) {
    if (member === name) yield inner;
    yield* membersNamed(name, inner);
  }
}

function resolvePointer(pointer: string): unknown {
  const steps = pointer.replace('#/', '').split('/');
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document);
}

describe('the document', () => {
  it('comes as JSON and as YAML with the same content', async () => {
    const json = await app.request('/v1/spec.json');
    expect(json.statusCode).toBe(200);
    expect(json.headers['content-type']).toBe('application/json');
    expect(json.json()).toEqual(document);
    const yaml = await app.request('/v1/spec.yaml');
    expect(yaml.headers).toMatchObject({
      'content-type': 'application/x-yaml',
      'content-disposition': 'inline; filename="spec.yaml"',
    });
    expect(parseYaml(yaml.body)).toEqual(document);
    const head = await app.request({ method: 'HEAD', url: '/v1/spec.json' });
    expect([head.statusCode, head.body]).toEqual([200, '']);
  });

  it('is OpenAPI 3.1 in its outer structure', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.servers).toEqual([{ url: '/v1' }]);
    for (const [path, item] of Object.entries(document.paths)) {
      expect(path).toMatch(/^\//);
      for (const [method, operation] of Object.entries(item)) {
        expect(['get', 'post']).toContain(method);
        expect(operation.summary).not.toBe('');
        expect(document.tags.map(({ name }) => name)).toEqual(
          expect.arrayContaining([...operation.tags]),
        );
        for (const [status, response] of Object.entries(operation.responses)) {
          expect(status).toMatch(/^[1-5]\d\d$/);
          expect(response.$ref ?? response.description).toBeTypeOf('string');
        }
      }
    }
  });

  it('has no reference that leads nowhere, and no named schema that nothing uses', () => {
    const references = [...membersNamed('$ref', document)] as string[];
    const mappings = [...membersNamed('mapping', document)] as Record<string, string>[];
    const all = [...references, ...mappings.flatMap((mapping) => Object.values(mapping))];
    expect(all.length).toBeGreaterThan(50);
    for (const reference of all) expect(resolvePointer(reference)).toBeDefined();
    for (const name of Object.keys(document.components.schemas)) {
      expect(all).toContain(`#/components/schemas/${name}`);
    }
    expect([...membersNamed('$id', document)]).toEqual([]);
  });

  it('has unique operations, and documents the parameters of their paths', () => {
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.values(item).map((operation) => ({ path, operation })),
    );
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(
      expect.arrayContaining([
        'encode_submission',
        'get_events_by_creation_number',
        'get_account_module',
        'get_account_balance',
      ]),
    );
    for (const { path, operation } of operations) {
      const named = operation.parameters.filter((each) => each.in === 'path');
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(named.map(({ name }) => name)).toEqual(inPath);
      expect(named.every(({ required }) => required)).toBe(true);
      const successes = Object.keys(operation.responses).filter((status) => /^2/.test(status));
      expect(successes, operation.operationId).toHaveLength(1);
    }
  });

  it('has patterns that take what the interface takes', () => {
    const takes = (name: string, text: string) =>
      new RegExp(document.components.schemas[name]!['pattern'] as string).test(text);
    const u64s = ['0', '007', '+5', '9'.repeat(19), '18446744073709551599', '18446744073709551615'];
    for (const text of [...u64s, '00018446744073709551615']) {
      expect([text, takes('U64', text)]).toEqual([text, true]);
    }
    for (const text of [
      '',
      '-1',
      '1.0',
      '18446744073709551616',
      '18446744073709551620',
      '9'.repeat(20),
    ])
      expect([text, takes('U64', text)]).toEqual([text, false]);
    const address = 'f'.repeat(64);
    for (const text of ['1', '0xA', address, `0x${address}`])
      expect(takes('Address', text)).toBe(true);
    for (const text of ['', '0x', '0X1', 'g', `${address}f`])
      expect(takes('Address', text)).toBe(false);
    for (const text of ['0x1::a::B', '0x1::a_1::B$<u8, 0x2::c::D<bool>>'])
      expect([takes('MoveStructTag', text), takes('AssetType', text)]).toEqual([true, true]);
    for (const text of ['0x1::a', '1::a::B', '0x1::a::B<', '0x1::a::1', `0x${address}f::a::B`])
      expect([takes('MoveStructTag', text), takes('AssetType', text)]).toEqual([false, false]);
  });

  it('says of every operation what its headers and limits can do', () => {
    for (const [path, item] of Object.entries(document.paths)) {
      for (const operation of Object.values(item)) {
        const header = operation.parameters.find((each) => each.in === 'header')!;
        expect(Object.keys(header)).not.toContain('example');
        expect(JSON.stringify(header.schema)).not.toMatch(/example|\$ref/);
        expect([path, operation.responses]).toEqual([
          path,
          expect.objectContaining({ 400: expect.anything() }),
        ]);
        const limit = operation.parameters.find(({ name }) => name === 'limit');
        const least = operation.operationId === 'get_account_transaction_summaries' ? 0 : 1;
        if (limit !== undefined)
          expect(limit.schema).toMatchObject({ minimum: least, maximum: 65_535 });
      }
    }
  });

  it('tells payloads apart by their type', () => {
    for (const name of ['TransactionPayload', 'MultisigTransactionPayload']) {
      const { oneOf, discriminator } = document.components.schemas[name]! as {
        oneOf: readonly { $ref: string }[];
        discriminator: { propertyName: string; mapping: Record<string, string> };
      };
      expect(discriminator.propertyName).toBe('type');
      expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }) => $ref));
      for (const [value, reference] of Object.entries(discriminator.mapping)) {
        const variant = resolvePointer(reference) as { properties: { type: unknown } };
        expect(variant.properties.type).toMatchObject({ const: value });
      }
    }
  });

  it('names the headers by their prefix, on every response', async () => {
    const names = (prefix: string) =>
      [
        'CHAIN-ID',
        'LEDGER-VERSION',
        'LEDGER-OLDEST-VERSION',
        'LEDGER-TIMESTAMPUSEC',
        'EPOCH',
        'BLOCK-HEIGHT',
        'OLDEST-BLOCK-HEIGHT',
      ].map((suffix) => `${prefix}-${suffix}`);
    expect(Object.keys(document.components.headers)).toEqual(names('X-NODE'));
    for (const response of Object.values(document.components.responses)) {
      expect(Object.keys(response.headers)).toEqual(names('X-NODE'));
    }
    const other = withoutLedger({ headerPrefix: 'X-Aptos' });
    const { components } = (await other.request('/v1/spec.json')).json<Document>();
    expect(Object.keys(components.headers)).toEqual(names('X-APTOS'));
    await other.close();
  });

  it('lists every error code', () => {
    expect(document.components.schemas['ApiErrorCode']).toMatchObject({ enum: ERROR_CODES });
    expect(ERROR_CODES.length).toBe(23);
  });
});

describe('the schemas', () => {
  const schemas = new DocumentSchemas(document as unknown as Json);

  it('hold error bodies', async () => {
    const error = { $ref: '#/components/schemas/ApiError' };
    const body = (await app.request('/v1/nowhere')).json<Json>();
    expect(schemas.problems(error, body)).toEqual([]);
    expect(schemas.problems(error, { message: 'x', error_code: 'nope' })).not.toEqual([]);
  });

  const request = {
    sender: '0x1',
    sequence_number: '0',
    max_gas_amount: '1',
    gas_unit_price: '1',
    expiration_timestamp_secs: '1',
    payload: {
      type: 'entry_function_payload',
      function: '0x1::a::b',
      type_arguments: [],
      arguments: [1, 'x', null],
    },
  };

  it.each([
    ['a request', request, true],
    ['null for optional members', { ...request, secondary_signers: null }, true],
    ['a number for a u64', { ...request, sequence_number: 0 }, false],
    ['an unknown payload', { ...request, payload: { type: 'write_set_payload' } }, false],
    ['a payload without its members', { ...request, payload: { type: 'script_payload' } }, false],
    ['no sender', { ...request, sender: undefined }, false],
  ])('%s is held against the request’s', (_, value, valid) => {
    const schema =
      document.paths['/transactions/encode_submission']!['post']!.requestBody!.content[
        'application/json'
      ]!.schema;
    const problems = schemas.problems(schema, JSON.parse(JSON.stringify(value)) as Json);
    expect(problems.length === 0).toBe(valid);
  });

  const vectors = new URL('../../../shared/vectors/encode.json', import.meta.url);
  it.skipIf(!existsSync(vectors))(
    'hold every request of ../shared/vectors (skipped without)',
    () => {
      const all = JSON.parse(readFileSync(vectors, 'utf8')) as { name: string; request: Json }[];
      expect(all.length).toBeGreaterThan(0);
      for (const { name, request: body } of all) {
        const schema = { $ref: '#/components/schemas/EncodeSubmissionRequest' };
        expect([name, ...schemas.problems(schema, body)]).toEqual([name]);
      }
    },
  );
});
