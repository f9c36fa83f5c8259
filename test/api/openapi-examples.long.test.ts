/** The small sample ledger answers every example of a parameter in the document with 200. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/api/http/endpoint-list.ts';
import { openApiDocument } from '../../src/api/http/openapi.ts';
import { buildApi } from '../../src/api/http/server.ts';
import { makeSample, SMALL_SAMPLE } from '../../src/node/sample.ts';
import type { Store } from '../../src/store/store.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore, testedLocation } from './tested-ledger.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly example?: string | number | boolean;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
}

type Document = { readonly paths: Record<string, Record<string, Operation>> };
const document = openApiDocument(ENDPOINTS, { headerPrefix: 'X-NODE' }) as unknown as Document;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
);

/** The path with its examples, and with the query examples that `isSent` selects. */
function exampleUrl(
  path: string,
  parameters: readonly Parameter[],
  isSent: (parameter: Parameter) => boolean,
): string {
  const text = ({ example }: Parameter) => encodeURIComponent(String(example));
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const filled = inPath.reduce((at, one) => at.replace(`{${one.name}}`, text(one)), path);
  const query = parameters.filter((one) => one.in === 'query' && (one.required || isSent(one)));
  return `/v1${filled}?${query.map((one) => `${one.name}=${text(one)}`).join('&')}`;
}

describe('examples of parameters', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-examples-'));
  let store: Store;
  let app: TestApi;

  beforeAll(async () => {
    await makeSample(await testedLocation(folder), SMALL_SAMPLE);
    store = await openTestedStore({ directory: folder });
    app = new TestApi(buildApi(openTestedLedger(store), apiSettings(), new LogLines()));
  });
  afterAll(async () => {
    await app.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it.each(operations)('are there: $method $path', ({ parameters }) => {
    const without = parameters.filter(({ example }) => example === undefined);
    // The version to wait for has no example, because it would not arrive.
    expect(without.map((parameter) => parameter.in)).toEqual(['header']);
  });

  const reads = operations.filter(({ method }) => method === 'get');
  it.each(reads)('are answered: GET $path', async ({ path, parameters }) => {
    const queries = parameters.filter((parameter) => parameter.in === 'query');
    const urls = [
      exampleUrl(path, parameters, () => false),
      exampleUrl(path, parameters, () => true),
      ...queries.map(({ name }) => exampleUrl(path, parameters, (one) => one.name === name)),
    ];
    for (const url of urls) {
      const response = await app.request(url);
      expect(response.statusCode, `${url}: ${response.body}`).toBe(200);
    }
  });
});
