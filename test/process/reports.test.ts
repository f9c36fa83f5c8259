/** `--json` of every command: one object on stdout, with the members listed in docs/operations.md. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { smallGenesisFile } from '../api/genesis-small.ts';
import { ROOT } from '../repo/source-tree.ts';
import { killLeftNodes, reportOf, runCommand, ServedNode, temporaryFolder } from './command.ts';
import { SUBMISSION } from './follow-witness.ts';
import { makeSample } from './ledger-contents.ts';

const folder = temporaryFolder();
const data = join(folder, 'ledger');
const genesis = join(folder, 'genesis.blob');

/** The rows of the table in docs/operations.md: members by command, in order. */
function documented(): Map<string, string[]> {
  const text = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const [table] = /^\| Command \| Members of its report \|\n(?:\|.*\n)+/m.exec(text)!;
  const rows = [...table.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)];
  return new Map(
    rows.map(([, command, cell]) => {
      const members = cell!.replaceAll(/\([^)]*\)|;.*$/g, '').matchAll(/`(\w+)`/g);
      return [command!, [...members].map(([, name]) => name!)];
    }),
  );
}

beforeAll(async () => {
  await makeSample(data, 600);
  writeFileSync(genesis, smallGenesisFile());
});
afterAll(killLeftNodes);

describe('reports', () => {
  const members = documented();
  const to = (name: string) => join(folder, name);
  const commands: [string, () => string[] | Promise<string[]>, string?][] = [
    ['status', () => ['status', '--data', data]],
    ['verify', () => ['verify', '--data', data]],
    [
      'compare',
      async () => {
        const node = await ServedNode.start(data);
        return ['compare', node.ready.url, '--data', data];
      },
    ],
    ['view', () => ['view', '0x1::chain_id::get', '--data', data]],
    [
      'statement',
      () => {
        writeFileSync(to('accounts'), '0x1\n');
        return ['statement', '--data', data, '--accounts', to('accounts')];
      },
    ],
    ['trace', () => ['trace', '300', '--data', data]],
    ['copy', () => ['copy', '--data', data, '--to', to('copy')]],
    ['init', () => ['init', '--data', to('init'), '--genesis', genesis]],
    ['sample', () => ['sample', '--data', to('sample'), '--transactions', '10']],
    ['index', () => ['index', '--data', data, '--indexer', to('tables')]],
    ['encode', () => ['encode', '--data', data], SUBMISSION],
    [
      'follow',
      async () => {
        const node = await ServedNode.start(data);
        return ['follow', '--data', to('follow'), '--from', node.ready.url, '--until', '100'];
      },
    ],
    ['snapshot', () => ['snapshot', '--data', data, '--out', to('snapshot')]],
    [
      'prune',
      () => {
        cpSync(data, to('pruned'), { recursive: true });
        return ['prune', '--data', to('pruned'), '--keep', '50', '--grace-seconds', '0'];
      },
    ],
  ];

  it.each(commands)('%s', async (command, args, input) => {
    const options = input === undefined ? {} : { input };
    const { code, report } = await reportOf(await args(), options);
    expect(code).toBe(0);
    expect(Object.keys(report)).toEqual(members.get(command));
  });

  it('decode, whose report is the request', async () => {
    const { report } = await reportOf(['encode', '--data', data], { input: SUBMISSION });
    const input = report['signing_message'] as string;
    const decoded = await reportOf(['decode', '--data', data], { input });
    const { daybook_notes: notes, ...request } = decoded.report;
    expect(request).toEqual(JSON.parse(SUBMISSION));
    expect(notes).toMatchObject({ encodes_back: true });
  });

  it('are documented for every command that has them', async () => {
    const { stdout } = await runCommand(['--help']);
    const all = [...stdout.matchAll(/^ {2}(\w+) \[options\]/gm)].map(([, name]) => name!);
    // These commands print a ready line and not a report.
    const withReport = all.filter((name) => !['serve', 'localnet'].includes(name));
    expect([...members.keys()].sort()).toEqual(withReport.sort());
  });
});
