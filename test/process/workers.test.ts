/** `daybook serve --workers N`: several processes that respond, and one that writes and restarts them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startProducing } from '../../src/node/sample.ts';
import { MAX_EARLY_EXITS } from '../../src/node/serve/cluster/worker-pool.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { smallGenesisFile } from '../api/genesis-small.ts';
import {
  endOf,
  killLeftNodes,
  PROGRAM,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';
import { ask, childrenOf, connectionsToAll, isAlive, until } from './worker-processes.ts';

const folder = temporaryFolder();
const data = join(folder, 'ledger');
const sample = join(folder, 'sample');
const TRANSACTIONS_PER_SECOND = 100;
const TWO = ['--workers', '2'];

beforeAll(async () => {
  const genesis = join(folder, 'small.blob');
  writeFileSync(genesis, smallGenesisFile());
  expect((await runCommand(['init', '--data', data, '--genesis', genesis])).code).toBe(0);
  const made = await runCommand(['sample', '--data', sample, '--transactions', '300']);
  expect(made.code).toBe(0);
});
afterEach(killLeftNodes);

function pidOf(node: ServedNode): number {
  return node.process.pid!;
}

describe.runIf(process.platform === 'linux')('a node with two workers', () => {
  it('answers on one port, says so once, and stops cleanly', async () => {
    const node = await ServedNode.start(data, TWO);
    expect(node.ready.pid).toBe(pidOf(node));
    expect(childrenOf(pidOf(node))).toHaveLength(2);
    const agents = await connectionsToAll(node);
    const answers = await Promise.all(agents.map((agent) => ask(node.ready.url, agent)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { code, signal, stdout } = await node.stop();
    expect([code, signal]).toEqual([0, null]);
    expect(stdout.split('\n')).toEqual([JSON.stringify(node.ready), '']);
    expect(node.complaints).toEqual([]);
    expect(childrenOf(pidOf(node))).toEqual([]);
  });

  it.each([250, 350, 450])(
    'is quiet when Ctrl-C ends all its processes after %d ms',
    async (ms) => {
      const args = ['serve', '--data', data, '--listen', '127.0.0.1:0', ...TWO];
      const child = spawn(PROGRAM, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
      const ended = endOf(child);
      await delay(ms);
      process.kill(-child.pid!, 'SIGINT');
      expect((await ended).stderr).not.toContain('a worker ended');
    },
  );

  it.each(['[::1]:0', 'localhost:0'])('listens on %s', async (listen) => {
    const node = await ServedNode.start(data, [...TWO, '--listen', listen]);
    const agents = await connectionsToAll(node, 4);
    expect(agents).toHaveLength(4);
    expect((await node.stop('SIGINT')).code).toBe(0);
  });

  it('has as many workers as there are cores unless told otherwise', async () => {
    const node = await ServedNode.start(data, [], { environment: { DAYBOOK_WORKERS: '0' } });
    const cores = availableParallelism();
    expect(childrenOf(pidOf(node))).toHaveLength(cores === 1 ? 0 : cores);
    expect((await node.stop()).code).toBe(0);
  });

  it('finishes requests under way when a signal comes for the whole group', async () => {
    const node = await ServedNode.start(data, TWO);
    const workers = childrenOf(pidOf(node));
    const socket = connect(node.port, '127.0.0.1');
    socket.write(
      'POST /v1/transactions/encode_submission HTTP/1.1\r\nHost: x\r\n' +
        'Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n',
    );
    await once(socket, 'data');
    for (const pid of [...workers, pidOf(node)]) process.kill(pid, 'SIGINT');
    await delay(300);
    const answer = once(socket, 'data');
    socket.write('{}');
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    socket.destroy();
    expect(await node.end()).toMatchObject({ code: 0, signal: null });
    expect(workers.filter(isAlive)).toEqual([]);
  });

  it('kills a worker that does not hear it', async () => {
    const node = await ServedNode.start(data, [...TWO, '--shutdown-timeout-ms', '100']);
    const workers = childrenOf(pidOf(node));
    process.kill(workers[0]!, 'SIGSTOP');
    expect(await node.stop()).toMatchObject({ code: 0, signal: null });
    expect(workers.filter(isAlive)).toEqual([]);
  });

  it('cuts what takes too long', async () => {
    const node = await ServedNode.start(data, [...TWO, '--shutdown-timeout-ms', '300']);
    const socket = connect(node.port, '127.0.0.1');
    socket.on('error', () => undefined).write('GET /v1 HTTP/1.1\r\n');
    await delay(100);
    expect(await node.stop()).toMatchObject({ code: 0, signal: null });
    socket.destroy();
  });
});

describe.runIf(process.platform === 'linux')('workers that are killed', () => {
  it('come back, while the others answer', async () => {
    const node = await ServedNode.start(data, TWO);
    const [victim] = childrenOf(pidOf(node));
    let answers = 0;
    let cut = 0;
    let isOver = false;
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        // A new connection for each request: none may hang on its way to a dead worker.
        const agent = new Agent();
        await ask(node.ready.url, agent).then(
          ({ status }) => {
            expect(status).toBe(200);
            answers += 1;
          },
          (error: NodeJS.ErrnoException) => {
            expect(error.code).toMatch(/^(?:ECONNRESET|EPIPE)$/);
            cut += 1;
          },
        );
      }
    });
    await until('some answers', () => answers > 50);
    process.kill(victim!, 'SIGKILL');
    const before = answers;
    await until('answers of the other', () => answers > before + 50);
    await until('two workers', () => childrenOf(pidOf(node)).length === 2);
    await until('the new one', () => node.log.some(({ msg }) => msg === 'a worker answers again'));
    expect(childrenOf(pidOf(node))).not.toContain(victim);
    isOver = true;
    await Promise.all(clients);
    // Requests that the killed worker was answering, or had just accepted.
    expect(cut).toBeLessThanOrEqual(8);
    expect((await node.stop()).code).toBe(0);
    const warnings = node.log.filter(({ level }) => Number(level) >= 40);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ ended_by: 'SIGKILL', restart_in_ms: 0 });
  });

  it('come back on the same port, even if it was all of them', async () => {
    const node = await ServedNode.start(data, TWO);
    const workers = childrenOf(pidOf(node));
    for (const pid of workers) process.kill(pid, 'SIGKILL');
    await until('two new workers', () =>
      childrenOf(pidOf(node)).every((pid) => !workers.includes(pid)),
    );
    await until('answers', () =>
      ask(node.ready.url, new Agent()).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    expect((await node.stop()).code).toBe(0);
  });

  it('are replaced too when they are asked to end', async () => {
    const node = await ServedNode.start(data, TWO);
    const [victim] = childrenOf(pidOf(node));
    process.kill(victim!, 'SIGTERM');
    await until('the new one', () => node.log.some(({ msg }) => msg === 'a worker answers again'));
    expect(isAlive(victim!)).toBe(false);
    expect((await node.stop()).code).toBe(0);
  });

  it('end the node with a clear error when they keep dying', async () => {
    const node = await ServedNode.start(data, [...TWO, '--log-level', 'error']);
    const [survivor] = childrenOf(pidOf(node)).slice(1);
    for (let end = 1; end <= MAX_EARLY_EXITS; end += 1) {
      let victims: number[] = [];
      await until(`worker ${end} in that place`, () => {
        victims = childrenOf(pidOf(node)).filter((pid) => pid !== survivor);
        return victims.length === 1;
      });
      process.kill(victims[0]!, 'SIGKILL');
      await until(`its end`, () => !isAlive(victims[0]!));
    }
    const result = await node.end();
    expect(result).toMatchObject({ code: 1, signal: null });
    expect(result.stderr).toMatch(
      /^daybook: worker 1 ended 5 times within 10 s of its start, the last time by SIGKILL: [^\n]+\n$/,
    );
    expect(isAlive(survivor!)).toBe(false);
  });
});

describe.runIf(process.platform === 'linux')('a primary that is killed', () => {
  it('takes its workers along, and leaves the writer’s place free', async () => {
    const node = await ServedNode.start(sample, [...TWO, '--produce', '50']);
    const workers = childrenOf(pidOf(node));
    expect(workers).toHaveLength(2);
    await node.stop('SIGKILL');
    await until('the workers’ end', () => workers.every((pid) => !isAlive(pid)));
    const listen = `127.0.0.1:${node.port}`;
    const next = await ServedNode.start(sample, [...TWO, '--produce', '50', '--listen', listen]);
    const first = BigInt(next.ready.ledger_version);
    expect(first).toBeGreaterThanOrEqual(BigInt(node.ready.ledger_version));
    await until('new versions', async () => {
      const { headers } = await ask(next.ready.url, new Agent());
      return BigInt(String(headers['x-node-ledger-version'])) > first;
    });
    expect((await next.stop()).code).toBe(0);
    expect(next.complaints).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('new versions', () => {
  it('show in all workers once they are on disk, and never go away again', async () => {
    const node = await ServedNode.start(sample, TWO);
    const agents = await connectionsToAll(node);
    const store = await openSqliteStore({ directory: sample });
    const writer = await LedgerWriter.open(store);
    const producing = await startProducing(
      writer,
      TRANSACTIONS_PER_SECOND,
      pino({ level: 'silent' }),
    );
    const newest = agents.map(() => 0n);
    try {
      for (let commit = 0; commit < 10; commit += 1) {
        const { version } = writer.head!;
        while (writer.head!.version === version) await delay(1);
        const committed = writer.head!.version;
        await until(`version ${committed} everywhere`, async () => {
          const answers = await Promise.all(agents.map((agent) => ask(node.ready.url, agent)));
          answers.forEach(({ headers }, index) => {
            const seen = BigInt(String(headers['x-node-ledger-version']));
            expect(seen).toBeGreaterThanOrEqual(newest[index]!);
            newest[index] = seen;
          });
          return newest.every((seen) => seen >= committed);
        });
      }
    } finally {
      await producing.stop();
      await store.close();
    }
    expect((await node.stop()).code).toBe(0);
  });
});

describe.each([
  ['one process', ['--workers', '1']],
  ['two workers', TWO],
])('a node of %s that is told to stop before it answers', (_, flags) => {
  it('stops, though it waits for an upstream that is not there', async () => {
    const empty = join(folder, `follower-${flags[1]}`);
    const upstream = ['--follow', 'http://127.0.0.1:9', '--listen', '127.0.0.1:0'];
    const child = startCommand(['serve', '--data', empty, ...upstream, ...flags]);
    await once(child.stderr!, 'data');
    const end = endOf(child);
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 0, signal: null, stdout: '' });
  });
});
