// Runs the tests of an SDK against the local network at its usual addresses, and prints the outcome of each as one JSON
// object: run-suite.mjs go|rust|typescript|python FOLDER [NODE]
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';

const NODE = 'http://127.0.0.1:8080/v1';
const FAUCET = 'http://127.0.0.1:8081';
/** Blocks to create first, because tests request lists of 100 transactions. */
const HISTORY_BLOCKS = 50;

const [sdk, folder, node = process.execPath] = process.argv.slice(2);
const SUITES = {
  go: {
    runs: () => goRuns(),
    result: /^--- (PASS|FAIL|SKIP): (\S+)/gm,
    read: ([, outcome, name]) => [name, outcome === 'PASS'],
  },
  rust: {
    // They sleep more than they work.
    runs: () => [run('rust', 'tests', ['--ignored', '--test-threads=4'], 'suite')],
    result: /^test (\S+) \.\.\. (ok|FAILED)/gm,
    read: ([, name, outcome]) => [name, outcome === 'ok'],
  },
  typescript: {
    runs: () => {
      const args = ['node_modules/vitest/vitest.mjs', 'run', 'tests/e2e', '--reporter=tap-flat'];
      return [run('typescript', node, args, '.')];
    },
    result: /^(ok|not ok) \d+ - tests\/e2e\/(.*) # time=/gm,
    read: ([, outcome, name]) => [name, outcome === 'ok'],
  },
  python: {
    runs: () => {
      const args = ['-W', 'ignore', '-m', 'unittest', '-b', '-v', 'examples.integration_test'];
      return [run('python', '.venv/bin/python', args, '.')];
    },
    // Output of an earlier test may lack an end of line.
    result: /(test_\w+) \(\S+\) \.\.\. (ok|FAIL|ERROR)$/gm,
    read: ([, name, outcome]) => [name, outcome === 'ok'],
  },
};

function run(name, program, args, workingFolder) {
  return { name, program: resolve(folder, program), args, cwd: join(folder, workingFolder) };
}

/** Each package's tests run beside its sources. */
function goRuns() {
  return readdirSync(join(folder, 'tests')).map((file) => {
    const name = file.replace(/\.test$/, '');
    const place = ['suite/examples', 'suite/integration_test']
      .map((parent) => join(parent, name))
      .find((at) => existsSync(join(folder, at)));
    return run(name, join('tests', file), ['-test.v', '-test.timeout=180s'], place ?? 'suite');
  });
}

async function makeHistory() {
  for (let made = 0; made < HISTORY_BLOCKS; made += 1) {
    const response = await fetch(`${FAUCET}/mint?address=0x1234&amount=1`, { method: 'POST' });
    const [hash] = await response.json();
    await fetch(`${NODE}/transactions/wait_by_hash/0x${hash}`);
  }
}

/** The output of a program, whatever its exit code. */
function outputOf({ program, args, cwd }) {
  return new Promise((resolve, reject) => {
    // The Python SDK starts a network of its own unless it is told that one exists.
    const env = { ...process.env, APTOS_TEST_USE_EXISTING_NETWORK: 'true' };
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part) => (text += part));
    child.stderr.setEncoding('utf8').on('data', (part) => (text += part));
    child.on('error', reject).on('close', () => resolve(text));
  });
}

await makeHistory();
const suite = SUITES[sdk];
const passed = [];
const failed = [];
const outputs = {};
const left = suite.runs();

async function work() {
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const text = await outputOf(next);
    const results = [...text.matchAll(suite.result)].map(suite.read);
    if (results.length === 0) results.push(['ended without a result', false]);
    for (const [name, isPassed] of results) {
      (isPassed ? passed : failed).push(`${next.name} ${name}`);
      if (!isPassed) outputs[next.name] = text.slice(-4_000);
    }
  }
}

await Promise.all(Array.from({ length: 2 * availableParallelism() }, work));
console.log(JSON.stringify({ passed: passed.sort(), failed: failed.sort(), outputs }));
