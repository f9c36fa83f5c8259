/**
 * `daybook follow --execute` with the real program: a recorded chain of the reference, and a ledger that no VM
 * produced.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SIMULATIONS_CHAIN, startReferenceFeed } from '../reference/reference-chain.ts';
import { expectFailure, runCommand, startCommand, temporaryFolder } from './command.ts';
import { makeBulkLedger } from './ledger-contents.ts';

describe('follow --execute', () => {
  const folder = temporaryFolder();

  it('commits what a recorded chain says it did, and is not needed to begin', async () => {
    const feed = await startReferenceFeed(SIMULATIONS_CHAIN);
    const data = join(folder, 'chain');
    const command = ['follow', '--data', data, '--from', feed.url, '--log-level', 'error'];
    const first = await runCommand([...command, '--until', '150', '--json']);
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
    const rest = await runCommand([...command, '--until', '399', '--execute', '--json']);
    expect({ code: rest.code, stderr: rest.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(rest.stdout)).toMatchObject({ ledger_version: '399', transactions: 249 });
    const whole = join(folder, 'whole');
    const all = await runCommand([
      ...['follow', '--data', whole, '--from', feed.url, '--until', '399', '--execute'],
      ...['--page-transactions', '30', '--log-level', 'error', '--json'],
    ]);
    expect({ code: all.code, stderr: all.stderr }).toEqual({ code: 0, stderr: '' });
    feed.close();
    const digests = await Promise.all(
      [data, whole].map(async (one) => {
        const { stdout } = await runCommand(['verify', '--data', one, '--json']);
        return (JSON.parse(stdout) as { columns: unknown }).columns;
      }),
    );
    expect(digests[0]).toEqual(digests[1]);
  });

  it('stops at what nobody has executed, and commits nothing of it', async () => {
    const sample = join(folder, 'sample');
    await makeBulkLedger(sample, 50);
    const node = startCommand(['serve', '--data', sample, '--listen', '127.0.0.1:0']);
    let line = '';
    for await (const part of node.stdout!) {
      line += part;
      if (line.includes('\n')) break;
    }
    const { url } = JSON.parse(line) as { url: string };
    const data = join(folder, 'refused');
    const refused = await runCommand([
      ...['follow', '--data', data, '--from', url, '--until', '50', '--execute'],
    ]);
    node.kill('SIGTERM');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /cannot follow: version 1 (?:cannot be executed|has another outcome): .*; what was committed before stays as it is\n$/,
    );
    const status = await runCommand(['status', '--data', data, '--json']);
    expect(status.stdout).not.toContain('"ledger_version": "50"');
  });

  it('refuses settings that do not go with it', async () => {
    const serve = await runCommand(['serve', '--execute', '--data', join(folder, 'none')]);
    expect(expectFailure(serve, 2)).toContain('--execute needs --follow');
    const bare = join(folder, 'bare');
    const follow = await runCommand([
      ...['follow', '--data', bare, '--from', 'http://127.0.0.1:1', '--execute', '--no-feed'],
    ]);
    expect(expectFailure(follow, 2)).toContain('leave out --execute');
  });
});
