/** `daybook view`, and the same call through the library and over HTTP. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ViewCallError } from '../../src/index.ts';
import { startEmbeddedNode } from '../../src/node/serve/embedded.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { expectFailure, killLeftNodes, runCommand, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';

const APT = '0x1::aptos_coin::AptosCoin';
const data = join(temporaryFolder(), 'sample');
beforeAll(() => makeSample(data, 300));
afterAll(killLeftNodes);

const view = (...args: string[]) => runCommand(['view', ...args, '--data', data]);

describe('daybook view', () => {
  it('prints values, one a line, as they are at a version', async () => {
    const symbol = await view('0x1::coin::symbol', '--type-args', APT);
    expect(symbol).toMatchObject({ code: 0, stdout: '"APT"\n', stderr: '' });
    const node = await startEmbeddedNode({ data });
    for (const version of [50n, 250n]) {
      const call = ['0x1::coin::balance', CAFE_HEX, '--type-args', APT, '--version', `${version}`];
      const values = await node.view({
        function: '0x1::coin::balance',
        typeArguments: [APT],
        arguments: [CAFE_HEX],
        version,
      });
      const path = `accounts/${CAFE_HEX}/balance/${APT}?ledger_version=${version}`;
      expect(values).toEqual([await (await fetch(`${node.url}/${path}`)).text()]);
      expect((await view(...call)).stdout).toBe(`"${values[0] as string}"\n`);
    }
    await node.stop();
  });

  it('takes arguments as their types are: texts, and JSON', async () => {
    const tick = await view(`${CAFE_HEX}::ticker::latest`, '11', '--json');
    expect(tick.code).toBe(0);
    const facts = JSON.parse(tick.stdout) as { ledger_version: string; values: unknown[] };
    expect(Number(facts.ledger_version)).toBeGreaterThan(300);
    expect(facts.values).toHaveLength(1);
    const quoted = await view(`${CAFE_HEX}::ticker::latest`, '"11"', '--json');
    expect(quoted.stdout).toBe(tick.stdout);
  });

  it('says what is wrong with a call, in one line', async () => {
    const line = expectFailure(await view('0x1::coin::nope'), 1);
    expect(line).toContain('could not find view function by 0x1::coin::nope');
    expectFailure(await view('0x1::coin::symbol', '--type-args', 'u8'), 1);
    expectFailure(await view('0x1::chain_id::get', '--version', '99999999'), 1);
    expectFailure(await view('nonsense'), 1);
    expectFailure(await view('0x1::chain_id::get', '--version', 'x'), 2);
    expectFailure(await runCommand(['view', '--data', data]), 2);
  });
});

describe('a view function called by a program', () => {
  it('rejects with the words and the codes of the API', async () => {
    const node = await startEmbeddedNode({ data });
    expect(await node.view({ function: '0x1::chain_id::get' })).toEqual([node.chainId]);
    const failure = await node
      .view({ function: '0x1::coin::decimals', typeArguments: ['0x1::coin::Coin<u8>'] })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ViewCallError);
    const zeros = '0'.repeat(63);
    expect(failure).toMatchObject({
      status: 400,
      code: 'invalid_input',
      vmErrorCode: 4008,
      message: `Failed to borrow global resource from ${zeros}1`,
    });
    await node.stop();
  });
});
