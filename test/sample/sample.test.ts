/** Sample ledgers: everything in them was executed, and the same settings give the same bytes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { liveUsage } from '../../src/chain/live-usage.ts';
import { Executor } from '../../src/execution/executor.ts';
import { startNode } from '../../src/index.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { SampleChain } from '../../src/sample/sample-chain.ts';
import {
  checkCount,
  checkSettings,
  GENERATOR_VERSION,
  MAX_SAMPLE_ACCOUNTS,
  MAX_SAMPLE_SEED,
  readSampleSettings,
} from '../../src/sample/settings.ts';
import { openHead } from '../../src/store/columns/head.ts';
import { openSqliteReader, openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { Replay } from '../../src/verify/execution/replay.ts';
import { digestsOf } from '../process/ledger-contents.ts';

const SETTINGS = { seed: 5n, accounts: 40 };
const WHOLE = 700;
const PART = 250;

const folder = mkdtempSync(join(tmpdir(), 'daybook-sample-'));
const whole = join(folder, 'whole');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Opens a ledger, runs `work` with its writer, and closes it. */
async function write<T>(data: string, work: (writer: LedgerWriter) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ directory: data });
  try {
    return await work(await LedgerWriter.open(store));
  } finally {
    await store.close();
  }
}

beforeAll(() =>
  write(whole, async (writer) => (await SampleChain.begin(writer, SETTINGS)).growTo(WHOLE)),
);

describe('a sample ledger', () => {
  it('is what its transactions do when they are run again', async () => {
    const store = openSqliteReader({ directory: whole });
    try {
      const head = await openHead(store);
      expect(head.version).toBeGreaterThanOrEqual(WHOLE - 1);
      const replay = await Replay.open(store, head);
      for (let version = 0n; version <= head.version; version += 1n) {
        expect(await replay.run(version), `${version}`).toBeUndefined();
      }
    } finally {
      await store.close();
    }
  });

  it('has as much state as its epochs and their writes say', async () => {
    const store = openSqliteReader({ directory: whole });
    try {
      const head = await openHead(store);
      const executor = await Executor.open(store, head);
      const usage = await executor.countState();
      expect(await liveUsage(store, head.version)).toEqual(usage);
      expect(usage.items).toBeGreaterThan(500n);
      // A count continues from the previous one.
      executor.countFrom({ items: 7n, bytes: 70n });
      expect(await executor.countState()).toEqual({ items: 7n, bytes: 70n });
    } finally {
      await store.close();
    }
  });

  it('is the same in two parts, made by two processes', async () => {
    const parts = join(folder, 'parts');
    await write(parts, async (writer) => (await SampleChain.begin(writer, SETTINGS)).growTo(PART));
    await write(parts, async (writer) => {
      const chain = await SampleChain.resume(writer);
      expect(chain.version).toBeLessThan(WHOLE - 1);
      await chain.growTo(WHOLE);
    });
    expect(await digestsOf(parts)).toEqual(await digestsOf(whole));
  });

  it('has applications that are used, and calls that fail in every way', async () => {
    const statuses = await statusesByFunction();
    const succeeded = (name: string) => statuses.get(name)?.has('Executed successfully');
    for (const name of USED) expect(succeeded(name), name).toBe(true);
    const all = [...statuses.values()].flatMap((one) => [...one]).join('\n');
    for (const text of FAILURES) expect(all).toContain(text);
  });
});

const USED = [
  `${CAFE_HEX}::journal::write`,
  `${CAFE_HEX}::ticker::tick`,
  `${CAFE_HEX}::market::place`,
  `${CAFE_HEX}::market::close`,
  `${CAFE_HEX}::gallery::paint`,
  `${CAFE_HEX}::gallery::visit`,
  `${CAFE_HEX}::showcase::together`,
  '0x1::code::publish_package_txn',
  '0x1::multisig_account::create_transaction',
  '0x4::aptos_token::mint',
  '0x3::token::create_token_script',
  'script_payload',
  'multisig_payload',
];

const FAILURES = ['EINSUFFICIENT_BALANCE', 'Out of gas', 'Execution failed in'];

/** The statuses of each function's calls. */
async function statusesByFunction(): Promise<Map<string, Set<string>>> {
  const node = await startNode({ data: whole });
  const statuses = new Map<string, Set<string>>();
  try {
    for (let start = 0; start < WHOLE; start += 100) {
      const answer = await fetch(`${node.url}/transactions?start=${start}&limit=100`);
      for (const { type, payload, vm_status: status } of (await answer.json()) as Shown[]) {
        if (type !== 'user_transaction') continue;
        const name = payload.function ?? payload.type;
        statuses.set(name, (statuses.get(name) ?? new Set()).add(status));
      }
    }
    return statuses;
  } finally {
    await node.stop();
  }
}

interface Shown {
  readonly type: string;
  readonly vm_status: string;
  readonly payload: { readonly type: string; readonly function?: string };
}

describe('one block more', () => {
  it('has the time that is asked for, and as many users', async () => {
    const data = join(folder, 'more');
    await write(data, async (writer) => {
      const chain = await SampleChain.begin(writer, SETTINGS);
      const usecs = writer.head!.timestampUsecs + 5_000_000n;
      const { version } = chain;
      await chain.addBlock(3, usecs);
      expect(writer.head!.timestampUsecs).toBe(usecs);
      // The beginning and the end of a block, and sometimes calls that belong together.
      expect(chain.version - version).toBeGreaterThanOrEqual(5n);
    });
  });
});

describe('settings', () => {
  const ofGenerator = (generator: number) =>
    encodeBcs((to) => to.exactU64(generator).u64(MAX_SAMPLE_SEED).exactU64(7));

  it('are read from the ledger', () => {
    expect(readSampleSettings(ofGenerator(GENERATOR_VERSION))).toEqual({
      seed: MAX_SAMPLE_SEED,
      accounts: 7,
    });
  });

  it('of another generator are refused', () => {
    expect(() => readSampleSettings(ofGenerator(GENERATOR_VERSION - 1))).toThrow(
      expect.objectContaining({ code: 'not_this_sample' }),
    );
  });

  it('have limits', () => {
    const refused = expect.objectContaining({ code: 'bad_sample_settings' });
    const ofAccounts = (accounts: number) => () => checkSettings({ seed: 0n, accounts });
    const ofSeed = (seed: bigint) => () => checkSettings({ seed, accounts: 1 });
    expect(ofAccounts(MAX_SAMPLE_ACCOUNTS)).not.toThrow();
    expect(ofSeed(MAX_SAMPLE_SEED)).not.toThrow();
    for (const accounts of [0, 1.5, MAX_SAMPLE_ACCOUNTS + 1]) {
      expect(ofAccounts(accounts)).toThrow(refused);
    }
    for (const seed of [-1n, MAX_SAMPLE_SEED + 1n]) expect(ofSeed(seed)).toThrow(refused);
    expect(() => checkCount('transactions', 0, 1)).toThrow(refused);
  });

  it('of no sample are refused', async () => {
    const genesisOnly = join(folder, 'genesis');
    await write(genesisOnly, async (writer) => {
      await SampleChain.begin(writer, SETTINGS, {
        onCommit: () => {
          throw new Error('stopped after genesis');
        },
      }).catch(() => undefined);
      expect(writer.head!.version).toBe(0n);
      await expect(SampleChain.resume(writer)).rejects.toMatchObject({ code: 'not_this_sample' });
    });
  });
});
