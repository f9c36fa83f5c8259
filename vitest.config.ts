import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { findPostgres } from './test/postgres/cluster.ts';

/** Tests that start other processes or a browser, and long ones (random histories, hostile input at its limits). */
const SLOW = ['test/process/**/*.test.ts', 'test/**/*.long.test.ts'];

const shared = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  globalSetup: ['test/postgres/run.ts'],
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
          env: { TESTED_STORE: 'later' },
          sequence: { groupOrder: 1 },
        },
      },
      ...(findPostgres() === undefined ? [] : [API_POSTGRES]),
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
