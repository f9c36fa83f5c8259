/** `daybook compare`: the same requests to this ledger and to another node (docs/compare.md). */
import type { Command } from 'commander';
import { NodeError } from '../node-error.ts';
import { grouped, withProgress } from '../progress.ts';
import { addReport, addSettingOption, describe, factLines } from './command-line.ts';
import { type Comparison, compareNodes } from './compare/compare.ts';

interface CompareFlags {
  readonly requests?: string;
}

export function define(command: Command): void {
  describe(command, {
    about:
      'Both are asked at versions that both have, for things drawn from the ledger or for the requests of a file. ' +
      'It works while a node serves the ledger. Exit code 1 if answers differ, 2 if they could not be compared.',
    examples: [
      'compare https://node.example/v1 --data ./mainnet',
      'compare http://127.0.0.1:8081 --data ./copy --requests requests.jsonl --json',
    ],
  });
  command.argument('<url>', 'the other node');
  addSettingOption(command, 'data');
  command.option(
    '--requests <file>',
    'requests, one a line: {"path", "method", "headers", "body" or "body_hex"}',
  );
  addReport(command, async ({ requests: requestsFile }: CompareFlags, { data }) => {
    const comparison = await runComparison(command.args[0]!, data, requestsFile);
    return {
      facts: factsOf(comparison),
      text: textOf(comparison),
      failure: failureOf(comparison),
    };
  });
}

async function runComparison(
  url: string,
  data: string,
  requestsFile: string | undefined,
): Promise<Comparison> {
  try {
    return await withProgress((show) => {
      const onProgress = ({ requests, different }: Comparison['counts']): void =>
        show(() => `requests: ${grouped(requests)}, different: ${grouped(different)}`);
      return compareNodes({ url, data, requestsFile, onProgress });
    });
  } catch (error) {
    // Exit code 1 says that answers differ.
    if (!(error instanceof NodeError) || error.exitCode === 2) throw error;
    throw new NodeError(error.code, error.message, { cause: error, exitCode: 2 });
  }
}

function failureOf({
  counts,
  otherUrl,
  firstFailure,
  isCutShort,
}: Comparison): NodeError | undefined {
  const { requests, different, unanswered } = counts;
  if (different > 0) {
    const message = `${different} of ${requests} requests are answered differently by ${otherUrl}`;
    return new NodeError('nodes_differ', message);
  }
  if (unanswered > 0) {
    const message = `${unanswered} of ${requests} requests were not answered, first ${firstFailure}${isCutShort ? '; the rest was not asked' : ''}`;
    return new NodeError('not_comparable', message, { exitCode: 2 });
  }
  return undefined;
}

function textOf(comparison: Comparison): string {
  const { otherUrl, chainId, fromVersion, toVersion, counts } = comparison;
  const { known, reported, firstFailure, isCutShort } = comparison;
  const facts = {
    compared_with: otherUrl,
    chain_id: chainId,
    versions_in_both: `${fromVersion} to ${toVersion}`,
    requests: counts.requests,
    equal: counts.equal,
    different: counts.different,
    known_differences: counts.known,
    left_out: counts.skipped,
    without_an_answer: counts.unanswered,
  };
  const lines: string[] = [];
  for (const [subject, count] of known) lines.push(`known: ${count} × ${subject}`);
  if (firstFailure !== undefined) lines.push(`not answered: ${firstFailure}`);
  if (isCutShort) lines.push('the rest was not asked: too many in a row had no answer');
  for (const { method, path, accept, differences } of reported) {
    lines.push('', `different: ${method} ${path}${accept === undefined ? '' : ` (${accept})`}`);
    for (const { place, ours, theirs: other } of differences) {
      lines.push(
        `  ${place}`,
        `    here   ${ours ?? 'nothing'}`,
        `    there  ${other ?? 'nothing'}`,
      );
    }
  }
  const left = counts.different - reported.length;
  if (left > 0) lines.push('', `and ${left} more`);
  return factLines(facts, 23) + lines.map((line) => `${line}\n`).join('');
}

function factsOf(comparison: Comparison) {
  const { otherUrl, chainId, fromVersion, toVersion, counts, known, reported } = comparison;
  return {
    equal: counts.different === 0 && counts.unanswered === 0,
    url: otherUrl,
    chain_id: chainId,
    from_version: fromVersion,
    to_version: toVersion,
    requests: counts.requests,
    equal_answers: counts.equal,
    different_answers: counts.different,
    known_differences: Object.fromEntries(known),
    left_out: counts.skipped,
    unanswered: counts.unanswered,
    cut_short: comparison.isCutShort,
    differences: reported.map(({ method, path, accept, differences }) => ({
      ...{ method, path, accept: accept ?? null },
      places: differences.map(({ place, ours, theirs: other }) => ({
        ...{ place, here: ours ?? null, there: other ?? null },
      })),
    })),
  };
}
