/**
 * The own end-to-end tests of official SDKs, unchanged, on `daybook localnet` (docs/localnet.md). Their addresses are
 * those of the reference's local network, so each suite has a network namespace to itself.
 *
 * `.ci/install-sdks` compiles them; those that are not there are skipped by name.
 */
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { endOf, PROGRAM } from './command.ts';

interface Suite {
  readonly name: 'Go' | 'Rust';
  /** The folder of its compiled tests. */
  readonly folder: string | undefined;
  /** Tests that pass. */
  readonly passed: number;
  readonly failed: readonly string[];
}

interface Outcome {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly outputs: Readonly<Record<string, string>>;
}

const SUITES: readonly Suite[] = [
  {
    name: 'Go',
    folder: process.env['TEST_SDK_GO_SUITE'],
    passed: 245,
    failed: [],
  },
  {
    name: 'Rust',
    folder: process.env['TEST_SDK_RUST_SUITE'],
    passed: 39,
    // The crate lacks the scripts that these submit.
    failed: [
      'rust e2e::multi_signer_tests::e2e_multi_agent_transaction',
      'rust e2e::multi_signer_tests::e2e_simulate_multi_agent_then_submit',
      'rust e2e::transaction_tests::e2e_script_transfer',
    ],
  },
];

const RUNNER = fileURLToPath(new URL('sdk-suites/run-suite.mjs', import.meta.url));
const LOOPBACK = 'ip link set lo up';
const hasNamespaces = spawnSync('unshare', ['-n', 'sh', '-c', LOOPBACK]).status === 0;

/** Runs a suite beside a local network that nobody else reaches. */
async function outcomeOf({ name, folder }: Suite): Promise<Outcome> {
  const line = [process.execPath, RUNNER, name.toLowerCase(), folder].join(' ');
  const script = `${LOOPBACK} && exec "$0" localnet --exec "$1"`;
  const result = await endOf(spawn('unshare', ['-n', 'sh', '-c', script, PROGRAM, line]));
  expect(result).toMatchObject({ code: 0 });
  return JSON.parse(result.stdout) as Outcome;
}

describe('the tests of an SDK on a local network', () => {
  for (const suite of SUITES) {
    const lack =
      suite.folder === undefined
        ? ' (skipped: not installed)'
        : hasNamespaces
          ? ''
          : ' (skipped: no network namespaces)';
    it.skipIf(lack !== '')(suite.name + lack, { timeout: 300_000 }, async () => {
      const { passed, failed, outputs } = await outcomeOf(suite);
      expect(failed, JSON.stringify(outputs)).toEqual(suite.failed);
      expect(passed).toHaveLength(suite.passed);
    });
  }
});
