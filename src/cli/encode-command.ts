/** `daybook encode` and `daybook decode`: submissions by the ledger in a folder, without a server. */
import type { Command } from 'commander';
import { readInput } from '../node/settings/input.ts';
import { nodeSettings } from '../node/settings/settings.ts';
import type { SubmissionSettings } from '../node/submission.ts';

/** Adds `encode` to the program. */
export function addEncodeCommand(program: Command): void {
  const command = program
    .command('encode')
    .description('Read a transaction request (JSON) from standard input, print the bytes to sign.');
  addSettings(command).action(async (flags: SubmissionFlags) => {
    const settings = await submissionSettings(flags);
    const request = await readInput(process.stdin);
    const { encodeRequest } = await import('../node/submission.ts');
    process.stdout.write(`${await encodeRequest(settings, request)}\n`);
  });
}

/** Adds `decode` to the program. */
export function addDecodeCommand(program: Command): void {
  const command = program
    .command('decode')
    .description(
      'Read bytes to sign (hex) from standard input, print the request and notes on it.',
    );
  addSettings(command).action(async (flags: SubmissionFlags) => {
    const settings = await submissionSettings(flags);
    const message = await readInput(process.stdin);
    const { decodeMessage } = await import('../node/submission.ts');
    process.stdout.write(`${await decodeMessage(settings, message.toString('latin1'))}\n`);
  });
}

interface SubmissionFlags {
  readonly data?: string;
  readonly signingDomainPrefix?: string;
  readonly config?: string;
}

function addSettings(command: Command): Command {
  return command
    .option('--data <dir>', 'folder of the ledger (env: DAYBOOK_DATA)')
    .option(
      '--signing-domain-prefix <text>',
      'text before the type name in the seed of a signing message (env: DAYBOOK_SIGNING_DOMAIN_PREFIX)',
    )
    .option('--config <file>', 'YAML or JSON file of settings (env: DAYBOOK_CONFIG)');
}

async function submissionSettings({
  config,
  ...flags
}: SubmissionFlags): Promise<SubmissionSettings> {
  const configFile = config ?? process.env['DAYBOOK_CONFIG'];
  return nodeSettings({ flags, environment: process.env, configFile });
}
