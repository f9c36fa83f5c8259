/**
 * The command line: parses arguments, runs one command, reports errors as one line on stderr and an exit code: 0 done,
 * 1 failed, 2 wrong usage. With `--json` an error is a JSON object on stdout too.
 */
import { Command, CommanderError } from 'commander';
import { jsonText, ReportedFailure } from '../node/commands/command-line.ts';
import { hidePasswords, redactedArguments } from '../node/locations/redacted-location.ts';
import { NodeError } from '../node/node-error.ts';
import { packageVersion } from '../node/settings/settings.ts';

interface CommandModule {
  /** Sets the options and the action of the command. */
  define(command: Command): void;
}

/** Only the command that runs is loaded. */
const COMMANDS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  serve: () => import('../node/commands/serve.ts'),
  init: () => import('../node/commands/init.ts'),
  localnet: () => import('../node/commands/localnet.ts'),
  follow: () => import('../node/commands/follow.ts'),
  sample: () => import('../node/commands/sample.ts'),
  prune: () => import('../node/commands/prune.ts'),
  fork: () => import('../node/commands/fork.ts'),
  copy: () => import('../node/commands/copy.ts'),
  snapshot: () => import('../node/commands/snapshot.ts'),
  index: () => import('../node/commands/index-ledger.ts'),
  status: () => import('../node/commands/status.ts'),
  verify: () => import('../node/commands/verify.ts'),
  compare: () => import('../node/commands/compare.ts'),
  encode: () => import('../node/commands/encode.ts'),
  decode: () => import('../node/commands/decode.ts'),
  view: () => import('../node/commands/view.ts'),
  statement: () => import('../node/commands/statement.ts'),
  trace: () => import('../node/commands/trace/trace.ts'),
};

const SUMMARIES: Readonly<Record<keyof typeof COMMANDS, string>> = {
  serve: 'Serve a ledger over HTTP.',
  init: 'Make a ledger from a genesis file, snapshot or backup.',
  localnet: 'Run a whole local network: chain, REST, faucet.',
  follow: 'Replicate another node, every byte verified.',
  sample: 'Make a deterministic sample ledger of any size.',
  prune: 'Delete old history, except for selected accounts.',
  fork: 'Pack a fork into one file, or unpack it.',
  copy: 'Copy a ledger, also while a node serves and writes it.',
  snapshot: 'Write the state at a version, to make ledgers from.',
  index: 'Fill the tables of the indexer from a ledger.',
  status: 'Show what a ledger is and how much it contains.',
  verify: 'Check a whole ledger for corruption.',
  compare: 'Compare the answers of this ledger and of another node.',
  encode: 'Read a transaction request, print the bytes to sign.',
  decode: 'Read bytes to sign (hex), print the request with notes.',
  view: 'Call a view function, print the values it returns.',
  statement: 'Print what many accounts held at a time, as CSV or JSON.',
  trace: 'Show what a transaction did, call by call.',
};

const WITHOUT_OPTIONS: readonly string[] = ['fork', 'help'];

/** Exit code of a wrong command line. */
const EXIT_USAGE = 2;
const EXIT_FAILED = 1;

const EXAMPLES = `
Examples:
  daybook serve           a small sample ledger at http://127.0.0.1:8080/
  daybook serve --help    all settings`;

const EXIT_CODES = `
Exit codes:
  0         done, or stopped by SIGTERM or SIGINT (serve, follow)
  1         failed: stderr says why and what to do
  2         wrong usage or setting
  130, 143  ended by SIGINT or SIGTERM`;

async function buildProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('daybook')
    .description('A ledger node: a Move ledger in its own store, served over HTTP.')
    .version(packageVersion())
    // After the name of a command, --version belongs to that command.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(`daybook: ${usageText(text)}\n`),
    })
    .configureHelp({
      sortSubcommands: false,
      // Arguments are left out: those of one command would leave no room for the summaries.
      subcommandTerm: (command) =>
        WITHOUT_OPTIONS.includes(command.name()) ? command.name() : `${command.name()} [options]`,
    })
    .addHelpText('after', EXAMPLES)
    .addHelpText('afterAll', EXIT_CODES);
  for (const [name, load] of Object.entries(COMMANDS)) {
    const command = program.command(name).summary(SUMMARIES[name]!);
    if (args.includes(name)) (await load()).define(command);
  }
  return program;
}

/**
 * Runs one command line (without `node` and the script's name) and returns its exit code. Failures go to stderr;
 * commander has printed its own.
 */
export async function main(args: readonly string[]): Promise<number> {
  hidePasswords(args);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe);
  try {
    const program = await buildProgram(args);
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { exitCode, line, object } = failureOf(error);
    if (line !== undefined) process.stderr.write(`daybook: ${line}\n`);
    // If the command line is wrong, commander has not parsed this option.
    if (args.includes('--json')) process.stdout.write(`${jsonText(object)}\n`);
    return exitCode;
  }
}

/** A reader that has read enough, such as `head`, is not a failure: the rest is not printed. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

interface Failure {
  readonly exitCode: 1 | 2;
  /** The line on stderr; absent if commander has printed it. */
  readonly line?: string;
  /** The object that `--json` prints. */
  readonly object: Readonly<Record<string, unknown>>;
}

function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError) {
    const message = usageText(error.message);
    return { exitCode: EXIT_USAGE, object: { error: { code: 'wrong_usage', message } } };
  }
  if (error instanceof NodeError) {
    const { exitCode, code, cause } = error;
    const line = error.message.replaceAll(/\s*\n\s*/g, ' ');
    const facts = error instanceof ReportedFailure ? error.facts : {};
    const { code: causeCode } = (cause ?? {}) as { code?: unknown };
    const why = typeof causeCode === 'string' ? { cause: causeCode } : {};
    return { exitCode, line, object: { ...facts, error: { code, ...why, message: line } } };
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const line = `unexpected failure, please report it: ${text}`;
  return { exitCode: EXIT_FAILED, line, object: { error: { code: 'unexpected', message: line } } };
}

/** Commander's text for a wrong command line, as one line. */
function usageText(text: string): string {
  // Commander repeats an unknown option with its value, which may contain a password.
  const [what, hint] = redactedArguments(text.replace(/^error: /, '').split('\n'));
  const nearest = /^\(Did you mean (.*)\?\)$/.exec(hint ?? '')?.[1];
  return nearest === undefined
    ? `${what}; --help shows the options`
    : `${what}; did you mean ${nearest}?`;
}
