/** Settings of the program: their four sources, refusals in each, and how they are shown. */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MAX_CONFIG_FILE_BYTES } from '../../src/node/settings/setting-sources.ts';
import { NODE_SETTINGS } from '../../src/node/settings/settings.ts';
import { smallGenesisFile } from '../api/genesis-small.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';

const folder = temporaryFolder();
const data = join(folder, 'ledger');

beforeAll(async () => {
  const genesis = join(folder, 'small.blob');
  writeFileSync(genesis, smallGenesisFile());
  expect((await runCommand(['init', '--data', data, '--genesis', genesis])).code).toBe(0);
});
afterEach(killLeftNodes);

let files = 0;
function configFile(content: string): string {
  files += 1;
  const path = join(folder, `config-${files}.yaml`);
  writeFileSync(path, content);
  return path;
}

describe('a location that is a URL, but not of PostgreSQL', () => {
  const SECRET = 's3cr3t';
  const urls = [
    `jdbc:postgresql://me:${SECRET}@host/db`,
    `jdbc:postgresql://host/db?user=me&password=${SECRET}`,
    `postgresql+asyncpg://me:${SECRET}@host/db`,
    `mysql://me:${SECRET}@host/db`,
    `https://me:${SECRET}@host/db`,
    ` postgres://me:${SECRET}@host/db`,
    `file:///me/${SECRET}`,
  ];

  async function expectRefused(args: string[], environment: Record<string, string> = {}) {
    const { code, stdout, stderr } = await runCommand(args, { environment, workingFolder: folder });
    expect({ args, code, stderr }).toEqual({
      ...{ args, code: 2 },
      stderr: expect.stringContaining('the location of the ledger is neither a folder nor'),
    });
    expect(stdout + stderr, args.join(' ')).not.toMatch(/s3cr3t|me:|me\//);
    return stdout;
  }

  it('is refused, and not repeated', async () => {
    await Promise.all(urls.map((url) => expectRefused(['status', '--data', url])));
    const [url] = urls;
    const report = await expectRefused(['status', `--data=${url}`, '--json']);
    expect(JSON.parse(report)).toMatchObject({ error: { code: 'bad_setting' } });
    const mistyped = expectFailure(await runCommand(['status', `--dta=${url}`]), 2);
    expect(mistyped).toContain('unknown option');
    expect(mistyped).not.toContain(SECRET);
  });

  it('is refused from every source, by every command', async () => {
    const [url] = urls;
    await expectRefused(['status'], { DAYBOOK_DATA: url! });
    await expectRefused(['serve', '--config', configFile(JSON.stringify({ data: url }))]);
    const commands = [
      'sample',
      'serve --sample true --workers 2',
      'serve --follow http://127.0.0.1:9 --log-level trace',
      'serve --fork http://127.0.0.1:9',
      'serve --offline',
      'fork unpack none.pack',
      `copy --to ${join(folder, 'copy')}`,
    ].map((command) => [...command.split(' '), '--data', url!]);
    await Promise.all(
      [...commands, ['copy', '--data', data, '--to', url!]].map((args) => expectRefused(args)),
    );
    expect(readdirSync(folder).filter((name) => /[:%]|copy/.test(name))).toEqual([]);
  });
});

describe('sources', () => {
  it('a flag goes before the environment, that before a file, that before the default', async () => {
    const config = configFile('header_prefix: X-File\ncompression_enabled: true\n');
    const node = await ServedNode.start(data, ['--header-prefix', 'X-Flag', '--config', config], {
      environment: {
        DAYBOOK_HEADER_PREFIX: 'X-Environment',
        DAYBOOK_COMPRESSION_ENABLED: 'off',
      },
    });
    const response = await node.get('');
    expect(response.headers.get('x-flag-chain-id')).toBe('7');
    expect(response.headers.has('x-file-chain-id')).toBe(false);
    const missing = await fetch(`${new URL(node.ready.url).origin}/none`);
    expect(missing.headers.get('x-flag-chain-id')).toBe('7');
    const module = await node.get('/accounts/1/module/coin', { 'accept-encoding': 'gzip' });
    expect([module.status, module.headers.get('content-encoding')]).toEqual([200, null]);
    await node.stop();
  });

  it('reads lists of a config file as those of a flag', async () => {
    const config = configFile('keep_accounts:\n  - "0x1"\n  - "0xzz"\n');
    const result = await runCommand([
      ...['serve', '--data', data, '--produce', '1', '--config', config],
    ]);
    expect(expectFailure(result, 2)).toContain('keep_accounts: "0xzz" is not an address');
  });

  it('all of them from the environment, the config file and the folder too', async () => {
    const config = configFile(
      JSON.stringify({ header_prefix: 'X-Json', compression_enabled: true }),
    );
    const node = await ServedNode.start('unused', ['--data', data], {
      environment: {
        DAYBOOK_CONFIG: config,
        DAYBOOK_DATA: join(folder, 'nowhere'),
        DAYBOOK_COMPRESSION_ENABLED: '0',
        DAYBOOK_MAX_PAGE_SIZE: '1',
        DAYBOOK_UNKNOWN_THING: 'ignored: other programs may have such names',
      },
    });
    expect((await node.get('')).headers.get('x-json-chain-id')).toBe('7');
    const module = await node.get('/accounts/1/module/coin', { 'accept-encoding': 'gzip' });
    expect([module.status, module.headers.get('content-encoding')]).toEqual([200, null]);
    await node.stop();
  });

  it('a relative folder lies where the command runs', async () => {
    const node = await ServedNode.start('ledger', [], { workingFolder: folder });
    expect(node.ready.chain_id).toBe(7);
    await node.stop();
  });
});

describe('what is refused', () => {
  const bomb = Array.from({ length: 12 }, (_, level) => {
    const item = level === 0 ? 'lol' : `*a${level - 1}`;
    return `a${level}: &a${level} [${Array.from({ length: 10 }, () => item).join(',')}]`;
  });

  it.each<[string, string, RegExp]>([
    ['an unknown name', 'header_prefx: X', /"header_prefx"; the nearest is header_prefix,/],
    ['a flag’s spelling', 'header-prefix: X', /there is no setting "header-prefix"/],
    ['a name of every object', '__proto__: {data: x}', /there is no setting "__proto__"/],
    ['another one', 'constructor: 1', /there is no setting "constructor"/],
    ['a wrong type', 'compression_enabled: "yes"', /config file, compression_enabled: "yes"/],
    ['a number for a text', 'fork: 123', /config file, fork: 123 is not a valid fork/],
    ['nothing for a value', 'fork:', /config file, fork: null/],
    ['no whole number', 'max_lag_seconds: 1.5', /a valid max_lag_seconds: integer/],
    ['nothing', '', /config-\d+\.yaml is empty/],
    ['a comment', '# listen: 1', /config-\d+\.yaml is empty/],
    ['a list for one value', 'fork: [a, b]', /config file, fork: a mapping or list/],
    ['a list of others', 'keep_accounts: [1]', /config file, keep_accounts: a mapping or list/],
    ['a list', '- a\n- b', /must hold a mapping of settings/],
    ['a text', 'hello', /must hold a mapping of settings/],
    ['broken YAML', 'a: [1', /config file .*config-\d+\.yaml: /],
    ['a name twice', 'fork: a\nfork: b', /config-\d+\.yaml: .*unique/],
    [
      'lists in lists',
      '['.repeat(MAX_CONFIG_FILE_BYTES),
      /config-\d+\.yaml: it is nested too deeply/,
    ],
    ['names for ever', bomb.join('\n'), /config-\d+\.yaml: /],
    ['a list of itself', 'fork: &a [*a]', /config file, fork: a mapping or list/],
    ['an unknown tag', 'fork: !daybook x\nnonsense: 1', /there is no setting "nonsense"/],
    ['control characters', 'fork: "\x1b[2J"\nlisten: 1', /listen: 1 is not a valid listen/],
  ])('in a file: %s', async (_, content, text) => {
    const result = await runCommand(['serve', '--config', configFile(content)]);
    expect(expectFailure(result, 2)).toMatch(text);
  });

  it('a file that is absent, a folder, or too long', async () => {
    const long = configFile('#'.repeat(MAX_CONFIG_FILE_BYTES + 1));
    for (const [path, text] of [
      [join(folder, 'none.yaml'), 'ENOENT'],
      [folder, 'EISDIR'],
      [long, `more than ${MAX_CONFIG_FILE_BYTES} bytes`],
    ] as const) {
      expect(expectFailure(await runCommand(['serve', '--config', path]), 1)).toContain(text);
    }
    const fits = configFile(`bad: 1\n${'#'.repeat(MAX_CONFIG_FILE_BYTES - 7)}`);
    expect(expectFailure(await runCommand(['serve', '--config', fits]), 2)).toContain('"bad"');
  });

  it('an unknown variable is a warning that names the nearest one', async () => {
    const environment = { DAYBOOK_HEADER_PREFX: 'X-Other', DAYBOOK_PORT: '80' };
    const node = await ServedNode.start(data, [], { environment });
    const warnings = node.log.filter(({ level }) => level === 40);
    const msg = 'environment variable ignored: there is no such setting';
    expect(warnings).toMatchObject([
      { msg, variable: 'DAYBOOK_HEADER_PREFX', nearest: 'DAYBOOK_HEADER_PREFIX' },
      { msg, variable: 'DAYBOOK_PORT', nearest: expect.stringMatching(/^DAYBOOK_/) },
    ]);
    expect((await node.get('')).headers.has('x-node-chain-id')).toBe(true);
    expect((await node.stop()).code).toBe(0);
  });

  it('in the environment', async () => {
    const environment = { DAYBOOK_LISTEN: 'everywhere', DAYBOOK_LOG_LEVEL: 'loud' };
    const result = await runCommand(['serve', '--data', data], { environment });
    expect(expectFailure(result, 2)).toMatch(/^environment variable DAYBOOK_LOG_LEVEL: "loud"/);
  });
});

describe('help', () => {
  it('shows every setting with its flag, variable and default, durations and sizes with units', async () => {
    const { code, stdout, stderr } = await runCommand(['serve', '--help-all']);
    expect([code, stderr]).toEqual([0, '']);
    const text = stdout.replaceAll(/\s+/g, ' ');
    for (const [name, property] of Object.entries(NODE_SETTINGS)) {
      const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const shown = property.type === 'boolean' ? '[value]' : '<value>';
      expect(text).toContain(`--${snake.replaceAll('_', '-')} ${shown} `);
      expect(text).toContain(`env DAYBOOK_${snake.toUpperCase()}`);
      const { default: value } = property as { default?: unknown };
      expect(text).toContain(`default ${JSON.stringify(value)};`);
      const { description } = property as { description?: string };
      if (name.endsWith('Ms')) expect(description).toContain('milliseconds');
      if (name.endsWith('Bytes')) expect(description).toContain('bytes');
    }
  });

  it('begins with the ten settings that one needs first, and shows no others', async () => {
    const { code, stdout } = await runCommand(['serve', '--help']);
    expect(code).toBe(0);
    const shown = stdout.match(/^ {2}--[a-z-]+ [<[]value/gm)!.map((line) => line.split(/ +/)[1]);
    expect(shown).toHaveLength(10);
    expect(shown).toEqual(expect.arrayContaining(['--data', '--listen', '--follow', '--sample']));
  });

  it('lists the commands; each has a purpose, its options, examples and the exit codes', async () => {
    const { code, stdout } = await runCommand(['--help']);
    expect(code).toBe(0);
    const lines = [...stdout.matchAll(/^ {2}(\w+) \[options\] {2,}(\S.*\.)$/gm)];
    const commands = [
      'serve',
      'init',
      'localnet',
      'follow',
      'sample',
      'prune',
      'copy',
      'snapshot',
      'index',
      'status',
    ];
    const others = ['verify', 'compare', 'encode', 'decode', 'view', 'statement', 'trace'];
    expect(lines.map(([, name]) => name)).toEqual([...commands, ...others]);
    for (const [, command, purpose] of lines) {
      const own = await runCommand([command!, '--help']);
      expect([own.code, own.stderr]).toEqual([0, '']);
      const [usage, options, rest] = own.stdout.split(/\nOptions:\n|\nExamples:\n/);
      const [line, ...about] = usage!.split('\n\n');
      expect(line).toMatch(new RegExp(`^Usage: daybook ${command} \\[options\\]`));
      expect(`${about.join('\n\n')}\n`).toContain(`${purpose}\n`);
      const data = 'default "./daybook-data"; env DAYBOOK_DATA)';
      // Without a folder, a local network is deleted at its end.
      const isLasting = command !== 'localnet';
      expect(options!.replaceAll(/\s+/g, ' ').includes(data)).toBe(isLasting);
      const [examples, exitCodes] = rest!.split('\nExit codes:\n');
      const known = new Set(options!.match(/--[a-z-]+/g));
      for (const [, named, more] of examples!.matchAll(/daybook (\w+)(.*)$/gm)) {
        if (named === command)
          expect([...known]).toEqual(expect.arrayContaining(more!.match(/--[a-z-]+/g) ?? []));
      }
      expect(examples).toMatch(new RegExp(`^ {2}daybook ${command}\\b`));
      expect(exitCodes).toMatch(/^ {2}0 .*\n {2}1 .*\n {2}2 .*\n {2}130, 143 /);
    }
  });

  it('the version is the package’s', async () => {
    const { code, stdout } = await runCommand(['--version']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });
});

describe('wrong usage', () => {
  it.each([
    [['nonsense'], /unknown command 'nonsense'/],
    [['--nonsense'], /unknown option '--nonsense'/],
    [['init', '--data', 'x'], /give one of --genesis, --snapshot and --backup/],
    [['copy'], /required option '--to <dir>' not specified/],
    [['init', '--data', 'x', '--genesis'], /argument missing/],
    [['init', '--data', 'x', '--genesis', 'y', 'z'], /too many arguments/],
    [['status', '--jso'], /unknown option '--jso'/],
  ])('%j: exit code 2 and one line', async (args, text) => {
    expect(expectFailure(await runCommand(args), 2)).toMatch(text);
  });

  it('no command at all: the help, on stderr', async () => {
    const { code, stdout, stderr } = await runCommand([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: daybook');
  });
});

describe('status', () => {
  it('prints one object with these members in this order', async () => {
    const { code, stdout, stderr } = await runCommand(['status', '--data', data, '--json']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^\{"chain_id":7,"ledger_version":"0","oldest_ledger_version":"0","ledger_timestamp":"0","epoch":"0","block_height":"0","oldest_block_height":"0","columns":\{.*\}\}\n$/,
    );
    const { columns } = JSON.parse(stdout) as {
      columns: Record<string, { rows: number; bytes: number }>;
    };
    // Twelve writes, four events in streams, and one in none.
    expect(columns).toMatchObject({
      state: { rows: 12 },
      events: { rows: 4, bytes: 612 },
      module_events: { rows: 1 },
      head: { rows: 1 },
    });
    const sizes = Object.values(columns);
    expect(sizes.filter(({ rows, bytes }) => rows > 0 !== bytes > 0)).toEqual([]);
    const sum = sizes.reduce((all, { bytes }) => all + bytes, 0);
    expect(sum).toBeLessThan(statSync(join(data, 'ledger.db')).size);
  });

  it('prints lines for people', async () => {
    const { code, stdout } = await runCommand(['status', '--data', data]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^chain id +7$/m);
    expect(stdout).toMatch(/^state +12 +949$/m);
  });

  it('of a folder without a ledger fails and makes none', async () => {
    for (const empty of [join(folder, 'none'), folder]) {
      const line = expectFailure(await runCommand(['status', '--data', empty]), 1);
      expect(line).toContain(`there is no ledger in ${empty}`);
    }
  });
});
