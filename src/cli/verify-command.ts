/** `daybook verify`: examines a ledger and prints a digest of each column. */
import type { Command } from 'commander';
import { grouped, ProgressLine } from '../node/progress.ts';
import { DEFAULT_DATA_FOLDER } from '../node/settings/settings.ts';
import type { VerifyReport } from '../node/verify.ts';

export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description('Compute every hash again, check columns against each other, print digests.')
    .option('--data <dir>', 'folder of the ledger', DEFAULT_DATA_FOLDER)
    .option('--json', 'print one JSON object')
    .action(async ({ data, json }: { data: string; json?: boolean }) => {
      const { verifyFolder, DAMAGE_REMEDY } = await import('../node/verify.ts');
      const line = new ProgressLine();
      const report = await verifyFolder(data, ({ what, done }) =>
        line.update(() => `${what}: ${grouped(done)}`),
      );
      line.clear();
      process.stdout.write(json ? `${JSON.stringify(objectOf(report))}\n` : lines(report));
      if (report.damageCount === 0) return;
      const { NodeError } = await import('../node/node-error.ts');
      const [first] = report.damages;
      const remedy = report.prunedMeanwhile
        ? 'the ledger was pruned meanwhile: stop the node that prunes and verify again'
        : DAMAGE_REMEDY;
      throw new NodeError(
        'damaged',
        `the ledger in ${data} is damaged in ${report.damageCount} places, first in ` +
          `${damageText(first!)}; ${remedy}`,
      );
    });
}

function damageText({ column, key, version, detail }: VerifyReport['damages'][number]): string {
  const where = key === undefined ? `column ${column}` : `column ${column}, key ${key}`;
  return `${where}${version === undefined ? '' : `, version ${version}`}: ${detail}`;
}

function lines(report: VerifyReport): string {
  const { head, columns, damages, damageCount, hashedVersions } = report;
  const facts = [
    `ledger version          ${head.version}`,
    `oldest ledger version   ${head.oldestVersion}`,
    `versions hashed again   ${hashedVersions}`,
    '',
    `${'column'.padEnd(20)}${'rows'.padStart(14)}  digest (SHA-256)`,
  ];
  for (const { column, rows, digest } of columns) {
    facts.push(`${column.name.padEnd(20)}${String(rows).padStart(14)}  ${hex(digest)}`);
  }
  facts.push('');
  for (const damage of damages) facts.push(`damaged: ${damageText(damage)}`);
  const left = damageCount - damages.length;
  if (left > 0) facts.push(`and ${left} more`);
  if (damageCount === 0) facts.push('everything holds');
  return facts.map((line) => `${line}\n`).join('');
}

function objectOf(report: VerifyReport): Record<string, unknown> {
  const { head, columns, damages, damageCount, hashedVersions } = report;
  return {
    holds: damageCount === 0,
    ledger_version: String(head.version),
    oldest_ledger_version: String(head.oldestVersion),
    hashed_versions: String(hashedVersions),
    columns: Object.fromEntries(
      columns.map(({ column, rows, bytes, digest }) => [
        column.name,
        { rows, bytes, digest: hex(digest) },
      ]),
    ),
    damage_count: damageCount,
    damages: damages.map(({ column, key, version, detail }) => ({
      column,
      key: key ?? null,
      version: version === undefined ? null : String(version),
      detail,
    })),
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
