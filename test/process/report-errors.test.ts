/** Output of failing commands, with `--json` and without, and which ledger they use. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { STORE_FORMAT_VERSION } from '../../src/store/columns/columns.ts';
import { FORMAT } from '../../src/store/columns/identity-column.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { smallGenesisFile } from '../api/genesis-small.ts';
import { killLeftNodes, reportOf, runCommand, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';

const folder = temporaryFolder();
const data = join(folder, 'ledger');
const genesis = join(folder, 'genesis.blob');

beforeAll(async () => {
  await makeSample(data, 600);
  writeFileSync(genesis, smallGenesisFile());
});
afterAll(killLeftNodes);

describe('errors', () => {
  it('of each kind: the object, and the same line and exit code as without --json', async () => {
    const none = join(folder, 'none');
    const failures: [readonly string[], 1 | 2, Record<string, unknown>][] = [
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
