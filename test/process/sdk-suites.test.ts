/**
 * The end-to-end tests of official SDKs, unchanged, on `daybook localnet` (docs/localnet.md). They use the addresses of
 * the reference's local network, so each suite has a network namespace to itself.
 *
 * `.ci/install-sdks` compiles those of Go and Rust. Those of TypeScript and Python are in no registry: variables name
 * folders of their repositories, with dependencies installed. Missing ones are skipped by name.
 */
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { endOf, PROGRAM } from './command.ts';

interface Suite {
  readonly name: 'Go' | 'Rust' | 'TypeScript' | 'Python';
  /** Folder of its compiled tests, or of its repository. */
  readonly folder: string | undefined;
  /** Another Node for its tests, if needed. */
  readonly node?: string | undefined;
  /** Minimum number of passing tests. */
  readonly passed: number;
  /** Beginnings of the names of failing tests (docs/localnet.md, SDKs). */
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
  {
    name: 'TypeScript',
    folder: process.env['APTOS_TS_SDK'],
    node: process.env['TEST_SDK_NODE_22'],
    passed: 311,
    failed: [
      // They use other networks, or services of the vendor.
      'typescript api/general.test.ts > general api (requires testnet)',
      'typescript api/keyless.test.ts',
      'typescript api/verifySignatureAsync.test.ts > verifySignatureAsync > multikey',
      'typescript client/get.test.ts',
      'typescript transaction/transactionBuilder.test.ts > transaction builder > generateSignedTransactionForSimulation > it generates a keyless',
      // They need a test module that the package's framework lacks.
      'typescript api/abstraction.test.ts > abstraction api > derivable account abstraction',
      // It fails if the block exists before its request.
      'typescript api/transaction.test.ts > transaction api > returns true when transaction is pending',
    ],
  },
  {
    name: 'Python',
    folder: process.env['APTOS_PYTHON_SDK'],
    passed: 11,
    // They compile Move with the vendor's command line.
    failed: ['python test_hello_blockchain', 'python test_multisig', 'python test_your_coin'],
  },
];

const RUNNER = fileURLToPath(new URL('sdk-suites/run-suite.mjs', import.meta.url));
const LOOPBACK = 'ip link set lo up';
const hasNamespaces = spawnSync('unshare', ['-n', 'sh', '-c', LOOPBACK]).status === 0;

/** Runs a suite beside a local network that nobody else can reach. */
async function outcomeOf({ name, folder, node = '' }: Suite): Promise<Outcome> {
  const line = [process.execPath, RUNNER, name.toLowerCase(), folder, node].join(' ');
  const script = `${LOOPBACK} && exec "$0" localnet --exec "$1"`;
  const result = await endOf(spawn('unshare', ['-n', 'sh', '-c', script, PROGRAM, line]));
  expect(result).toMatchObject({ code: 0 });
  return JSON.parse(result.stdout) as Outcome;
}

describe('the tests of an SDK on a local network', () => {
  for (const suite of SUITES) {
    const lack =
      suite.folder === undefined
        ? ' (skipped: not there)'
        : hasNamespaces
          ? ''
          : ' (skipped: no network namespaces)';
    it.skipIf(lack !== '')(suite.name + lack, { timeout: 300_000 }, async () => {
      const { passed, failed, outputs } = await outcomeOf(suite);
      const isKnown = (test: string) => suite.failed.some((known) => test.startsWith(known));
      expect(
        failed.filter((test) => !isKnown(test)),
        JSON.stringify(outputs),
      ).toEqual([]);
      expect(passed.length).toBeGreaterThanOrEqual(suite.passed);
    });
  }
});
