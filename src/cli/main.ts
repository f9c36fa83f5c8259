/**
 * The command line: parses arguments, runs one command, reports errors as one line on stderr and an exit code: 0 done,
 * 1 failed, 2 wrong usage.
 */
import { Command, CommanderError } from 'commander';
import { NodeError } from '../node/node-error.ts';
import { packageVersion } from '../node/settings/settings.ts';
import { addDecodeCommand, addEncodeCommand } from './encode-command.ts';
import { addFollowCommand } from './follow-command.ts';
import { addInitCommand } from './init-command.ts';
import { addPruneCommand } from './prune-command.ts';
import { addSampleCommand } from './sample-command.ts';
import { addServeCommand } from './serve-command.ts';
import { addStatusCommand } from './status-command.ts';
import { addUpgradeCommand } from './upgrade-command.ts';
import { addVerifyCommand } from './verify-command.ts';

/** Exit code of a wrong command line. */
const EXIT_USAGE = 2;
const EXIT_FAILED = 1;

function buildProgram(): Command {
  const program = new Command('daybook')
    .description('A ledger node: a Move ledger in its own store, served over HTTP.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(usageLine(text)) })
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true });
  addServeCommand(program);
  addInitCommand(program);
  addFollowCommand(program);
  addSampleCommand(program);
  addPruneCommand(program);
  addStatusCommand(program);
  addVerifyCommand(program);
  addUpgradeCommand(program);
  addEncodeCommand(program);
  addDecodeCommand(program);
  return program;
}

/**
 * Runs one command line (without `node` and the script's name) and returns its exit code. Failures go to stderr;
 * commander has printed its own.
 */
export async function main(args: readonly string[]): Promise<number> {
  try {
    await buildProgram().parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    if (error instanceof NodeError) {
      process.stderr.write(`daybook: ${error.message.replaceAll(/\s*\n\s*/g, ' ')}\n`);
      return error.exitCode;
    }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`daybook: unexpected failure, please report it: ${text}\n`);
    return EXIT_FAILED;
  }
}

/** Commander's text for a wrong command line, as one line. */
function usageLine(text: string): string {
  const [what] = text.replace(/^error: /, '').split('\n');
  return `daybook: ${what}; --help shows all options\n`;
}
