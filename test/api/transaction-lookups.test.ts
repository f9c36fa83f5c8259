/**
 * Transactions by hash, and transactions of an account: every limit, text and status (docs/spec/transactions.md §1).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { decodeBcs } from '../../src/move/bcs/bcs-reader.ts';
import { TransactionInfo } from '../../src/move/transactions/transaction-info.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { address, block, chunk, IDENTITY_OF_TESTS, transaction } from '../store/chunks.ts';
import { nonce, sentBy, sequence, storedTransaction } from '../store/on-chain-data.ts';
import { TestApi } from './client.ts';
import { expectError, LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const BCS = { accept: 'application/x-bcs' };
const SENDER = address(0xabc);
/** The sender's transactions, by version; the others are checkpoints. */
const SENT = new Map([
  [1, sequence(0n)],
  [2, nonce(7n)],
  [4, sequence(1n)],
  [5, nonce(3n)],
  [8, sequence(2n)],
]);
const VERSIONS = 10;

const stored = (version: number) => {
  const by = SENT.get(version);
  return storedTransaction(version, by && sentBy(SENDER, by));
};
const hashOf = (version: number): string =>
  decodeBcs(stored(version).info, TransactionInfo.read).transactionHash.toString('hex');

interface Served {
  readonly app: TestApi;
  readonly writer: LedgerWriter;
  close(): Promise<void>;
}

async function serve(keepsTransactions = true): Promise<Served> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-lookups-'));
  const store: Store = await openTestedStore({ directory });
  const writer = await LedgerWriter.open(store);
  const transactions = Array.from({ length: VERSIONS }, (_, version) => ({
    ...transaction(version),
    ...stored(version),
  }));
  const blocks = [block(0, 0, 0), block(1, 4), block(2, 9)];
  const identity = { ...IDENTITY_OF_TESTS, keepsTransactions };
  await writer.append(chunk(0, transactions, { blocks, identity }));
  const log = new LogLines();
  const settings = apiSettings({ ...NO_LOAD_BOUNDS, maxPageSize: 3 });
  const app = new TestApi(buildApi(openTestedLedger(store), settings, log));
  const close = async () => {
    await app.close();
    await store.close();
    rmSync(directory, { recursive: true });
    expect(log.errors).toEqual([]);
  };
  return { app, writer, close };
}

/** BCS of the transactions of some versions. */
function listed(versions: readonly number[]): string {
  const items = versions.map((version) => stored(version).transaction);
  return Buffer.concat([Buffer.of(versions.length), ...items]).toString('hex');
}

