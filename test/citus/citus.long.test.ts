/** A ledger on Citus: followed, read, and one worker killed meanwhile. Run by test/citus/run. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COLUMNS } from '../../src/store/columns/columns.ts';
import { parsePostgresUrl } from '../../src/store/postgres/location.ts';
import {
  makePostgresStore,
  openPostgresReader,
  openPostgresStore,
} from '../../src/store/postgres/postgres-store.ts';
import { columnDigest } from '../../src/store/read/digest.ts';
import { openSqliteReader } from '../../src/store/sqlite/sqlite-store.ts';
import { isStoreError } from '../../src/store/store-error.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { CITUS_FOLDER } from '../postgres/cluster.ts';
import { runCommand, ServedNode, temporaryFolder } from '../process/command.ts';
import { until } from '../process/worker-processes.ts';
import { block, chunk, transaction } from '../store/chunks.ts';
import { CitusCluster } from './cluster.ts';

const NO_CITUS = CITUS_FOLDER === undefined ? 'skipped, no Citus: ' : '';
const TRANSACTIONS = process.env['CITUS_TRANSACTIONS'] ?? '100000';
const TIMEOUT_MS = 3_600_000;

describe.skipIf(NO_CITUS !== '')(`${NO_CITUS}a coordinator and three workers`, () => {
  let cluster: CitusCluster;

  beforeAll(async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o711);
    cluster = await CitusCluster.create(folder);
  }, TIMEOUT_MS);
  afterAll(() => cluster.stop());

  async function newLedger(schema: string): Promise<string> {
    const data = cluster.coordinator.url(`?schema=${schema}`);
    await makePostgresStore(parsePostgresUrl(data), async () => undefined, { distribute: true });
    return data;
  }

  async function done(...args: readonly string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await runCommand([...args, '--json']);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  it('follow a ledger, and have the same rows', { timeout: TIMEOUT_MS }, async () => {
    const folder = join(temporaryFolder(), 'ledger');
    await done('sample', '--data', folder, '--transactions', TRANSACTIONS);
    const upstream = await ServedNode.start(folder);
    const data = await newLedger('followed');
    const startedMs = performance.now();
    const { url, ledger_version: version } = upstream.ready;
    await done('follow', '--data', data, '--from', url, '--until', version);
    const seconds = (performance.now() - startedMs) / 1_000;
    console.info({ transactions: Number(version), seconds, rate: Number(version) / seconds });
    const copy = await openPostgresReader(parsePostgresUrl(data));
    const original = await openSqliteReader({ directory: folder });
    for (const column of COLUMNS) {
      expect(await columnDigest(copy, column)).toEqual(await columnDigest(original, column));
    }
    await Promise.all([copy.close(), original.close()]);
    await upstream.stop();
  });

  it('a worker is killed: 503 until it is back, no commit lost', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const data = await newLedger('killed');
    const store = await openPostgresStore(parsePostgresUrl(data));
    const writer = await LedgerWriter.open(store);
    const grow = async (): Promise<void> => {
      const version = Number((writer.head?.version ?? -1n) + 1n);
      const blocks = version === 0 ? {} : { blocks: [block(version, version)] };
      await writer.append(chunk(version, [transaction(version)], blocks));
    };
    for (let round = 0; round < 10; round += 1) await grow();
    const node = await ServedNode.start(data);
    const acknowledged: bigint[] = [];
    const failures: unknown[] = [];
    const statuses = new Map<number, number>();
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        try {
          await grow();
          acknowledged.push(writer.head!.version);
        } catch (error) {
          failures.push(error);
          await sleep(50);
          await writer.refresh().catch((again: unknown) => failures.push(again));
        }
      }
    })();
    const reading = (async () => {
      while (!isOver) {
        for (let version = 0; version < 10 && !isOver; version += 1) {
          const { status } = await node.get(`/transactions/by_version/${version}`);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      }
    })();
    await until('there are commits', () => acknowledged.length > 20);
    const worker = await cluster.workerOf('killed.c20_transactions', '\\x000000000000');
    await worker.stop('SIGKILL');
    await until('commits fail', () => failures.length > 2);
    await until('reads fail', () => statuses.has(503));
    await sleep(2_000);
    // The rest of its processes end a moment later.
    await until('the worker is back', () =>
      worker.start().then(
        () => true,
        () => false,
      ),
    );
    const failed = failures.length;
    const before = acknowledged.length;
    await until('commits go on', () => acknowledged.length > before + 20);
    const readBefore = statuses.get(200)!;
    await until('reads go on', () => statuses.get(200)! > readBefore + 20);
    isOver = true;
    await Promise.all([writing, reading]);
    console.info({ acknowledged: acknowledged.length, failed, statuses });
    expect(failures.filter((error) => !isStoreError(error, 'store_unreachable'))).toEqual([]);
    expect([...statuses.keys()].toSorted()).toEqual([200, 503]);
    for (const version of acknowledged) {
      const { status } = await node.get(`/transactions/by_version/${version}`);
      expect([version, status]).toEqual([version, 200]);
    }
    await node.stop();
    await store.close();
  });
});
