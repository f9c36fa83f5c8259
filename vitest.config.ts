import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests that start other processes or a browser, and long ones (random histories, hostile input at its limits). */
const SLOW = ['test/process/**/*.test.ts', 'test/**/*.long.test.ts'];

const shared = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  globalSetup: ['test/postgres/run.ts'],
};

export default defineConfig({
  test: {
    // Two on two cores: process tests wait for other processes most of the time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
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
          env: { DAYBOOK_TEST_ANSWERS: 'later' },
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          // A command takes seconds to start when the machine is busy.
          testTimeout: 180_000,
          name: 'process',
          include: SLOW,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