describe('lookups', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served.close());

  const ask = (path: string, headers: Record<string, string> = BCS) =>
    served.app.request({ url: `/v1${path}`, headers });
  const list = (query: string) => ask(`/accounts/0xabc/transactions${query}`);
  const summaries = async (query: string): Promise<string> => {
    const { body } = await ask(`/accounts/0xabc/transaction_summaries${query}`, {});
    return (JSON.parse(body) as { version: string }[]).map(({ version }) => version).join(' ');
  };

  it.each(['by_hash', 'wait_by_hash'])(
    '%s finds every kind, however its hash is written',
    async (by) => {
      for (const version of [0, 1, 2, 9]) {
        const expected = Buffer.concat([Buffer.of(0), stored(version).transaction]);
        const hash = hashOf(version);
        for (const text of [hash, `0x${hash}`, hash.toUpperCase(), `0x${hash.toUpperCase()}`]) {
          const found = await ask(`/transactions/${by}/${text}`);
          expect(found.statusCode).toBe(200);
          expect(found.bytes.equals(expected)).toBe(true);
        }
      }
    },
  );

  it.each(['by_hash', 'wait_by_hash'])('%s knows no other hashes', async (by) => {
    const text = 'AB'.repeat(32);
    const message = `Transaction not found by Transaction hash(0x${text.toLowerCase()})`;
    expectError(await ask(`/transactions/${by}/${text}`), 404, 'transaction_not_found', message);
    const refusal =
      'failed to parse path `txn_hash`: failed to parse "string(HashValue)": unable to parse HashValue';
    for (const bad of [text.slice(1), `${text}0`, `0X${text}`, `${text.slice(2)}zz`, 'x']) {
      const answer = await ask(`/transactions/${by}/${bad}`);
      expectError(answer, 400, 'web_framework_error', refusal);
    }
  });

  it.each([
    ['', [1, 4, 8]],
    ['?start=0', [1, 4, 8]],
    ['?start=1', [4, 8]],
    ['?start=0&limit=2', [1, 4]],
    ['?start=0&limit=4', [1, 4, 8]],
    ['?start=3', []],
    ['?start=18446744073709551612&limit=3', []],
  ])('the transactions of an account%s', async (query, versions) => {
    const answer = await list(query);
    expect(answer.statusCode).toBe(200);
    expect(answer.bytes.toString('hex')).toBe(listed(versions));
  });

  it('sequence numbers end with u64', async () => {
    for (const [start, limit] of [
      ['18446744073709551613', 3],
      ['18446744073709551615', 1],
    ] as const) {
      const message =
        'Failed to retrieve account transactions: AptosDB Other Error: ' +
        `Too many items requested: at least ${start} requested, max is ${limit}`;
      const answer = await list(`?start=${start}&limit=${limit}`);
      expectError(answer, 500, 'internal_error', message);
    }
    expect((await list('?start=18446744073709551614&limit=1')).statusCode).toBe(200);
  });

  it('an account’s list needs a limit of 1 or more; one without transactions is empty', async () => {
    const message = 'Given limit value (0) must not be zero';
    expectError(await list('?limit=0'), 400, 'invalid_input', message);
    const other = await ask('/accounts/0x77/transactions');
    expect([other.statusCode, other.bytes.toString('hex')]).toEqual([200, '00']);
  });

  it.each([
    ['', '4 5 8'],
    ['?limit=0', ''],
    ['?limit=2', '5 8'],
    ['?limit=4', '4 5 8'],
    ['?start_version=0', '1 2 4'],
    ['?start_version=2&limit=2', '2 4'],
    ['?start_version=5&end_version=1', '5 8'],
    ['?end_version=4', '1 2 4'],
    ['?end_version=7&limit=1', '5'],
    ['?end_version=0', ''],
    ['?end_version=18446744073709551615', '4 5 8'],
    ['?start_version=18446744073709551615', ''],
  ])('summaries%s', async (query, versions) => {
    expect(await summaries(query)).toBe(versions);
  });

  it('a summary in both formats', async () => {
    const path = '/accounts/0xabc/transaction_summaries?end_version=2&limit=1';
    expect((await ask(path, {})).body).toBe(
      JSON.stringify([
        {
          sender: '0xabc',
          version: '2',
          transaction_hash: `0x${hashOf(2)}`,
          replay_protector: '7',
        },
      ]),
    );
    const bcs = `0100${SENDER}0200000000000000${hashOf(2)}000700000000000000`;
    expect((await ask(path)).bytes.toString('hex')).toBe(bcs);
  });
});

it('what is pruned is not found, and not listed', async () => {
  const served = await serve();
  await new Pruner(served.writer, { graceMs: 0, restFactor: 0 }).run({ versions: 6 });
  const ask = (path: string) => served.app.request({ url: `/v1${path}`, headers: BCS });
  const gone = await ask(`/transactions/by_hash/${hashOf(1)}`);
  const message = `Transaction not found by Transaction hash(0x${hashOf(1)})`;
  expectError(gone, 404, 'transaction_not_found', message);
  expect((await ask(`/transactions/by_hash/${hashOf(4)}`)).statusCode).toBe(200);
  const listOf = await ask('/accounts/0xabc/transactions?start=0');
  expect(listOf.bytes.toString('hex')).toBe(listed([4, 8]));
  const summaries = await ask('/accounts/0xabc/transaction_summaries?start_version=0');
  expect(summaries.bytes[0]).toBe(3);
  await served.close();
});

it('a ledger without its transactions answers 403', async () => {
  const served = await serve(false);
  for (const [path, name] of [
    [`/transactions/by_hash/${hashOf(1)}`, 'Get transactions by hash'],
    [`/transactions/wait_by_hash/${hashOf(1)}`, 'Get transactions by hash'],
    ['/accounts/0xabc/transactions', 'Get account transactions'],
    ['/accounts/0xabc/transaction_summaries', 'Get account transaction summaries'],
  ] as const) {
    const text = `${name} is disabled on this endpoint: its ledger keeps no transactions`;
    const answer = await served.app.request({ url: `/v1${path}`, headers: BCS });
    expectError(answer, 403, 'api_disabled', text);
  }
  await served.close();
});
