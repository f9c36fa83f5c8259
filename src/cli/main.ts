/**
 * The command line: parses arguments, runs one command, reports errors as one line on stderr and an exit code: 0 done,
 * 1 failed, 2 wrong usage. With `--json` an error is a JSON object on stdout too.
 */
import { Command, CommanderError } from 'commander';
import { hidePasswords, shownArguments } from '../node/locations/shown-location.ts';
import { NodeError } from '../node/node-error.ts';
import { packageVersion } from '../node/settings/settings.ts';
import { jsonText, ReportedFailure } from './command-line.ts';
import { addCompareCommand } from './compare-command.ts';
import { addCopyCommand } from './copy-command.ts';
import { addDecodeCommand, addEncodeCommand } from './encode-command.ts';
import { addFollowCommand } from './follow-command.ts';
import { addForkCommand } from './fork-command.ts';
import { addInitCommand } from './init-command.ts';
import { addPruneCommand } from './prune-command.ts';
import { addSampleCommand } from './sample-command.ts';
import { addServeCommand } from './serve-command.ts';
import { addSnapshotCommand } from './snapshot-command.ts';
import { addStatusCommand } from './status-command.ts';
import { addVerifyCommand } from './verify-command.ts';
import { addViewCommand } from './view-command.ts';

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

function buildProgram(): Command {
  const program = new Command('daybook')
    .description('A ledger node: a Move ledger in its own store, served over HTTP.')
    .version(packageVersion())
    // Behind a command, --version is an option of that command.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(`daybook: ${usageText(text)}\n`),
    })
    .configureHelp({
      sortSubcommands: false,
      // Without arguments: those of one command would leave no room for what the others do.
      subcommandTerm: (command) =>
        command.options.length === 0 ? command.name() : `${command.name()} [options]`,
    })
    .addHelpText('after', EXAMPLES)
    .addHelpText('afterAll', EXIT_CODES);
  addServeCommand(program);
  addInitCommand(program);
  addFollowCommand(program);
  addSampleCommand(program);
  addPruneCommand(program);
  addForkCommand(program);
  addCopyCommand(program);
  addSnapshotCommand(program);
  addStatusCommand(program);
  addVerifyCommand(program);
  addCompareCommand(program);
  addEncodeCommand(program);
  addDecodeCommand(program);
  addViewCommand(program);
  return program;
}

/**
 * Runs one command line (without `node` and the script's name) and returns its exit code. Failures go to stderr;
 * commander has printed its own.
 */
export async function main(args: readonly string[]): Promise<number> {
  hidePasswords(args);
  try {
    await buildProgram().parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { exitCode, line, object } = failureOf(error);
    if (line !== undefined) process.stderr.write(`daybook: ${line}\n`);
    // Looked for here, so that a wrong command line counts too.
    if (args.includes('--json')) process.stdout.write(`${jsonText(object)}\n`);
    return exitCode;
  }
}

interface Failure {
  readonly exitCode: 1 | 2;
  /** For stderr; absent: commander has printed it. */
  readonly line?: string;
  /** For `--json`. */
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
  // An option that does not exist is repeated with its value.
  const [what] = shownArguments(text.replace(/^error: /, '').split('\n'));
  return `${what}; --help shows the options`;
}
