/** `daybook encode` and `daybook decode`: convert submissions with a ledger on disk, without a server. */
import type { Command } from 'commander';
import { readInput } from '../node/settings/input.ts';
import type { NodeSettings } from '../node/settings/settings.ts';
import { addCommand, addReport, addSettingOption, jsonText, type Report } from './command-line.ts';

export function addEncodeCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'encode',
    purpose: 'Read a transaction request, print the bytes to sign.',
    about: 'The request comes from standard input. No server is needed.',
    examples: ['encode < request.json', 'encode --data ./mainnet --json < request.json'],
  });
  addSubmissionReport(command, async (settings, input) => {
    const { encodeRequest } = await import('../node/submission.ts');
    const message = await encodeRequest(settings, input);
    return { facts: { signing_message: message }, text: `${message}\n` };
  });
}

export function addDecodeCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'decode',
    purpose: 'Read bytes to sign (hex), print the request with notes.',
    about: 'The bytes come from standard input. No server is needed.',
    examples: ['decode < message.hex', 'encode < request.json | daybook decode --json'],
  });
  addSubmissionReport(command, async (settings, input) => {
    const { decodeMessage } = await import('../node/submission.ts');
    const facts = (await decodeMessage(settings, input.toString('latin1'))) as Report['facts'];
    return { facts, text: `${jsonText(facts, 2)}\n` };
  });
}

function addSubmissionReport(
  command: Command,
  answer: (settings: NodeSettings, input: Buffer) => Promise<Report>,
): void {
  addSettingOption(command, 'data');
  addSettingOption(command, 'signingDomainPrefix');
  command.option('--config <file>', 'YAML or JSON file of settings (env DAYBOOK_CONFIG)');
  addReport(command, async (_flags, settings) => answer(settings, await readInput(process.stdin)));
}
