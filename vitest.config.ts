import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { findPostgres } from './test/postgres/cluster.ts';
import { IS_LONG } from './test/random.ts';

/** Long tests, which `npm test` leaves out: random histories, hostile input at its limits, whole recorded chains. */
const LONG = ['test/**/*.long.test.ts'];

/** Tests that start other processes or a browser. */
const PROCESSES = [
  'test/process/**/*.test.ts',
  'test/{citus,fuzz,postgres,store/attack}/**/*.long.test.ts',
];

/** Of those, the ones that `npm test` runs too: every command, and one page in a browser. */
const COMMANDS = ['test/process/{docs-examples,localnet,page-overview,reports}.test.ts'];

/** Of those, the ones that take over a minute. They start first: one that started last would run alone. */
const LONGEST =
  /\/(?:attack\/commits\.long|attack\/flips\.long|crash|crash-servers\.long|fork\.long|page-views|process\/postgres|schemathesis|take-over\.long)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const shared = {
  // A command takes seconds to start when the machine is busy.
  testTimeout: IS_LONG ? 24 * 3_600_000 : 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 170_000, interval: 20 } },
  pool: 'forks' as const,
  globalSetup: ['test/postgres/run.ts'],
};

const withSamples = {
  ...shared,
  globalSetup: [...shared.globalSetup, 'test/process/samples-of-run.ts'],
};

/** One process runs many files: to start one and import the sources for each took as long as its tests. */
const quick = { ...shared, isolate: false };

/** Tests of the API that ask for something of every kind, also over other engines than SQLite. */
const OVER_ENGINES = [
  'test/api/{account-content,balance-history,balances,batch,events-by-type,history,listings}.test.ts',
  'test/api/{pending,state-items,transaction-lookups,version-times,waiting}.test.ts',
];

/** Over PostgreSQL, where it is installed. */
const API_POSTGRES = {
  test: {
    ...quick,
    name: 'api-postgres',
    include: OVER_ENGINES,
    env: { TESTED_STORE: 'postgres' },
  },
};

export default defineConfig({
  test: {
    // They wait half of the time: for other processes, for timers and for disks.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...quick,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...LONG, ...PROCESSES],
        },
      },
      {
        test: {
          ...quick,
          name: 'api-later',
          // Over a store that answers later, as a distributed engine does (test/api/tested-ledger.ts). Where
          // PostgreSQL is, it answers later too.
          include: [
            ...(findPostgres() === undefined || IS_LONG ? OVER_ENGINES : []),
            'test/reference/simulate.test.ts',
          ],
          env: { TESTED_STORE: 'later' },
        },
      },
      ...(findPostgres() === undefined ? [] : [API_POSTGRES]),
      { test: { ...withSamples, name: 'commands', include: COMMANDS } },
      { test: { ...quick, name: 'long', include: LONG, exclude: PROCESSES } },
      { test: { ...withSamples, name: 'process', include: PROCESSES, exclude: COMMANDS } },
    ],
  },
});
