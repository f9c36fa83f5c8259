/** Tables filled step by step, across restarts, failures and reverts, equal those filled at once. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/indexer/database/session.ts';
import { Indexer } from '../../src/indexer/indexer.ts';
import { PROCESSOR_NAMES } from '../../src/indexer/processors/index.ts';
import { removeTables } from '../../src/indexer/progress.ts';
import { IndexerService } from '../../src/indexer/service.ts';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { allRows, openTestedTables } from './tables.ts';

const RECEIVERS = ['0xa11', '0xb0b', '0xca1'];

let net: Localnet;
let database: Database;
let closeTables: () => Promise<void>;

beforeAll(async () => {
  net = await startLocalnet({ accounts: 1, mining: { kind: 'manual' } });
  ({ database, close: closeTables } = await openTestedTables());
});

afterAll(async () => {
  await closeTables();
  await net.stop();
});

beforeEach(() => removeTables(database));

const ledger = { view: async () => (await net.branch()).ledger.view() };

function openIndexer(firstVersion?: bigint, over: Database = database): Indexer {
  return new Indexer({ ledger, database: over, firstVersion });
}

/** The database, with a function called before each transaction. */
function withBefore(before: () => Promise<void>): Database {
  return {
    stopsSlowQueries: false,
    hasOtherWriters: false,
    schema: database.schema,
    hasEnded: false,
    query: (...asked) => database.query(...asked),
    transaction: async (statements) => {
      await before();
      await database.transaction(statements);
    },
    close: () => Promise.resolve(),
  };
}

async function fundEach(): Promise<void> {
  for (const receiver of RECEIVERS) {
    await net.fund(receiver, 1_000n);
    await net.mine();
  }
}

async function madeAtOnce(): Promise<Map<string, string[]>> {
  await removeTables(database);
  await openIndexer().reachHead();
  return await allRows(database);
}

async function statusVersions(): Promise<string[]> {
  const { rows } = await database.query('SELECT last_success_version FROM processor_status');
  return rows.map((row) => row.last_success_version!);
}

