/** Every document that the TypeScript SDK has, unchanged, over tables with rows. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/indexer/database/session.ts';
import { Random, testSeed } from '../random.ts';
import { ask } from './dialect/ask.ts';
import { openTables, randomRows } from './dialect/random-rows.ts';

const SDK = dirname(dirname(createRequire(import.meta.url).resolve('@aptos-labs/ts-sdk')));

/** Documents of the SDK's source; fragments are put in where it puts them. */
function sdkDocuments(): Map<string, string> {
  const source = readFileSync(join(SDK, '..', 'src/types/generated/queries.ts'), 'utf8');
  const texts = new Map<string, string>();
  for (const [, name, text] of source.matchAll(/export const (\w+) = `([^`]*)`/g)) {
    texts.set(
      name!,
      text!.replace(/\$\{(\w+)\}/g, (_, fragment: string) => texts.get(fragment)!),
    );
  }
  return texts;
}

const DOCUMENTS = sdkDocuments();
let database: Database;

beforeAll(async () => {
  database = await openTables(randomRows(new Random(testSeed())));
});
afterAll(() => database.close());

describe('documents of the TypeScript SDK', () => {
  it.each([...DOCUMENTS].filter(([, text]) => text.includes('query ')))('%s', async (_, text) => {
    const variables = Object.fromEntries(
      [...text.matchAll(/\$where_condition: \w+!/g)].map(() => ['where_condition', {}]),
    );
    const { data, errors } = await ask(database, text, variables);
    expect(errors).toBeUndefined();
    for (const rows of Object.values(data) as unknown[]) {
      if (Array.isArray(rows)) expect(rows.length).toBeGreaterThan(0);
      else expect(rows).toEqual({ aggregate: { count: expect.any(Number) } });
    }
  });

  it('are all there', () => {
    expect(DOCUMENTS.size).toBe(29);
  });
});
