/** How long queries wait for the tables, and when failures are retried. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { IndexerOptions } from '../../src/indexer/indexer.ts';
import { IndexerService } from '../../src/indexer/service.ts';

type Ledger = IndexerOptions['ledger'];
const LONG_MS = 3_600_000;

/** A service over tables in memory, for the duration of `use`. */
async function withService(
  view: Ledger['view'],
  waits: NonNullable<ConstructorParameters<typeof IndexerService>[0]['waits']>,
  use: (service: IndexerService, failures: readonly unknown[]) => Promise<void>,
  location?: string,
): Promise<void> {
  const failures: unknown[] = [];
  const service = new IndexerService({
    ...{ ledger: { view }, location, waits },
    onFailure: (error) => failures.push(error),
  });
  try {
    await use(service, failures);
  } finally {
    await service.close();
  }
}

const failing = async (): Promise<never> => {
  throw new Error('no ledger');
};

it('a query gets the tables as they are when it has waited long enough', async () => {
  const answers: (() => void)[] = [];
  const silent = () =>
    new Promise<never>((_, reject) => {
      answers.push(() => reject(new Error('late')));
    });
  await withService(silent, { queryMs: 2_000 }, async (service, failures) => {
    const { rows } = await (await service.database()).query('SELECT 1 AS one');
    expect(rows).toEqual([{ one: '1' }]);
    expect(failures).toEqual([]);
    for (const answer of answers) answer();
  });
});

it('what has failed is not tried again for each query', async () => {
  let asked = 0;
  const view = (): Promise<never> => {
    asked += 1;
    return failing();
  };
  await withService(view, { retryMs: LONG_MS, maxRetryMs: LONG_MS }, async (service, failures) => {
    await expect.poll(() => failures.length).toBe(1);
    const before = asked;
    const queries = Array.from({ length: 50 }, () => service.database().catch(() => undefined));
    await Promise.all(queries);
    // Each query checks the progress of the tables once.
    expect(asked - before).toBeLessThanOrEqual(queries.length);
    expect(failures).toHaveLength(1);
  });
});

it('what has failed is tried again later, and then less often', async () => {
  await withService(failing, { retryMs: 1, maxRetryMs: 64 }, async (_, failures) => {
    await expect.poll(() => failures.length).toBeGreaterThan(8);
  });
  const seldom = { retryMs: 1, maxRetryMs: LONG_MS };
  await withService(failing, seldom, async (_, failures) => {
    await expect.poll(() => failures.length).toBeGreaterThan(4);
    // The sixteenth failure would come after 2^15 ms.
    await delay(100);
    expect(failures.length).toBeLessThan(16);
  });
});

it('a database that cannot be opened is not asked for each query', async () => {
  const away = 'postgres://127.0.0.1:1/tables';
  const waits = { retryMs: LONG_MS, maxRetryMs: LONG_MS };
  await withService(
    failing,
    waits,
    async (service, failures) => {
      const queries = Array.from({ length: 20 }, () => service.database());
      for (const query of queries)
        await expect(query).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      expect(failures).toHaveLength(1);
    },
    away,
  );
});
