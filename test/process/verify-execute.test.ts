/**
 * `daybook verify --execute` with the real program: a recorded ledger of the reference, executed again in threads, also
 * with kills, and with changed transactions.
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { Batch } from '../../src/store/batch.ts';
import { TRANSACTIONS } from '../../src/store/columns/columns.ts';
import { encodeBucketKey } from '../../src/store/columns/order-key.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { randomSource, roundsOf, someOf, testSeed } from '../random.ts';
import { SIMULATIONS_CHAIN, storeReferenceChain } from '../reference/reference-chain.ts';
import { endOf, expectFailure, runCommand, startCommand, temporaryFolder } from './command.ts';
import { makeBulkLedger } from './ledger-contents.ts';

type ItemBytes = ReturnType<typeof readOnChainData>['bytes'];

const KILLS = roundsOf('CRASH_RUNS', 1, 8);
/** Progress files that cannot be resumed. */
const OTHERS = ['{"subject": {"program": "0", "genesis": ""}, "done": []}', '{"subject"'];
const EQUAL = { holds: true, from_version: '0', to_version: '399', different: 0, not_executed: 0 };

describe('verify --execute', () => {
  const random = randomSource(testSeed());
  const folder = temporaryFolder();
  const data = join(folder, 'ledger');
  const progress = join(data, 'execution-progress.json');
  const command = ['verify', '--execute', '--threads', '2', '--data', data];

  beforeAll(() => storeReferenceChain(data, 399, SIMULATIONS_CHAIN));

  let wholeMs = 0;

  it('finds every outcome and every root, and leaves nothing behind', async () => {
    const start = performance.now();
    const { code, stdout, stderr } = await runCommand(command);
    wholeMs = performance.now() - start;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('versions                0 to 399\n');
    expect(stdout).toContain('state roots compared    73\n');
    expect(stdout).toMatch(/everything holds\n$/);
    expect(existsSync(progress)).toBe(false);
  });

  it(`goes on where it was when it is killed, ${KILLS} times`, async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = startCommand(command);
      const ended = endOf(child);
      // A run that finishes before the kill leaves no progress, so the next one starts over.
      await sleep((0.2 + 0.7 * random()) * wholeMs);
      child.kill('SIGKILL');
      await ended;
    }
    const { code, stdout } = await runCommand([...command, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ...EQUAL, state_roots: 73, differences: [] });
  });

  it('starts over where the progress is of another program or cut off', async () => {
    for (const text of someOf(OTHERS, 1)) {
      writeFileSync(progress, text);
      const { stdout } = await runCommand([...command, '--json']);
      expect(JSON.parse(stdout)).toMatchObject(EQUAL);
    }
  });

  it('does not replace a file of anything else that --progress names', async () => {
    const file = join(folder, 'notes.json');
    for (const [text, refusal] of [
      ['notes', 'notes.json is not progress of verify --execute'],
      ['{"subject": "notes"}', 'notes.json is not progress of verify --execute'],
      [OTHERS[0]!, 'notes.json is of another ledger'],
    ] as const) {
      writeFileSync(file, text);
      const failed = await runCommand([...command, '--progress', file]);
      expect(expectFailure(failed, 2)).toContain(refusal);
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
    const unreadable = await runCommand([...command, '--progress', folder]);
    expect(expectFailure(unreadable, 1)).toContain('cannot read');
  });

  it('names transactions that have another outcome or are not signed, and exits 1', async () => {
    const changed = join(folder, 'changed');
    cpSync(data, changed, { recursive: true });
    const store = await openSqliteStore({ directory: changed });
    const change = async (version: bigint, edit: (bytes: ItemBytes) => void): Promise<void> => {
      const { partition, order } = encodeBucketKey(version);
      const bytes = Buffer.from((await store.get(TRANSACTIONS, partition, order))!);
      edit(readOnChainData(new BcsReader(bytes)).bytes);
      await store.commit(new Batch().put(TRANSACTIONS, partition, order, bytes));
    };
    // The gas used is the info's first field, and a signature the transaction's last one.
    await change(20n, ({ info }) => {
      info[1]! ^= 1;
    });
    await change(22n, ({ transaction }) => {
      transaction[transaction.length - 40]! ^= 1;
    });
    await store.close();
    const { code, stdout, stderr } = await runCommand(['verify', '--execute', '--data', changed]);
    expect(code).toBe(1);
    expect(stdout).toContain('version 20: another gas\n');
    expect(stdout).toContain('version 22: it is not properly signed\n');
    expect(stderr).toContain('2 transactions have another outcome');
  });

  it('says what it cannot execute: transactions that nothing executed', async () => {
    const sample = join(folder, 'sample');
    await makeBulkLedger(sample, 50);
    const { code, stdout } = await runCommand(['verify', '--execute', '--data', sample]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^not executed: version \d+: /m);
  });

  it('refuses options that do not belong to it', async () => {
    const args = ['--data', data];
    const repair = await runCommand(['verify', '--execute', '--repair', ...args]);
    expect(expectFailure(repair, 2)).toContain('--execute does not repair');
    const threads = await runCommand(['verify', '--threads', '2', ...args]);
    expect(expectFailure(threads, 2)).toContain('--threads belongs to --execute');
  });
});
