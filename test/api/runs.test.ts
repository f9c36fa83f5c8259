/** Runs of code for requests: how many are active, for which client, and what ends them. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OVERLOAD_ONSET_MS } from '../../src/api/load/admission.ts';
import type { ApiSettings } from '../../src/api/settings.ts';
import { LARGE_RUN_BYTES, LARGE_RUNS, MAX_LARGE_RUNS } from '../../src/vm/machine/large-runs.ts';
import { longRunCount } from '../../src/vm/machine/run.ts';
import { bytecodesOf } from '../vm/run-text.ts';
import { from, MAX_MS, Process } from './loaded-process.ts';
import { type ModuleLedger, openModuleLedger } from './module-ledger.ts';

/** An endless run takes more than a thousand turns to reach its limit. */
const FEW_TURNS = 500;
const MODULE = `module cafe::m {
  #[view]
  public fun endless(): u64 { again: Branch again; }
  #[view]
  public fun large(): u64 {
    let v: vector<u64>; VecPack <u64> 0; StLoc v;
    again: MutBorrowLoc v; LdU64 1; VecPushBack <u64>; Branch again;
  }
}`;

let ledger: ModuleLedger;
let clients: Socket[] = [];

async function open(changes: Partial<ApiSettings> = {}): Promise<void> {
  ledger = await openModuleLedger(bytecodesOf(MODULE), changes);
}

beforeEach(() => open());
afterEach(async () => {
  for (const client of clients) client.destroy();
  clients = [];
  await ledger.close();
});

/** A connection and its responses. */
interface Asking {
  readonly socket: Socket;
  readonly text: () => string;
}

/** Requests runs over a connection of its own, one after the other without waiting. */
async function ask(name: string, { count = 1, localAddress = '127.0.0.1' } = {}): Promise<Asking> {
  const socket = connect({ port: await ledger.app.port(), host: '127.0.0.1', localAddress });
  clients.push(socket);
  const body = `{"function":"0xcafe::m::${name}","type_arguments":[],"arguments":[]}`;
  const head = `POST /v1/view HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      text += String(chunk);
    });
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(count));
  return { socket, text: () => text };
}

async function runsAre(count: number): Promise<void> {
  while (longRunCount() !== count) await nextTurn();
}

/** @returns whether only `count` runs are left within a few turns */
async function areLeft(count: number): Promise<boolean> {
  for (let turns = 0; turns < FEW_TURNS && longRunCount() > count; turns += 1) await nextTurn();
  return longRunCount() === count;
}

describe('a run', () => {
  it('ends with its client, and so do those behind it on the connection', async () => {
    const { socket } = await ask('endless', { count: 3 });
    const other = await ask('endless');
    await runsAre(4);
    socket.destroy();
    expect(await areLeft(1)).toBe(true);
    other.socket.destroy();
    expect(await areLeft(0)).toBe(true);
    expect(ledger.log.errors).toEqual([]);
  });

  it('does not wait for its place when its client has gone', async () => {
    for (let left = MAX_LARGE_RUNS; left > 0; left -= 1) await LARGE_RUNS.enter();
    const { socket } = await ask('large');
    await runsAre(1);
    for (let turns = 0; turns < FEW_TURNS; turns += 1) await nextTurn();
    socket.destroy();
    await runsAre(0);
    for (let left = MAX_LARGE_RUNS; left > 0; left -= 1) LARGE_RUNS.leave();
  });

  it('ends when the node stops, with an answer', async () => {
    const { socket, text } = await ask('endless');
    await runsAre(1);
    const closed = ledger.app.close();
    await once(socket, 'data');
    expect(longRunCount()).toBe(0);
    expect(text()).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1\r\n.*"The node is stopping"/s);
    socket.destroy();
    await closed;
  });
});

describe('runs of more than one turn', () => {
  it.each([
    [3, 3],
    [4, 4],
    [5, 4],
  ])('of one client: %i are asked for, %i go on', async (asked, count) => {
    await ledger.close();
    await open({ maxUnsentBytes: 8 * LARGE_RUN_BYTES });
    const askings: Asking[] = [];
    for (let index = 0; index < asked; index += 1) askings.push(await ask('endless'));
    const refused = () =>
      askings.filter(({ text }) => text().includes('too many runs of code wait'));
    while (refused().length < asked - count) await nextTurn();
    await runsAre(count);
    expect(refused()).toHaveLength(asked - count);
    const other = await ask('endless', { localAddress: '127.0.0.2' });
    await runsAre(count + 1);
    expect(other.text()).toBe('');
    for (const { socket } of askings) socket.destroy();
    expect(await areLeft(1)).toBe(true);
    await ask('endless');
    await runsAre(2);
  });

  it('are work of their client', async () => {
    const process = new Process();
    const { admission } = process;
    const run = admission.pending(from('10.0.0.1'), 'run');
    const endMs = process.nowMs + OVERLOAD_ONSET_MS;
    while (process.nowMs < endMs) {
      run.check();
      process.nowMs += MAX_MS;
      await nextTurn();
    }
    run.check();
    process.nowMs += MAX_MS;
    expect(process.ask('body', 0, '10.0.0.1')).toBe(false);
    expect(process.ask('body', 0, '10.0.0.2')).toBe(true);
  });

  it('make way for older pages', () => {
    const { admission } = new Process();
    const page = admission.pending(from('10.0.0.1'), 'listing');
    const run = admission.pending(from('10.0.0.2'), 'run');
    page.hold(400);
    run.hold(400);
    page.hold(599);
    expect(() => run.check()).toThrow('too many runs of code wait');
    expect([admission.refusedCount('body'), admission.refusedCount('listing')]).toEqual([1, 0]);
    run.end();
    page.check();
  });

  it('end when nobody reads their answers any more', () => {
    const { admission } = new Process();
    const request = from('10.0.0.1');
    const run = admission.pending(request, 'run');
    run.hold(1);
    const { signal } = run;
    request.socket.end();
    expect(() => run.check()).toThrow('The client has left');
    request.socket.emit('close');
    expect([signal.aborted, admission.held.bytes]).toEqual([true, 0]);
  });

  it('end, or do not begin, when the node stops; pages are made', () => {
    const { admission } = new Process();
    const [page, run, later] = (['listing', 'run', 'run'] as const).map((work) =>
      admission.pending(from('10.0.0.1'), work),
    );
    page!.hold(1);
    run!.hold(1);
    const { signal } = run!;
    admission.held.stop();
    expect([signal.aborted, admission.held.bytes]).toEqual([true, 1]);
    for (const step of [() => run!.check(), () => run!.hold(1), () => later!.hold(1)]) {
      expect(step).toThrow('The node is stopping');
    }
    page!.hold(1);
    expect(admission.held.bytes).toBe(2);
  });
});
