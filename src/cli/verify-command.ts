/** `daybook verify`: examines a ledger and prints a digest of each column. */
import type { Command } from 'commander';
import { NodeError } from '../node/node-error.ts';
import { grouped, withProgress } from '../node/progress.ts';
import type { VerifyReport } from '../node/verify.ts';
import { digestFacts, digestLines } from './column-digests.ts';
import { addCommand, addReport, addSettingOption } from './command-line.ts';

export function addVerifyCommand(program: Command): void {
  const command = addCommand(program, {
    name: 'verify',
    purpose: 'Check a whole ledger for corruption.',
    about:
      'Computes every hash again, checks the columns against each other, and prints a digest of ' +
      'each: two ledgers are equal when their digests are. It works while a node serves the ' +
      'ledger. Exit code 1 if anything is damaged.',
    examples: ['verify', 'verify --data ./copy --json'],
  });
  addSettingOption(command, 'data');
  addReport(command, async (_flags, { data }) => {
    const { verifyFolder, DAMAGE_REMEDY } = await import('../node/verify.ts');
    const report = await withProgress((show) =>
      verifyFolder(data, ({ what, done }) => show(() => `${what}: ${grouped(done)}`)),
    );
    const remedy = report.prunedMeanwhile
      ? 'the ledger was pruned meanwhile: stop the node that prunes and verify again'
      : DAMAGE_REMEDY;
    return {
      facts: factsOf(report),
      text: textOf(report),
      failure: failureOf(report, data, remedy),
    };
  });
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
  const { head, columns, damages, damageCount, hashedVersions, stateRootVersion } = report;
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
    damages: damages.map(({ column, key, version, detail }) => ({
      column,
      key: key ?? null,
      version: version === undefined ? null : String(version),
      detail,
    })),
  };
}
