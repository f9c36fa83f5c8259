/** `import { startNode } from 'daybook'`: the package's own entry, as tests of an SDK use it. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../repo/source-tree.ts';

const run = promisify(execFile);

/** Runs a module inside the repository, where the package can import its own name, with its own temporary folder. */
async function runModule(text: string, temporaryFolder: string): Promise<string> {
  const file = join(mkdtempSync(join(ROOT, 'test/process/.module-')), 'example.mjs');
  try {
    writeFileSync(file, text);
    const env = { ...process.env, TMPDIR: temporaryFolder };
    const { stdout } = await run(process.execPath, [file], { cwd: ROOT, env });
    return stdout.trim();
  } finally {
    rmSync(join(file, '..'), { recursive: true });
  }
}

describe('a node inside another program', () => {
  const cache = mkdtempSync(join(tmpdir(), 'daybook-embedded-'));
  afterAll(() => rmSync(cache, { recursive: true }));

  it('runs the first example of docs/testing.md', async () => {
    const text = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
    const example = /```ts\n([\s\S]*?)```/.exec(text)![1]!;
    expect(await runModule(example, cache)).toBe('999999921267200');
  });

  it('refuses options that it does not have', async () => {
    const caught = '(error) => console.log(error.code, error.message)';
    const text = `import { startLocalnet, startNode } from 'daybook';
      await startNode({ prot: 1 }).catch(${caught});
      await startNode({ settings: { headerPrefx: 'X' } }).catch(${caught});
      await startLocalnet({ acounts: 1 }).catch(${caught});`;
    expect((await runModule(text, cache)).split('\n')).toEqual([
      'bad_setting there is no option "prot"; the nearest is port',
      'bad_setting there is no setting "headerPrefx"; the nearest is headerPrefix',
      'bad_setting there is no option "acounts"; the nearest is accounts',
    ]);
  });

  it('runs the example with the SDK', async () => {
    const text = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
    const example = [...text.matchAll(/```ts\n([\s\S]*?)```/g)][1]![1]!;
    const shown = await runModule(
      `${example}
      console.log(same.version === newest.version, unsigned.rawTransaction.sequence_number);
      await node.stop();`,
      cache,
    );
    expect(shown.split('\n').at(-1)).toBe('true 108n');
  });

  it('runs the examples of test runners, which leave nothing behind', async () => {
    const text = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
    const examples = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!);
    const folder = mkdtempSync(join(ROOT, 'test/process/.module-'));
    const empty = mkdtempSync(join(tmpdir(), 'daybook-embedded-net-'));
    writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {};');
    // The machine may be busy, and a test runner's own timeout of five seconds is not under test.
    const patient = ['--testTimeout=60000', '--hookTimeout=60000'];
    const runners = [
      ["from 'vitest'", 'node_modules/vitest/vitest.mjs', ['run', '--root', folder, ...patient]],
      ["from 'node:test'", '--test', []],
    ] as const;
    for (const [mark, runner, args] of runners) {
      const file = join(folder, 'example.test.mjs');
      writeFileSync(file, examples.find((code) => code.includes(mark))!);
      const { stdout } = await run(process.execPath, [runner, ...args, file], {
        cwd: ROOT,
        env: { PATH: process.env['PATH'], TMPDIR: empty },
      });
      expect(stdout).toMatch(/Tests .*2 passed|# pass 1\n/);
    }
    rmSync(folder, { recursive: true });
    expect(readdirSync(empty).filter((name) => name.startsWith('daybook-'))).toEqual([]);
    rmSync(empty, { recursive: true });
  }, 120_000);

  it('runs the examples of docs/fork.md that open a pack', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-embedded-fork-'));
    const shown = (name: string) => JSON.stringify(join(folder, name));
    await runModule(
      `import { startNode } from 'daybook';
      const upstream = await startNode();
      const fork = await startNode({ data: ${shown('fork')}, fork: upstream.url });
      const account = '0xcafeef724f479a8de22ed68b92ca2cc6887aa6e28ba16b62e9b5a9869212691b';
      const paths = ['0x1/module/coin', account + '/balance/0x1::aptos_coin::AptosCoin'];
      for (const path of paths) await fetch(fork.url + '/accounts/' + path);
      await fork.stop();
      await upstream.stop();`,
      cache,
    );
    const pack = ['fork', 'pack', join(folder, 'fork.pack'), '--data', join(folder, 'fork')];
    await run(process.execPath, [join(ROOT, 'bin/daybook'), ...pack]);
    const text = readFileSync(join(ROOT, 'docs/fork.md'), 'utf8');
    const examples = [...text.matchAll(/```ts\n([\s\S]*?)```/g)]
      .map(([, code]) => code!)
      .filter((code) => code.includes("'./fork.pack'"))
      .map((code) => code.replaceAll("'./fork.pack'", shown('fork.pack')));
    expect(examples).toHaveLength(2);
    expect(await runModule(examples[0]!, cache)).toBe('200');
    expect(await runModule(examples[1]!, cache)).toBe('7 true\nnull');
    rmSync(folder, { recursive: true });
  });

  it('keeps the sample ledger, and nothing else, for the next start', async () => {
    const names = readdirSync(cache);
    expect(names).toHaveLength(1);
    const example = `
      import { startNode } from 'daybook';
      const node = await startNode({ settings: { headerPrefix: 'X-Aptos' } });
      const response = await fetch(node.url);
      console.log(JSON.stringify([node.chainId, String(node.ledgerVersion), response.headers.get('x-aptos-chain-id')]));
      await node.stop();
      await fetch(node.url).then(() => console.log('still there'), () => undefined);`;
    expect(JSON.parse(await runModule(example, cache))).toEqual([4, '1022', '4']);
    expect(readdirSync(cache)).toEqual(names);
  });

  it('produces into a copy of the sample ledger, which goes with the node', async () => {
    const names = readdirSync(cache);
    const example = `
      import { startNode } from 'daybook';
      const settings = { produce: 100, maxLagSeconds: 5 };
      const node = await startNode({ settings });
      for (;;) {
        const response = await fetch(node.url + '/-/ready');
        await response.text();
        if (response.status === 200) break;
      }
      await node.stop();
      console.log(String((await startNode()).ledgerVersion));
      process.exit();`;
    expect(await runModule(example, cache)).toBe('1022');
    expect(readdirSync(cache)).toEqual(names);
  });

  it('refuses a folder without a ledger, and settings that it would not use', async () => {
    const missing = join(cache, 'missing');
    const example = `
      import { startNode } from 'daybook';
      const wrong = [
        { data: ${JSON.stringify(missing)} },
        { settings: { header_prefix: 'X-Aptos' } },
        { settings: { data: ${JSON.stringify(missing)} } },
        { settings: { listen: '127.0.0.1:0' } },
      ];
      for (const options of wrong) {
        await startNode(options).catch((error) => console.log(error.code, error.message));
      }`;
    const lines = (await runModule(example, cache)).split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'no_ledger',
      'bad_setting',
      'bad_setting',
      'bad_setting',
    ]);
    expect(lines[1]).toContain('"header_prefix"');
    expect(lines[3]).toContain('listen');
    expect(existsSync(missing)).toBe(false);
  });

  it('makes the cache folder, and a sample of which only the folder is left', async () => {
    const folder = join(cache, 'deep/cache');
    const example = `
      import { readdirSync, rmSync } from 'node:fs';
      import { join } from 'node:path';
      import { startNode } from 'daybook';
      const folder = ${JSON.stringify(folder)};
      const options = { cacheFolder: folder, sample: { transactions: 20, accounts: 5, seed: 7n } };
      const versions = [];
      for (let start = 0; start < 2; start += 1) {
        const node = await startNode(options);
        versions.push(String(node.ledgerVersion));
        await node.stop();
        const made = join(folder, readdirSync(folder)[0]);
        for (const name of readdirSync(made)) rmSync(join(made, name));
      }
      console.log(JSON.stringify([readdirSync(folder).length, versions[0] === versions[1]]));`;
    expect(JSON.parse(await runModule(example, cache))).toEqual([1, true]);
    rmSync(join(cache, 'deep'), { recursive: true });
  });

  it('runs several at once in one process, and names what is wrong with a setting', async () => {
    const example = `
      import { startNode } from 'daybook';
      const nodes = await Promise.all([startNode(), startNode(), startNode()]);
      console.log(new Set(nodes.map(({ url }) => url)).size);
      await Promise.all(nodes.map((node) => node.stop()));
      await startNode({ settings: { produce: -1 } }).catch((error) => console.log(error.code));`;
    expect((await runModule(example, cache)).split('\n')).toEqual(['3', 'bad_setting']);
  });
});
