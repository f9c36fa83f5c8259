/** `daybook encode` and `daybook decode`: convert submissions with a ledger on disk, without a server. */
import type { Command } from 'commander';
import { readInput } from '../node/settings/input.ts';
import { CONFIG_VARIABLE } from '../node/settings/setting-sources.ts';
import { nodeSettings } from '../node/settings/settings.ts';
import type { SubmissionSettings } from '../node/submission.ts';

export function addEncodeCommand(program: Command): void {
  addSubmissionCommand(
    program.command('encode'),
    'Read a transaction request (JSON) from standard input, print the bytes to sign.',
    async (settings, input) => {
      const { encodeRequest } = await import('../node/submission.ts');
      return encodeRequest(settings, input);
    },
  );
}

export function addDecodeCommand(program: Command): void {
  addSubmissionCommand(
    program.command('decode'),
    'Read bytes to sign (hex) from standard input, print the request and notes on it.',
    async (settings, input) => {
      const { decodeMessage } = await import('../node/submission.ts');
      return decodeMessage(settings, input.toString('latin1'));
    },
  );
}

function addSubmissionCommand(
  command: Command,
  description: string,
  answer: (settings: SubmissionSettings, input: Buffer) => Promise<string>,
): void {
  command
    .description(description)
    .option('--data <dir>', 'folder of the ledger (env: DAYBOOK_DATA)')
    .option(
      '--signing-domain-prefix <text>',
      'text before the type name in the seed of a signing message (env: DAYBOOK_SIGNING_DOMAIN_PREFIX)',
    )
    .option('--config <file>', 'YAML or JSON file of settings (env: DAYBOOK_CONFIG)')
    .action(async ({ config, ...flags }: Record<string, string | undefined>) => {
      const configFile = config ?? process.env[CONFIG_VARIABLE];
      const settings = await nodeSettings({ flags, environment: process.env, configFile });
      process.stdout.write(`${await answer(settings, await readInput(process.stdin))}\n`);
    });
}
