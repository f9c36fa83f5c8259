/** `daybook trace`: transactions of a ledger on disk and of another node, for people and for programs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Trace } from '../../src/execution/trace/trace-shape.ts';
import { readModule } from '../../src/move/modules/read.ts';
import { parseAddress } from '../../src/move/types/address.ts';
import { hashedStateKey, moduleStateKey } from '../../src/move/types/state-key.ts';
import { openStoreReader } from '../../src/node/open-store.ts';
import { openHead } from '../../src/store/columns/head.ts';
import { StoreView } from '../../src/store/read/view.ts';
import { stepsBelow, sum } from '../execution/trace-steps.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { storeReferenceChain } from '../reference/reference-chain.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';

const folder = temporaryFolder();
const data = join(folder, 'chain');
beforeAll(() => storeReferenceChain(data));
afterAll(killLeftNodes);

const trace = (...args: string[]) => runCommand(['trace', ...args, '--data', data]);
const NOP = 0x28;

/** A module of the framework at the head. */
async function moduleBytes(name: string): Promise<Buffer> {
  const store = await openStoreReader(data);
  try {
    const head = await openHead(store);
    const key = hashedStateKey(moduleStateKey(parseAddress('0x1'), name));
    return Buffer.from((await new StoreView(store, head).state(key, head.version))!.bytes!);
  } finally {
    await store.close();
  }
}

/** A transaction that failed with EINSUFFICIENT_BALANCE, and one that succeeded. */
const FAILED = '1129';
const DONE = '300';

describe('daybook trace', () => {
  it('shows calls as a tree, without colours where it is no terminal', async () => {
    const { code, stdout, stderr } = await trace(DONE);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^user_transaction 300 0x60356e74/);
    expect(lines[1]).toBe('Executed successfully  4,654 gas units');
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}0x1::aptos_account::set_allow/));
    expect(lines).toContainEqual(expect.stringMatching(/^ +writes 0x1::aptos_account::Direct/));
    expect(stdout).not.toContain('\u001b');
    const { stdout: all } = await trace(DONE, '--depth', '50');
    expect(all).toContain('0x1::transaction_validation::prologue_common(');
    expect(stdout).not.toContain('0x1::transaction_validation::prologue_common(');
  });

  it('shows the code around the instruction that failed', async () => {
    const { stdout } = await trace(FAILED, '--depth', '1');
    expect(stdout).toContain('0x1::fungible_asset::unchecked_withdraw(');
    expect(stdout).toMatch(/ABORTED in 0x1::fungible_asset::unchecked_withdraw at 76: EINSUFF/);
    expect(stdout).toMatch(/^ {4}→ {3}76 {2}Abort$/m);
  });

  it('compares the gas with what it would be with another module', async () => {
    const bytes = await moduleBytes('aptos_account');
    const module = readModule(bytes);
    const called = 'set_allow_direct_coin_transfers';
    const functionDefinitions = module.functionDefinitions.map((one) => {
      const { code, handle } = one;
      const name = module.identifiers[module.functionHandles[handle]!.name];
      if (code === undefined || name !== called) return one;
      // Inserted before the last instruction: a branch to it now leads here, which changes nothing.
      const more = Array.from({ length: 100 }, () => ({ opcode: NOP }));
      const longer = [...code.code.slice(0, -1), ...more, ...code.code.slice(-1)];
      return { ...one, code: { ...code, code: longer } };
    });
    const [same, longer, broken] = ['same.mv', 'longer.mv', 'broken.mv'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    writeFileSync(same, bytes);
    writeFileSync(longer, writeModule({ ...module, functionDefinitions }));
    writeFileSync(broken, bytes.subarray(0, 100));
    const compared = async (file: string) =>
      JSON.parse((await trace(DONE, '--module', file, '--json')).stdout);
    expect((await compared(same)).functions).toEqual([]);
    const { functions, gas } = await compared(longer);
    const [one] = functions;
    expect([functions.length, one.function]).toEqual([1, `0x1::aptos_account::${called}`]);
    expect(one.own[1] - one.own[0]).toBe(gas[1].execution - gas[0].execution);
    expect(one.own[1]).toBeGreaterThan(one.own[0]);
    const refused = expectFailure(await trace(DONE, '--module', broken), 1);
    expect(refused).toContain('broken.mv is no module that can run: ');
    expectFailure(await trace(DONE, '--module', same, '--compare', FAILED), 2);
  });

  it('writes gas for other tools and as a picture: the sums are those of the trace', async () => {
    const files = ['folded.txt', 'flame.svg'].map((name) => join(folder, name)) as [string, string];
    const args = ['--folded', files[0], '--flame', files[1], '--json'];
    const { stdout } = await trace(DONE, ...args);
    const { gas, parts } = JSON.parse(stdout) as Trace;
    const lines = readFileSync(files[0], 'utf8').trimEnd().split('\n');
    const amounts = lines.map((line) => Number(/^[^;]+(?:;[^;]+)* (\d+)$/.exec(line)![1]));
    expect(sum(amounts)).toBe(gas.execution + gas.io + gas.storage);
    expect(lines).toContain('changes;storage;0x1::aptos_account::DirectTransferConfig 4600000000');
    const picture = readFileSync(files[1], 'utf8');
    expect(picture).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    expect(picture).toContain('>0x1::aptos_account::DirectTransferConfig: 4,600 gas units');
    expect(parts.map(({ name }) => name)).toContain('intrinsic');
  });

  it('compares the gas of two transactions by function', async () => {
    const { stdout } = await trace(DONE, '--compare', FAILED);
    expect(stdout).toMatch(/^0x1::coin::transfer +0 → 1 +0 +9\.932 +\+9\.932$/m);
    expect(stdout).toMatch(/^gas used +4654 +105 +-4549$/m);
    expect((await trace(DONE, '--compare', DONE)).stdout).toMatch(/^gas used +4654 +4654 +0$/m);
  });

  it('traces a transaction of another node, and keeps what it has asked where it is told to', async () => {
    const node = await ServedNode.start(data);
    const here = JSON.parse((await trace(FAILED, '--json')).stdout) as Trace;
    const kept = join(folder, 'kept');
    const args = ['trace', here.hash!, '--fork', node.ready.url, '--data', kept, '--json'];
    const there = await runCommand(args);
    expect(there).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(there.stdout)).toEqual(here);
    expect([...stepsBelow(here.parts.flatMap(({ steps }) => steps))].length).toBeGreaterThan(50);
    const again = await runCommand(['trace', FAILED, '--fork', node.ready.url, '--json']);
    expect(JSON.parse(again.stdout)).toEqual(here);
  });

  it('says what is wrong in one line', async () => {
    expectFailure(await trace('9999'), 1);
    expectFailure(await trace(`0x${'ab'.repeat(32)}`), 1);
    expectFailure(await trace('zz'), 2);
    expectFailure(await trace(DONE, '--depth', '0'), 2);
    expectFailure(await trace(DONE, '--depth', '1025'), 2);
    expectFailure(await runCommand(['trace', DONE, '--data', join(folder, 'none')]), 1);
  });
});
