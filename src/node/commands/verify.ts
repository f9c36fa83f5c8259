/** `daybook verify`: examines a ledger and prints a digest of each column. */
import type { Command } from 'commander';
import { NodeError } from '../node-error.ts';
import { grouped, withProgress } from '../progress.ts';
import { digestFacts, digestLines } from './column-digests.ts';
import { addReport, addSettingOption, describe, factLines, wholeNumber } from './command-line.ts';
import { executionReport } from './execution-report.ts';
import {
  type RepairReport,
  remedyOf,
  repairFolder,
  type VerifyProgress,
  type VerifyReport,
  verifyFolder,
} from './repair.ts';

interface VerifyFlags {
  readonly repair?: boolean;
  readonly from?: string;
  readonly execute?: boolean;
  readonly threads?: number;
  readonly progress?: string;
}

type Outcome = Pick<RepairReport, 'report'> & Partial<RepairReport>;

const MAX_PRINTED_DAMAGES = 100;
const MAX_THREADS = 256;

export function define(command: Command): void {
  describe(command, {
    about:
      'Computes every hash again, checks the columns against each other, and prints a digest of ' +
      'each: two ledgers are equal when their digests are. It works while a node serves the ' +
      'ledger. Exit code 1 if anything is damaged. With --repair, versions with damaged rows come ' +
      'from another node and are written in place when they are proved; no node may write the ' +
      'ledger meanwhile. With --execute, nothing of that: all transactions are run again, and ' +
      'what comes of them is compared.',
    examples: [
      'verify',
      'verify --data ./copy --json',
      'verify --progress ./verify-progress',
      'verify --repair --from https://node.example/v1',
      'verify --execute --threads 4',
    ],
  });
  addSettingOption(command, 'data')
    .option('--repair', 'repair what is damaged; needs --from')
    .option('--from <url>', 'a node that answers GET /v1/transactions in BCS')
    .option('--execute', 'run all transactions again, and compare what comes of them')
    .option(
      '--threads <n>',
      `threads that execute, 1 to ${MAX_THREADS} (default: one for each core)`,
      wholeNumber(1, MAX_THREADS),
    )
    .option(
      '--progress <file>',
      'where it is kept how far the run is; it goes on there when it was killed ' +
        '(default: with --execute in the folder of the ledger, else nowhere)',
    );
  addReport(command, async (flags: VerifyFlags, { data }) => {
    const { repair, from, execute, threads, progress } = flags;
    if (execute === true) {
      if (repair !== undefined || from !== undefined) {
        throw new NodeError('bad_input', '--execute does not repair', { exitCode: 2 });
      }
      return await executionReport(data, threads, progress);
    }
    if (threads !== undefined) {
      throw new NodeError('bad_input', '--threads belongs to --execute', { exitCode: 2 });
    }
    if (repair !== undefined && progress !== undefined) {
      throw new NodeError('bad_input', 'a repair is not continued', { exitCode: 2 });
    }
    if ((repair === true) !== (from !== undefined)) {
      const message = '--repair and --from belong together: give both or neither';
      throw new NodeError('bad_input', message, { exitCode: 2 });
    }
    const { report, ...repaired } = await withProgress(async (show): Promise<Outcome> => {
      const onProgress = ({ what, done }: VerifyProgress): void =>
        show(() => `${what}: ${grouped(done)}`);
      if (from === undefined) {
        return { report: await verifyFolder(data, onProgress, { progressFile: progress }) };
      }
      return await repairFolder(data, from, onProgress);
    });
    return {
      facts: { ...factsOf(report), ...repairFacts(repaired) },
      text: repairText(repaired) + textOf(report),
      failure: failureOf(report, data, remedyOf(report, repaired.repaired)),
    };
  });
}

function repairText({ repaired, damagesBefore }: Omit<Outcome, 'report'>): string {
  if (repaired === undefined) return '';
  const { versions, rows, unavailable } = repaired;
  return factLines({
    damaged_places_found: damagesBefore,
    versions_written_again: versions,
    other_rows_repaired: rows,
    ...(unavailable > 0 && { not_at_the_source: `${unavailable} versions` }),
  });
}

function repairFacts({ repaired, damagesBefore }: Omit<Outcome, 'report'>) {
  if (repaired === undefined) return {};
  const { versions, rows, unavailable } = repaired;
  return {
    damages_found: damagesBefore,
    repaired_versions: versions,
    repaired_rows: rows,
    unavailable_versions: unavailable,
  };
}

function failureOf(
  { damageCount, damages: [first] }: VerifyReport,
  data: string,
  remedy: string,
): NodeError | undefined {
  if (first === undefined) return undefined;
  const places = damageCount === 1 ? '1 place' : `${damageCount} places`;
  const message =
    `the ledger in ${data} is damaged in ${places}, ` + `first in ${damageText(first)}; ${remedy}`;
  return new NodeError('damaged', message);
}

function damageText({ column, key, version, detail }: VerifyReport['damages'][number]): string {
  const where = key === undefined ? `column ${column}` : `column ${column}, key ${key}`;
  return `${where}${version === undefined ? '' : `, version ${version}`}: ${detail}`;
}

function textOf(report: VerifyReport): string {
  const { head, columns, damageCount, hashedVersions, stateRootVersion } = report;
  const { continuedFrom: from, laterVersions } = report;
  const damages = report.damages.slice(0, MAX_PRINTED_DAMAGES);
  const facts = factLines({
    ledger_version: head.version,
    oldest_ledger_version: head.oldestVersion,
    versions_hashed_again: hashedVersions,
    state_root_compared_at: stateRootVersion,
    ...(laterVersions > 0n && { later_versions_left_out: laterVersions }),
    ...(from && { continued_from: `version ${from.version}, ${from.step}` }),
  });
  const lines = ['', ...digestLines(columns), ''];
  for (const damage of damages) lines.push(`damaged: ${damageText(damage)}`);
  const left = damageCount - damages.length;
  if (left > 0) lines.push(`and ${left} more`);
  if (damageCount === 0) lines.push('everything holds');
  return facts + lines.map((line) => `${line}\n`).join('');
}

function factsOf(report: VerifyReport) {
  const { head, columns, damages, damageCount, hashedVersions, stateRootVersion } = report;
  const { continuedFrom, laterVersions } = report;
  return {
    holds: damageCount === 0,
    ledger_version: head.version,
    oldest_ledger_version: head.oldestVersion,
    hashed_versions: hashedVersions,
    state_root_version: stateRootVersion ?? null,
    later_versions: laterVersions,
    continued_from: continuedFrom ?? null,
    columns: digestFacts(columns),
    damage_count: damageCount,
    damages: damages.slice(0, MAX_PRINTED_DAMAGES).map(({ column, key, version, detail }) => ({
      column,
      key: key ?? null,
      version: version ?? null,
      detail,
    })),
  };
}
