/** Sample blocks by the wall clock: lag, readiness and expiry of a node that produces, before and after a restart. */
import { beforeAll, describe, expect, it } from 'vitest';
import { makeSample, SMALL_SAMPLE } from '../../src/node/sample.ts';
import { expectFailure, runCommand, ServedNode, temporaryFolder } from './command.ts';
import { until } from './worker-processes.ts';

const WALL = [
  ...['--clock', 'wall', '--produce', '40', '--max-lag-seconds', '5'],
  // The times of pruned blocks are needed too.
  ...['--keep', '200', '--prune-grace-seconds', '1'],
];

interface LedgerInfo {
  readonly ledger_version: string;
  readonly ledger_timestamp: string;
}

async function infoOf(node: ServedNode): Promise<{ version: number; timestampMs: number }> {
  const info = (await (await fetch(node.ready.url)).json()) as LedgerInfo;
  return {
    version: Number(info.ledger_version),
    timestampMs: Number(info.ledger_timestamp) / 1000,
  };
}

async function statusOf(node: ServedNode, path: string): Promise<number> {
  const response = await fetch(`${node.ready.url}${path}`);
  await response.text();
  return response.status;
}

/** Codes of the warnings about a transaction that expired a minute ago. */
async function warningsAbout(node: ServedNode): Promise<string[]> {
  const post = async (name: string, body: string): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    const url = `${node.ready.url}/transactions/${name}`;
    return await (await fetch(url, { method: 'POST', headers, body })).text();
  };
  const request = {
    sender: '0x1',
    ...{ sequence_number: '0', max_gas_amount: '2000', gas_unit_price: '100' },
    expiration_timestamp_secs: String(Math.floor(Date.now() / 1000) - 60),
    payload: {
      type: 'entry_function_payload',
      function: '0x1::aptos_account::transfer',
      type_arguments: [],
      arguments: ['0x1', '1'],
    },
  };
  const message = await post('encode_submission', JSON.stringify(request));
  const { daybook_notes: notes } = JSON.parse(await post('decode_submission', message)) as {
    daybook_notes: { warnings: { code: string }[] };
  };
  return notes.warnings.map(({ code }) => code);
}

describe('a node that produces', () => {
  const data = temporaryFolder();

  beforeAll(async () => {
    await makeSample(data, { ...SMALL_SAMPLE, transactions: 300 });
  });

  it('lags by the sample’s own clock', async () => {
    const node = await ServedNode.start(data, ['--produce', '40', '--max-lag-seconds', '5']);
    const { version } = await infoOf(node);
    await until('it produces', async () => (await infoOf(node)).version > version);
    expect(await statusOf(node, '/-/ready')).toBe(503);
    expect(await statusOf(node, '/-/healthy?duration_secs=60')).toBe(503);
    expect(await warningsAbout(node)).toEqual([]);
    await node.stop();
  });

  it.each(['first', 'restarted', 'again'])('is up to date by the wall clock: %s', async () => {
    const node = await ServedNode.start(data, WALL);
    const startedMs = Date.now();
    await until('it has blocks of now', async () => (await infoOf(node)).timestampMs > startedMs);
    const { timestampMs } = await infoOf(node);
    expect(timestampMs).toBeLessThanOrEqual(Date.now());
    expect(await statusOf(node, '/-/ready')).toBe(200);
    expect(await statusOf(node, '/-/healthy?duration_secs=60')).toBe(200);
    expect(await warningsAbout(node)).toEqual(['expired']);
    await node.stop();
  });

  it('goes on by the sample’s own clock after that, and lags when it stops', async () => {
    const node = await ServedNode.start(data, ['--produce', '40']);
    const before = await infoOf(node);
    await until('it produces', async () => (await infoOf(node)).version > before.version + 40);
    expect((await infoOf(node)).timestampMs).toBeGreaterThan(before.timestampMs);
    await node.stop();
    const reader = await ServedNode.start(data, ['--max-lag-seconds', '1']);
    await until('it lags', async () => (await statusOf(reader, '/-/ready')) === 503);
    await reader.stop();
  });

  it('leaves a ledger that verifies', async () => {
    expect((await runCommand(['verify', '--data', data])).code).toBe(0);
  });

  it('needs blocks to set the time of', async () => {
    const failed = await runCommand(['serve', '--data', data, '--clock', 'wall']);
    expect(expectFailure(failed, 2)).toContain('--clock wall needs --produce');
  });
});
