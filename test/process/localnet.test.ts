/** `daybook localnet` with the real program. */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ed25519Key } from '../../src/chain/genesis/genesis-keys.ts';
import { signedCall } from '../../src/chain/signed-call.ts';
import { ADDRESS_ONE, parseAddress } from '../../src/move/types/address.ts';
import { Client, nowSecs, transfer } from '../chain/localnet-client.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';

const FREE = [
  ...['--listen', '127.0.0.1:0', '--faucet-listen', '127.0.0.1:0'],
  ...['--indexer-listen', '127.0.0.1:0', '--ready-listen', ''],
];
const ASK = 'node -e "fetch(process.env.APTOS_NODE_URL).then((a) => a.text()).then(console.log)"';

interface Ready {
  readonly url: string;
  readonly faucet_url: string;
  readonly indexer_url: string;
  readonly chain_id: number;
  readonly accounts: readonly { readonly address: string; readonly private_key: string }[];
  readonly mint: { readonly address: string };
}

/** Starts a network; resolves with its ready line. */
async function started(args: readonly string[], environment = {}) {
  const child = startCommand(['localnet', ...FREE, '--json', ...args], { environment });
  let errors = '';
  child.stderr!.setEncoding('utf8').on('data', (part: string) => {
    errors += part;
  });
  let text = '';
  for await (const part of child.stdout!) {
    text += part;
    if (text.endsWith('}\n')) break;
  }
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    return await ended;
  };
  return { ready: JSON.parse(text) as Ready, stop, errors: () => errors };
}

async function fund({ faucet_url: faucet, url }: Ready, address: string): Promise<unknown> {
  const body = JSON.stringify({ address, amount: 5 });
  const answer = await fetch(`${faucet}/fund`, { method: 'POST', body });
  const { txn_hashes: hashes } = (await answer.json()) as { txn_hashes: string[] };
  const waited = await fetch(`${url}/transactions/wait_by_hash/0x${hashes[0]}`);
  return await waited.json();
}

