/** `daybook verify --execute`: runs the transactions of a ledger again and reports what differs. */
import { type ExecutionReport, executeLedger } from '../execution/execute-ledger.ts';
import { NodeError } from '../node-error.ts';
import { countText, withProgress } from '../progress.ts';
import { factLines, type Report, secondsSince } from './command-line.ts';

/** @throws NodeError; or rejects with it */
export async function executionReport(
  data: string,
  threads: number | undefined,
  progressFile: string | undefined,
): Promise<Report> {
  const startedMs = performance.now();
  const report = await withProgress((show) =>
    executeLedger(data, {
      threads,
      progressFile,
      onProgress: (done, total) => show(() => countText('transactions', done, total, startedMs)),
    }),
  );
  return {
    facts: factsOf(report, secondsSince(startedMs)),
    text: textOf(report),
    failure: failureOf(report),
  };
}

function factsOf(report: ExecutionReport, seconds: number) {
  const { first, last, different, open, unverified, stateRoots, rootsUpTo, listed } = report;
  return {
    holds: different + open === 0,
    from_version: first,
    to_version: last,
    different,
    not_executed: open,
    signatures_not_verified: unverified,
    state_roots: stateRoots,
    state_roots_up_to: rootsUpTo ?? null,
    seconds,
    differences: listed.map(({ version, isOpen, detail }) => ({
      version,
      executed: !isOpen,
      detail,
    })),
  };
}

function textOf(report: ExecutionReport): string {
  const { first, last, different, open, unverified, stateRoots, rootsUpTo, listed } = report;
  const facts = factLines({
    versions: first > last ? undefined : `${first} to ${last}`,
    different_outcomes: different,
    not_executed: open,
    ...(unverified > 0 && { signatures_not_verified: unverified }),
    state_roots_compared: stateRoots,
    state_roots_up_to: rootsUpTo,
  });
  const lines = listed.map(({ version, isOpen, detail }) =>
    isOpen ? `not executed: version ${version}: ${detail}` : `version ${version}: ${detail}`,
  );
  const left = different + open - listed.length;
  if (left > 0) lines.push(`and ${left} more`);
  if (different + open === 0) lines.push('everything holds');
  return `${facts}\n${lines.map((line) => `${line}\n`).join('')}`;
}

function failureOf({ different, open, listed }: ExecutionReport): NodeError | undefined {
  const [first] = listed;
  if (first === undefined) return undefined;
  const message =
    `${different} transactions have another outcome when they are run again, ${open} cannot be ` +
    `executed here; first version ${first.version}: ${first.detail}`;
  return new NodeError('damaged', message);
}
