/** `daybook localnet`: a whole local network until a signal, or another command, ends it (docs/localnet.md). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { GasReportRow } from '../../chain/gas-report.ts';
import type { Mining } from '../../chain/local-chain.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import type { Localnet } from '../localnet/localnet.ts';
import { NodeError } from '../node-error.ts';
import { NODE_SETTINGS, type NodeSettings } from '../settings/settings.ts';
import { stopSignal } from '../shutdown.ts';
import { describe, jsonText, wholeNumber } from './command-line.ts';
import { table } from './table.ts';

interface LocalnetFlags {
  readonly data?: string;
  readonly genesis?: string;
  readonly fork?: string;
  readonly offline?: true;
  readonly load?: string;
  readonly accounts: number;
  readonly seed?: string;
  readonly blockTime: Mining;
  readonly listen: string;
  readonly faucetListen: string;
  readonly indexerListen: string;
  readonly readyListen: string;
  readonly logLevel: NodeSettings['logLevel'];
  readonly exec?: string;
  readonly gasReport?: true;
  readonly gasSnapshot?: string;
  readonly coverage?: string;
  readonly sources?: string;
  readonly json?: true;
}

const MAX_ACCOUNTS = 1_000;
const MAX_BLOCK_TIME_MS = 3_600_000;

export function define(command: Command): void {
  describe(command, {
    about:
      'A chain that executes transactions, its REST interface, and a faucet, in one process. Without --data everything ' +
      'is gone at the end.',
    examples: [
      'localnet',
      'localnet --data ./chain --block-time 1000',
      'localnet --exec "npm test"',
    ],
  })
    .option('--data <folder>', 'folder of the ledger, which is made if it is not there')
    .option(
      '--fork <url>',
      'go on from the ledger of a node, with @VERSION for another version than the newest',
    )
    .option('--offline', 'go on from a fork as far as it is recorded in --data, without its node')
    .option('--genesis <file or url>', 'begin with this genesis in place of the default framework')
    .option('--load <file>', 'begin with the ledger of a dump, which POST /v1/-/dump gives')
    .option(
      '--accounts <n>',
      'accounts with coins and known keys',
      wholeNumber(0, MAX_ACCOUNTS),
      10,
    )
    .option('--seed <text>', 'what the keys of these accounts follow from')
    .addOption(
      new Option(
        '--block-time <ms>',
        'time between blocks; auto makes one as soon as a transaction is there, manual on request',
      )
        .argParser(readMining)
        .default({ kind: 'auto' }, 'auto'),
    )
    .option('--listen <address>', 'HOST:PORT of the REST interface', '127.0.0.1:8080')
    .option('--faucet-listen <address>', 'HOST:PORT of the faucet', '127.0.0.1:8081')
    .option(
      '--indexer-listen <address>',
      'HOST:PORT of the indexer’s GraphQL, which starts with its first request; empty for none',
      '127.0.0.1:8090',
    )
    .option(
      '--ready-listen <address>',
      'HOST:PORT that says when all of it answers; empty for none',
      '127.0.0.1:8070',
    )
    .option('--exec <command>', 'run a command with the network, end with it')
    .option('--gas-report', 'print at the end what transactions have cost, by function')
    .option('--gas-snapshot <file>', 'write the same to a file at the end, to be compared by a CI')
    .option('--coverage <folder>', 'write at the end which code of published modules has run')
    .option('--sources <folder>', 'where the Move sources for --coverage are', '.')
    .option('--json', 'print what there is as one JSON object');
  command.addOption(
    new Option('--log-level <level>', NODE_SETTINGS.logLevel.description)
      .choices(NODE_SETTINGS.logLevel.enum)
      .default('warn'),
  );
  command.action(run);
}

async function run(flags: LocalnetFlags): Promise<void> {
  const stopped = stopSignal();
  const { startLocalnet } = await import('../localnet/start-localnet.ts');
  const { data, genesis, fork, load, accounts, seed, listen } = flags;
  const net = await startLocalnet({
    ...{ data, genesis, fork, load, accounts, seed, listen },
    faucetListen: flags.faucetListen,
    indexerListen: flags.indexerListen,
    readyListen: flags.readyListen,
    mining: flags.blockTime,
    coverage: flags.coverage !== undefined,
    settings: {
      logLevel: flags.logLevel,
      offline: flags.offline === true,
    },
  });
  let exitCode = 0;
  try {
    if (flags.exec === undefined) {
      process.stdout.write(flags.json ? `${jsonText(factsOf(net))}\n` : textOf(net));
      await Promise.race([stopped, net.failed]);
    } else {
      const child = execute(flags.exec, net);
      // A signal reaches the command too, which ends first.
      void Promise.race([stopped, net.failed.catch(() => 'SIGTERM' as const)]).then(child.end);
      exitCode = await child.exitCode;
    }
    try {
      await writeReports(net, flags);
    } catch (error) {
      // A command that has failed says more than a report that could not be written.
      if (exitCode === 0) throw error;
      process.stderr.write(`daybook: no report: ${(error as Error).message}\n`);
    }
  } finally {
    await net.stop();
  }
  if (exitCode !== 0) process.exit(exitCode);
}

/** What a run has cost and covered, at its end. */
async function writeReports(net: Localnet, flags: LocalnetFlags): Promise<void> {
  const { gasReport, gasSnapshot, coverage, sources, json } = flags;
  const rows = net.gasReport();
  if (gasSnapshot !== undefined) writeFileSync(gasSnapshot, gasReportText(rows));
  if (gasReport) {
    process.stdout.write(json ? `${jsonText({ gas_report: rows })}\n` : gasReportText(rows));
  }
  if (coverage === undefined) return;
  const text = await net.writeCoverage(coverage, sources);
  // The last line is about all modules.
  process.stderr.write(`${text.trimEnd().split('\n').at(-1)}\n`);
}