describe('daybook localnet', () => {
  const folder = temporaryFolder();
  afterAll(killLeftNodes);

  it('runs a command with the network, and ends as the command does', async () => {
    const { code, stdout, stderr } = await runCommand([
      'localnet',
      ...FREE,
      '--exec',
      `${ASK}; exit 7`,
    ]);
    expect({ code, stderr }).toEqual({ code: 7, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ chain_id: 4, git_hash: 'daybook-0.1.0' });
  });

  it('has the accounts that it prints, and goes on with its ledger', async () => {
    const data = join(folder, 'chain');
    const first = await started(['--data', data, '--accounts', '2', '--seed', 'a test']);
    expect(first.ready).toMatchObject({ chain_id: 4 });
    expect(first.ready.accounts).toHaveLength(2);
    expect(await fund(first.ready, '0x99')).toMatchObject({ success: true });
    expect(await first.stop()).toBe(0);
    const again = await started(['--data', data, '--accounts', '2', '--seed', 'a test']);
    expect(again.ready.accounts).toEqual(first.ready.accounts);
    const coin = '0x1::aptos_coin::AptosCoin';
    const balance = await fetch(`${again.ready.url}/accounts/0x99/balance/${coin}`);
    expect(await balance.text()).toBe('5');
    await again.stop();
    const proof = await runCommand(['verify', '--execute', '--data', data, '--json']);
    expect(proof.code).toBe(0);
    expect(JSON.parse(proof.stdout)).toMatchObject({ holds: true, different: 0, not_executed: 0 });
  });

  it('is gone on with by a node that serves its ledger, whose workers pass on to one process', async () => {
    const data = join(folder, 'served');
    const net = await started(['--data', data, '--accounts', '1']);
    await net.stop();
    const { address, private_key: key } = net.ready.accounts[0]!;
    const sender = {
      address: parseAddress(address),
      key: ed25519Key(Buffer.from(key.slice(2), 'hex')),
    };
    const node = await ServedNode.start(data, ['--workers', '2']);
    const client = new Client(node.ready);
    const sent = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        client.submit(transfer(sender, { sequenceNumber: BigInt(at) })),
      ),
    );
    for (const { status, body } of sent) {
      expect(status).toBe(202);
      let waited: Record<string, unknown> = {};
      while (waited['type'] !== 'user_transaction') waited = (await client.wait(body.hash)).body;
      expect(waited).toMatchObject({ success: true });
    }
    expect(await client.balance('0xbeef')).toBe(20_000n);
    const again = await client.submit(transfer(sender, { sequenceNumber: 0n }));
    expect(again).toMatchObject({ status: 400, body: { vm_error_code: 3 } });
    expect(node.complaints).toEqual([]);
    expect((await node.stop()).code).toBe(0);
    const proof = await runCommand(['verify', '--execute', '--data', data, '--json']);
    expect(JSON.parse(proof.stdout)).toMatchObject({ holds: true, different: 0, not_executed: 0 });
  });

  it('names other frameworks in its log where its own lacks what is called', async () => {
    const { ready, stop, errors } = await started(['--accounts', '1']);
    const { address, private_key: key } = ready.accounts[0]!;
    const signed = signedCall({
      ...{ sender: parseAddress(address), chainId: 4, replay: { sequenceNumber: 0n } },
      key: ed25519Key(Buffer.from(key.slice(2), 'hex')),
      ...{ maxGasAmount: 200_000n, gasUnitPrice: 100n, expirationTimestampSecs: nowSecs() + 60n },
      call: {
        kind: 'entryFunction',
        module: { address: ADDRESS_ONE, name: 'coin' },
        ...{ function: 'of_tomorrow', typeArguments: [], args: [] },
      },
    });
    const client = new Client(ready);
    const { body } = await client.submit(signed);
    const waited = await client.wait(body.hash);
    expect(waited.body['vm_status']).toBe('FUNCTION_RESOLUTION_FAILURE');
    await stop();
    const [line] = errors().split('\n');
    const { function: called, remedy } = JSON.parse(line!) as Record<string, string>;
    expect(called).toBe('0x1::coin::of_tomorrow');
    expect(remedy).toMatch(/--genesis .*--fork/);
  });

  it('begins with a dump', async () => {
    const first = await started(['--accounts', '1']);
    await fund(first.ready, '0x98');
    const dump = await fetch(`${first.ready.url}/-/dump`, { method: 'POST' });
    const file = join(folder, 'chain.dump');
    writeFileSync(file, Buffer.from(await dump.arrayBuffer()));
    await first.stop();
    const again = await started(['--accounts', '1', '--load', file]);
    const coin = '0x1::aptos_coin::AptosCoin';
    const balance = await fetch(`${again.ready.url}/accounts/0x98/balance/${coin}`);
    expect(await balance.text()).toBe('5');
    await again.stop();
    const data = join(folder, 'chain');
    const refused = await runCommand(['localnet', ...FREE, '--load', file, '--data', data]);
    expect(expectFailure(refused, 1)).toContain('load the dump into another folder');
  });

  it('leaves nothing behind', async () => {
    const tmp = join(folder, 'tmp');
    mkdirSync(tmp);
    const environment = { TMPDIR: tmp };
    const { code } = await runCommand(['localnet', ...FREE, '--exec', 'true'], { environment });
    expect(code).toBe(0);
    expect(readdirSync(tmp)).toEqual([]);
  });

  it('removes what one has left that was killed, and nothing of one that lives', async () => {
    const tmp = join(folder, 'tmp');
    const environment = { TMPDIR: tmp };
    const [killed, alive] = [await started([], environment), await started([], environment)];
    await killed.stop('SIGKILL');
    const [left, ...more] = readdirSync(tmp);
    expect(more).toHaveLength(1);
    const hourAgo = Date.now() / 1_000 - 3_600;
    for (const name of [left!, ...more]) utimesSync(join(tmp, name), hourAgo, hourAgo);
    const next = await started([], environment);
    const { url } = alive.ready;
    const control = (name: string) => fetch(`${url}/-/${name}`, { method: 'POST', body: '{}' });
    const { id } = (await (await control('snapshot')).json()) as { id: number };
    expect(id).toBe(1);
    expect((await control('mine')).status).toBe(200);
    expect(readdirSync(tmp)).toHaveLength(2);
    await Promise.all([alive.stop(), next.stop()]);
    expect(readdirSync(tmp)).toEqual([]);
  });

  it('says what is wrong with its options', async () => {
    const time = await runCommand(['localnet', '--block-time', '0']);
    expect(expectFailure(time, 2)).toContain('expected auto, manual, or 1 to 3600000');
    const genesis = await runCommand(['localnet', ...FREE, '--genesis', join(folder, 'none')]);
    expect(expectFailure(genesis, 1)).toContain('genesis file');
  });
});
