/** `daybook encode`: converts a submission with a ledger on disk, without a server. */
import type { Command } from 'commander';
import { formatHex } from '../../move/bcs/hex.ts';
import { encodeSubmission } from '../../submission/encode/index.ts';
import { describe } from './command-line.ts';
import { addSubmissionReport } from './ledger-question.ts';

export function define(command: Command): void {
  describe(command, {
    about: 'The request comes from standard input. No server is needed.',
    examples: ['encode < request.json', 'encode --data ./mainnet --json < request.json'],
  });
  addSubmissionReport(command, async (input, { lookupModule, state }) => {
    const context = { chainId: state.chainId, lookupModule };
    const message = formatHex(await encodeSubmission(input, context));
    return { facts: { signing_message: message }, text: `${message}\n` };
  });
}