const GAS_COLUMNS = ['calls', 'min', 'median', 'max', 'average', 'failed'] as const;

/** Always the same for the same numbers. */
function gasReportText(rows: readonly GasReportRow[]): string {
  const head = ['function', ...GAS_COLUMNS];
  const cells = rows.map((row) => [
    row.function,
    ...GAS_COLUMNS.map((name) => String(row[name] ?? '-')),
  ]);
  return table(head, cells);
}

function readMining(text: string): Mining {
  if (text === 'auto' || text === 'manual') return { kind: text };
  const intervalMs = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (intervalMs >= 1 && intervalMs <= MAX_BLOCK_TIME_MS) return { kind: 'interval', intervalMs };
  throw new InvalidArgumentError(`expected auto, manual, or 1 to ${MAX_BLOCK_TIME_MS}`);
}

function factsOf({ url, faucetUrl, indexerUrl, chainId, accounts, mint }: Localnet) {
  const shown = (account: Localnet['mint']) => ({
    address: `0x${account.address}`,
    private_key: formatHex(account.key.privateKey),
  });
  return {
    event: 'ready',
    ...{ url, faucet_url: faucetUrl },
    ...(indexerUrl !== '' && { indexer_url: indexerUrl }),
    ...{ pid: process.pid, chain_id: chainId },
    accounts: accounts.map(shown),
    mint: shown(mint),
  };
}

function textOf(net: Localnet): string {
  const { accounts, mint, url, faucet_url: faucet, chain_id: chainId } = factsOf(net);
  const { indexerUrl } = net;
  const lines = [
    ...accounts.map(({ address }, at) => `(${at}) ${address}`),
    ...(accounts.length === 0 ? [] : ['', 'Private keys (Ed25519)']),
    ...accounts.map(({ private_key: key }, at) => `(${at}) ${key}`),
  ];
  return [
    ...(accounts.length === 0 ? [] : ['Accounts, with 10,000 APT each', ...lines, '']),
    `Mint      ${mint.address}  ${mint.private_key}`,
    `Chain id  ${chainId}`,
    `REST      ${url}`,
    `Faucet    ${faucet}`,
    ...(indexerUrl === '' ? [] : [`Indexer   ${indexerUrl}`]),
    '',
    'Everybody knows these keys: send nothing of value to their accounts on other networks.',
    '',
  ].join('\n');
}

/** Runs a command line in the system's shell, with the processes that it starts in a group of their own. */
function execute(line: string, { url, faucetUrl, indexerUrl }: Localnet) {
  const env = {
    ...process.env,
    ...{ APTOS_NODE_URL: url, APTOS_FAUCET_URL: faucetUrl },
    ...(indexerUrl !== '' && { APTOS_INDEXER_URL: indexerUrl }),
    // The names that the tests of the Rust SDK know.
    ...{ APTOS_LOCAL_NODE_URL: url, APTOS_LOCAL_FAUCET_URL: faucetUrl },
  };
  const child = spawn(line, { shell: true, stdio: 'inherit', env, detached: true });
  const exitCode = once(child, 'exit').then(
    ([code, signal]: (number | NodeJS.Signals | null)[]) =>
      (code as number | null) ?? SIGNAL_EXIT + constants.signals[signal as NodeJS.Signals],
    (cause: unknown) => {
      throw new NodeError('bad_input', `cannot run ${line}`, { cause });
    },
  );
  const end = (signal: NodeJS.Signals): void => {
    const isRunning = child.exitCode === null && child.signalCode === null;
    if (child.pid !== undefined && isRunning) process.kill(-child.pid, signal);
  };
  return { exitCode, end };
}

/** A process that a signal ended has this exit code plus the signal's number. */
const SIGNAL_EXIT = 128;