describe('the indexer', () => {
  it('has the head of every processor when it has reached it', async () => {
    const indexer = openIndexer();
    await indexer.reachHead();
    await fundEach();
    await indexer.reachHead();
    const newest = String(net.version);
    expect(await statusVersions()).toEqual(PROCESSOR_NAMES.map(() => newest));
    expect(indexer.progress!.firstVersion).toBe(0n);
    expect(await indexer.lag()).toBe(0n);
  });

  it('goes on where another one has ended', async () => {
    for (const receiver of RECEIVERS) {
      await net.fund(receiver, 5n);
      await net.mine();
      const indexer = openIndexer();
      await indexer.reachHead();
      await indexer.stop();
    }
    const stepwise = await allRows(database);
    expect(stepwise.get('fungible_asset_activities')!.length).toBeGreaterThan(RECEIVERS.length);
    expect(stepwise).toEqual(await madeAtOnce());
  });

  it('loses and repeats nothing where a commit fails, before it is made or after', async () => {
    let commits = 0;
    const failing: Database = {
      stopsSlowQueries: false,
      hasOtherWriters: false,
      schema: database.schema,
      hasEnded: false,
      query: (...asked) => database.query(...asked),
      transaction: async (statements) => {
        commits += 1;
        if (commits % 3 === 0) throw new Error('before');
        await database.transaction(statements);
        if (commits % 3 === 1) throw new Error('after');
      },
      close: () => Promise.resolve(),
    };
    const indexer = openIndexer(undefined, failing);
    for (const receiver of [...RECEIVERS, ...RECEIVERS]) {
      await net.fund(receiver, 7n);
      await net.mine();
      await indexer.reachHead().catch(() => undefined);
    }
    expect(commits).toBeGreaterThan(RECEIVERS.length);
    await openIndexer().reachHead();
    const broken = await allRows(database);
    expect(broken).toEqual(await madeAtOnce());
  });

  it('learns again what was in rows that could not be written', async () => {
    let commits = 0;
    const failing = withBefore(async () => {
      commits += 1;
      // The first transaction creates the tables.
      if (commits === 2) throw new Error('before');
    });
    const indexer = openIndexer(undefined, failing);
    await expect(indexer.reachHead()).rejects.toThrow('before');
    await indexer.reachHead();
    const rows = await allRows(database);
    expect(rows.get('table_metadatas')!.length).toBeGreaterThan(0);
    expect(rows).toEqual(await madeAtOnce());
  });

  it('goes on where another process has', async () => {
    const [first, second] = [openIndexer(), openIndexer()];
    await first.reachHead();
    await second.reachHead();
    await fundEach();
    await first.reachHead();
    await second.reachHead();
    expect(await second.lag()).toBe(0n);
    expect(await allRows(database)).toEqual(await madeAtOnce());
  });

  it('leaves tables alone that another version of Daybook has made again beside it', async () => {
    const [indexer, next] = [openIndexer(), openIndexer()];
    await indexer.reachHead();
    const format = "UPDATE daybook_progress SET format = 'another', next_version = 0";
    await database.transaction([{ text: format, parameters: [] }]);
    await fundEach();
    const refused = expect.objectContaining({ code: 'store_foreign' });
    await expect(indexer.reachHead()).rejects.toThrow(refused);
    await expect(indexer.reachHead()).rejects.toThrow(refused);
    // A newly started indexer creates them again.
    await next.reachHead();
    expect(await allRows(database)).toEqual(await madeAtOnce());
  });

  it('takes back what a revert has taken back', async () => {
    const indexer = openIndexer();
    const snapshot = await net.snapshot();
    await fundEach();
    await indexer.reachHead();
    const before = net.version;
    await net.revert(snapshot);
    await indexer.reachHead();
    expect(await statusVersions()).toContain(String(net.version));
    expect(net.version).toBeLessThan(before);
    expect(await allRows(database)).toEqual(await madeAtOnce());
  });

  it('has no rows of before for who asks after a revert', async () => {
    let isSlow = false;
    let proceed = (): void => undefined;
    let tell = (): void => undefined;
    const isWriting = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const slow = withBefore(async () => {
      if (!isSlow) return;
      isSlow = false;
      tell();
      await new Promise<void>((resolve) => {
        proceed = resolve;
      });
    });
    const indexer = openIndexer(undefined, slow);
    await indexer.reachHead();
    const snapshot = await net.snapshot();
    await fundEach();
    isSlow = true;
    const before = indexer.reachHead();
    await isWriting;
    await net.revert(snapshot);
    const after = indexer.reachHead();
    proceed();
    await after;
    const rows = await allRows(database);
    expect(rows).toEqual(await madeAtOnce());
    await before;
  });

  it('notices a revert after which there are as many versions again', async () => {
    const indexer = openIndexer();
    const snapshot = await net.snapshot();
    await fundEach();
    await indexer.reachHead();
    const before = net.version;
    await net.revert(snapshot);
    while (net.version <= before) {
      await net.fund('0xd0d', 3n);
      await net.mine();
    }
    await indexer.reachHead();
    const rows = await allRows(database);
    expect(rows.get('account_transactions')!.join()).toContain('d0d');
    expect(rows).toEqual(await madeAtOnce());
  });

  it('says from which version on its tables are whole', async () => {
    const indexer = openIndexer(5n);
    await indexer.reachHead();
    expect(indexer.progress!.firstVersion).toBe(5n);
    const { rows } = await database.query(
      'SELECT min(transaction_version) AS first FROM account_transactions',
    );
    expect(rows[0]!.first).toBe('5');
  });
});

it('is asked of the tables as they are where they cannot be filled', async () => {
  const failures: unknown[] = [];
  const service = new IndexerService({
    ...{ ledger, location: undefined },
    onFailure: (error) => failures.push(error),
  });
  try {
    const tables = await service.database();
    await tables.transaction([{ text: 'DROP TABLE account_transactions', parameters: [] }]);
    await fundEach();
    const { rows } = await (await service.database()).query('SELECT chain_id FROM ledger_infos');
    expect(rows.length).toBe(1);
    await expect.poll(() => failures).toContainEqual(expect.objectContaining({ code: '42P01' }));
  } finally {
    await service.close();
  }
});
