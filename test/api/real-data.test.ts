/**
 * The document is valid for every module and event stream of real genesis files, and their test vectors are reproduced
 * over HTTP.
 */

import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { type Genesis, readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { chunkOfGenesis, computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { ContractEvent } from '../../src/move/transactions/event.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { TestApi } from './client.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { postEncode } from './encode-request.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const SHARED = new URL('../../../shared/', import.meta.url);
const present = existsSync(SHARED);

interface Vector {
  readonly name: string;
  readonly ledger: string;
  readonly request: Json;
  readonly signing_message: string;
}

/** Paths of all modules and streams that a genesis writes. */
function pathsOf(genesis: Genesis): { modules: Set<string>; streams: Set<string> } {
  const modules = new Set<string>();
  const streams = new Set<string>();
  for (const { key } of genesis.writes()) {
    if (key.kind === 'accessPath' && key.parsed?.kind === 'code') {
      const { address, name } = key.parsed.module;
      modules.add(`/v1/accounts/${address}/module/${encodeURIComponent(name)}`);
    }
  }
  for (const bytes of genesis.eventBytes()) {
    const event = ContractEvent.decode(bytes);
    if (event.kind === 'v1') {
      streams.add(`/v1/accounts/${event.key.address}/events/${event.key.creationNumber}?limit=100`);
    }
  }
  return { modules, streams };
}

describe.skipIf(!present).each(['mainnet', 'testnet', 'devnet'])(
  'the genesis of %s (skipped without ../shared)',
  (network) => {
    let genesis: Genesis;
    let app: TestApi;
    const log = new LogLines();
    beforeAll(async () => {
      genesis = readGenesis(readFileSync(new URL(`genesis/${network}.blob`, SHARED)));
      const store = new MemoryStore();
      const writer = await LedgerWriter.open(store);
      await writer.append(chunkOfGenesis(genesis, computeGenesisHashes(genesis)));
      app = new TestApi(buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), log));
    });
    afterAll(() => app?.close());

    async function problemsOf(urls: Iterable<string>, schema: Json): Promise<string[]> {
      const schemas = new DocumentSchemas((await app.request('/v1/spec.json')).json<Json>());
      const problems: string[] = [];
      for (const url of urls) {
        const response = await app.request(url);
        if (response.statusCode !== 200) problems.push(`${url}: ${response.body}`);
        else {
          const found = schemas.problems(schema, response.json<Json>());
          problems.push(...found.map((problem) => `${url}: ${problem}`));
        }
      }
      return problems;
    }

    it('modules and events are as documented', async () => {
      const { modules, streams } = pathsOf(genesis);
      expect(modules.size).toBe(genesis.counts.modules);
      expect(streams.size).toBe({ mainnet: 1_499, testnet: 33, devnet: 2 }[network]);
      const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
      expect(await problemsOf(modules, reference('MoveModuleBytecode'))).toEqual([]);
      const events = { type: 'array', minItems: 1, items: reference('VersionedEvent') };
      expect(await problemsOf(streams, events)).toEqual([]);
      expect(log.errors).toEqual([]);
    });

    it('vectors of its chain come out as hex and as BCS', async () => {
      const file = readFileSync(new URL('vectors/encode.json', SHARED), 'utf8');
      const vectors = (JSON.parse(file) as Vector[]).filter(({ ledger }) => ledger === network);
      expect(vectors.length > 0).toBe(network === 'mainnet');
      for (const { name, request, signing_message: message } of vectors) {
        const json = await postEncode(app, request);
        expect([name, json.body]).toEqual([name, JSON.stringify(message)]);
        const bcs = await postEncode(app, request, { accept: 'application/x-bcs' });
        expect(bcs.bytes.toString('hex').endsWith(message.slice(2))).toBe(true);
      }
    });
  },
);
