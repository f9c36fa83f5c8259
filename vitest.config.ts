import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Two on two cores: process tests wait for other processes most of the time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
