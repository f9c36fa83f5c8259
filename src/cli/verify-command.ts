/** `daybook verify`: examines a ledger and prints a digest of each column. */
import type { Command } from 'commander';
import { NodeError } from '../node/node-error.ts';
import { grouped, withProgress } from '../node/progress.ts';
import type { RepairReport } from '../node/repair.ts';
import type { VerifyProgress, VerifyReport } from '../node/verify.ts';
import { digestFacts, digestLines } from './column-digests.ts';
import { addCommand, addReport, addSettingOption } from './command-line.ts';

interface VerifyFlags {
  readonly repair?: boolean;
  readonly from?: string;
}

type Outcome = Pick<RepairReport, 'report'> & Partial<RepairReport>;

/** Maximum number of damages that are printed. */
const MAX_PRINTED_DAMAGES = 100;

export function addVerifyCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'verify',
    purpose: 'Check a whole ledger for corruption.',
    about:
      'Computes every hash again, checks the columns against each other, and prints a digest of ' +
      'each: two ledgers are equal when their digests are. It works while a node serves the ' +
      'ledger. Exit code 1 if anything is damaged. With --repair, versions with damaged rows come ' +
      'from another node and are written in place when they are proved; no node may write the ' +
      'ledger meanwhile.',
    examples: [
      'verify',
      'verify --data ./copy --json',
      'verify --repair --from https://node.example/v1',
    ],
  });
  addSettingOption(command, 'data')
    .option('--repair', 'repair what is damaged; needs --from')
    .option('--from <url>', 'a node that answers GET /v1/transactions in BCS');
  addReport(command, async ({ repair, from }: VerifyFlags, { data }) => {
    const { verifyFolder, remedyOf } = await import('../node/verify.ts');
    if ((repair === true) !== (from !== undefined)) {
      const message = '--repair and --from belong together: give both or neither';
      throw new NodeError('bad_input', message, { exitCode: 2 });
    }
    const { report, ...repaired } = await withProgress(async (show): Promise<Outcome> => {
      const onProgress = ({ what, done }: VerifyProgress): void =>
        show(() => `${what}: ${grouped(done)}`);
      if (from === undefined) return { report: await verifyFolder(data, onProgress) };
      const { repairFolder } = await import('../node/repair.ts');
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
  return (
    `damaged places found    ${damagesBefore}\n` +
    `versions written again  ${versions}\n` +
    `other rows repaired     ${rows}\n` +
    (unavailable === 0 ? '' : `not at the source       ${unavailable} versions\n`)
  );
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
  const damages = report.damages.slice(0, MAX_PRINTED_DAMAGES);
  const facts = [
    `ledger version          ${head.version}`,
    `oldest ledger version   ${head.oldestVersion}`,
    `versions hashed again   ${hashedVersions}`,
    `state root compared at  ${stateRootVersion ?? 'none'}`,
    '',
    ...digestLines(columns),
    '',
  ];
  for (const damage of damages) facts.push(`damaged: ${damageText(damage)}`);
  const left = damageCount - damages.length;
  if (left > 0) facts.push(`and ${left} more`);
  if (damageCount === 0) facts.push('everything holds');
  return facts.map((line) => `${line}\n`).join('');
}

function factsOf(report: VerifyReport) {
  const { head, columns, damages, damageCount, hashedVersions, stateRootVersion } = report;
  return {
    holds: damageCount === 0,
    ledger_version: String(head.version),
    oldest_ledger_version: String(head.oldestVersion),
    hashed_versions: String(hashedVersions),
    state_root_version: stateRootVersion === undefined ? null : String(stateRootVersion),
    columns: digestFacts(columns),
    damage_count: damageCount,
    damages: damages.slice(0, MAX_PRINTED_DAMAGES).map(({ column, key, version, detail }) => ({
      column,
      key: key ?? null,
      version: version === undefined ? null : String(version),
      detail,
    })),
  };
}
