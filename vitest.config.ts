import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { findPostgres } from './test/postgres/cluster.ts';

/** Tests that start other processes or a browser, and long ones (random histories, hostile input at its limits). */
const SLOW = ['test/process/**/*.test.ts', 'test/**/*.long.test.ts'];

/** Of those, the ones that take over a minute. They start first: one that started last would run alone. */
const LONGEST =
  /\/(?:crash|crash-servers\.long|page-views|schemathesis|take-over\.long)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const shared = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  globalSetup: ['test/postgres/run.ts'],
  // One process runs many files: to start one and import the sources for each took as long as its tests.
  isolate: false,
};

/** Over PostgreSQL, where it is installed. */
const API_POSTGRES = {
  test: {
    ...shared,
    name: 'api-postgres',
    include: ['test/api/**/*.test.ts'],
    exclude: ['test/api/sdk-*', ...SLOW],
    env: { TESTED_STORE: 'postgres' },
    sequence: { groupOrder: 1 },
  },
};

export default defineConfig({
  test: {
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: SLOW,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'api-later',
          include: ['test/api/**/*.test.ts'],
          // These start the built program, which has its own store.
          exclude: ['test/api/sdk-*'],
          // Over a store that answers later, as a distributed engine does (test/api/tested-ledger.ts).
          env: { TESTED_STORE: 'later' },
          sequence: { groupOrder: 1 },
        },
      },
      ...(findPostgres() === undefined ? [] : [API_POSTGRES]),
      {
        test: {
          ...shared,
          setupFiles: ['test/process/after-file.ts'],
          globalSetup: [...shared.globalSetup, 'test/process/samples-of-run.ts'],
          // They wait half of the time: for other processes, for timers and for disks.
          maxWorkers: availableParallelism() + 2,
          // A command takes seconds to start when the machine is busy.
          testTimeout: 180_000,
          hookTimeout: 180_000,
          name: 'process',
          include: SLOW,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
