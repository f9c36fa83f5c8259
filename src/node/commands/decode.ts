/** `daybook decode`: shows what a signing message says, with a ledger on disk, without a server. */
import type { Command } from 'commander';
import { plainJson } from '../../move/json/json-plain.ts';
import {
  decodeSubmission,
  parseMessageText,
  submissionJson,
} from '../../submission/decode/index.ts';
import { describe, jsonText, type Report } from './command-line.ts';
import { addSubmissionReport } from './ledger-question.ts';

export function define(command: Command): void {
  describe(command, {
    about: 'The bytes come from standard input. No server is needed.',
    examples: ['decode < message.hex', 'encode < request.json | daybook decode --json'],
  });
  addSubmissionReport(command, async (input, { lookupModule, state }) => {
    const { chainId, timestampUsecs } = state;
    const bytes = parseMessageText(withoutQuotes(input.toString('latin1').trim()));
    const context = { chainId, timestampUsecs, lookupModule };
    const decoded = await decodeSubmission(bytes, context);
    const facts = plainJson(submissionJson(decoded)) as Report['facts'];
    return { facts, text: `${jsonText(facts, 2)}\n` };
  });
}

/** The interface answers with a JSON string, which may be given as it is. */
function withoutQuotes(text: string): string {
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
}
