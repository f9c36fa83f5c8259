/** `--json` of every command: one object on stdout, with the members that docs/operations.md lists; errors too. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { STORE_FORMAT_VERSION } from '../../src/store/columns/columns.ts';
import { FORMAT } from '../../src/store/columns/identity-column.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { smallGenesisFile } from '../api/genesis-small.ts';
import { ROOT } from '../repo/source-tree.ts';
import {
  type CommandOptions,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';
import { SUBMISSION } from './follow-witness.ts';
import { makeSample } from './ledger-contents.ts';

type Members = Record<string, unknown>;

const folder = temporaryFolder();
const data = join(folder, 'ledger');
const genesis = join(folder, 'genesis.blob');

/** The rows of the table in docs/operations.md: members by command, in their order. */
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

/** The object that a command prints; nothing else may be on stdout. */
async function reportOf(args: readonly string[], options: CommandOptions = {}) {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], options);
  expect(stdout).toMatch(/^\{.*\}\n$/);
  return { code, stderr, report: JSON.parse(stdout) as Members };
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
    // What these print says that they answer; it is no report.
    const withReport = all.filter((name) => !['serve', 'localnet'].includes(name));
    expect([...members.keys()].sort()).toEqual(withReport.sort());
  });
});

describe('errors', () => {
  it('of each kind: the object, and the same line and exit code as without --json', async () => {
    const none = join(folder, 'none');
    const failures: [readonly string[], 1 | 2, Members][] = [
      [['status', '--data', none], 1, { code: 'no_ledger' }],
      [['status', '--dta', none], 2, { code: 'wrong_usage' }],
      [['nonsense'], 2, { code: 'wrong_usage' }],
      [['prune', '--data', data], 2, { code: 'bad_setting' }],
      [
        ['init', '--data', none, '--genesis', none],
        1,
        { code: 'file_not_readable', cause: 'ENOENT' },
      ],
      [['sample', '--data', data], 1, { code: 'ledger_exists', cause: 'store_exists' }],
      [['encode', '--data', data], 1, { code: 'bad_input', cause: 'bad_field' }],
    ];
    for (const [args, exitCode, error] of failures) {
      const { code, stderr, report } = await reportOf(args);
      const { message } = report['error'] as { message: string };
      expect(report).toEqual({ error: { ...error, message } });
      expect([code, stderr]).toEqual([exitCode, `daybook: ${message}\n`]);
      const plain = await runCommand(args);
      expect(plain).toMatchObject({ code, stdout: '', stderr });
    }
  });

  it('of a store of another format: what to do, in the same words from every command', async () => {
    const newer = join(folder, 'newer');
    const store = await openSqliteStore({ directory: newer });
    const batch = new Batch();
    FORMAT.put(batch, undefined, STORE_FORMAT_VERSION + 1);
    await store.commit(batch);
    await store.close();
    const commands = [
      ...[['status'], ['verify'], ['serve'], ['encode'], ['decode'], ['prune', '--keep', '10']],
      ...[['copy', '--to', join(folder, 'of-another')], ['sample'], ['init', '--genesis', genesis]],
      ...[
        ['follow', '--from', 'http://127.0.0.1:1'],
        ['serve', '--workers', '2'],
      ],
    ];
    const reads = `this program reads format ${STORE_FORMAT_VERSION}`;
    for (const command of commands) {
      const use = async (at: string) => {
        const result = await runCommand([...command, '--data', at]);
        return [result.code, result.stderr.split('\n').at(-2)];
      };
      const holds = `holds store format ${STORE_FORMAT_VERSION + 1}`;
      expect(await use(newer), command.join(' ')).toEqual([
        1,
        `daybook: ${newer} ${holds}, ${reads}: install the newer Daybook that wrote it`,
      ]);
    }
  });
});

describe('the ledger of a command', () => {
  it('is that of --data, DAYBOOK_DATA, the config file, or ./daybook-data', async () => {
    const config = join(folder, 'daybook.yaml');
    const [inFile, named] = [join(folder, 'in-file'), join(folder, 'named')];
    writeFileSync(config, JSON.stringify({ data: inFile }));
    const commands = [
      ...[['status'], ['verify'], ['encode'], ['decode'], ['prune', '--keep', '1']],
      ['copy', '--to', join(folder, 'of-none')],
    ];
    const folderOf = async (args: readonly string[], environment: Record<string, string> = {}) => {
      const { code, stderr } = await runCommand(args, { environment, workingFolder: folder });
      expect(code).toBe(1);
      return /there is no ledger in (\S+); make one/.exec(stderr)?.[1];
    };
    const environment = { DAYBOOK_CONFIG: config, DAYBOOK_DATA: named };
    for (const command of commands) {
      expect(await folderOf(command)).toBe('./daybook-data');
      expect(await folderOf(command, environment)).toBe(named);
    }
    expect(await folderOf(['status'], { DAYBOOK_CONFIG: config })).toBe(inFile);
    expect(await folderOf(['status', '--data', 'x'], environment)).toBe('x');
  });

  it('that a command makes is there too', async () => {
    const workingFolder = temporaryFolder();
    const made = await runCommand(['init', '--genesis', genesis], { workingFolder });
    expect(made.code).toBe(0);
    const again = await runCommand(['sample'], { workingFolder });
    expect(again.stderr).toContain('./daybook-data holds a ledger already');
    const { report } = await reportOf(['status'], { workingFolder });
    expect(report).toMatchObject({ chain_id: 7 });
  });
});
