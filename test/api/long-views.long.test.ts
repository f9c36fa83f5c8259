/** Views with large results: rendered in turns, limited in size, and otherwise unchanged. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_VIEW_BYTES, UNITS_AT_ONCE } from '../../src/execution/call-view.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { addressBytes } from '../../src/move/types/address.ts';
import { JSON_PIECE_BYTES } from '../../src/move/values/value-json.ts';
import { LARGE_RUN_BYTES } from '../../src/vm/machine/large-runs.ts';
import { longRunCount } from '../../src/vm/machine/run.ts';
import { YieldBudget } from '../../src/yield-budget.ts';
import { bytecodesOf, CAFE } from '../vm/run-text.ts';
import type { TestReply } from './client.ts';
import { expectError } from './error-answers.ts';
import { type ModuleLedger, openModuleLedger, writeModuleLedger } from './module-ledger.ts';
import { openTestedLedger } from './tested-ledger.ts';

const MODULE = `module cafe::m {
  #[view]
  public fun endless(): u64 { again: Branch again; }
  #[view]
  public fun same(v: vector<u64>): vector<u64> { MoveLoc v; Ret; }
  #[view]
  public fun four(v: vector<u8>, n: u64): (vector<vector<u8>>, u64) {
    CopyLoc v; CopyLoc v; CopyLoc v; MoveLoc v; VecPack <vector<u8>> 4; MoveLoc n; Ret;
  }
  #[view]
  public fun parts(v: vector<u8>, w: vector<u8>): vector<vector<u8>> {
    CopyLoc v; CopyLoc v; CopyLoc v; CopyLoc v; CopyLoc v; CopyLoc v; CopyLoc v; MoveLoc v;
    MoveLoc w; VecPack <vector<u8>> 9; Ret;
  }
}`;

let ledger: ModuleLedger;
beforeAll(async () => {
  const contentLengthLimitBytes = 16 * 1024 * 1024;
  ledger = await openModuleLedger(bytecodesOf(MODULE), { contentLengthLimitBytes });
});
afterAll(() => ledger.close());

function callOf(name: string, args: readonly Uint8Array[]): Buffer {
  return encodeBcs((writer) => {
    writer.fixed(addressBytes(CAFE)).string('m').string(name).uleb32(0);
    writer.vector(args, (to, one) => to.bytes(one));
  });
}

function post(
  name: string,
  args: readonly Uint8Array[],
  accept = 'application/json',
  { app } = ledger,
): Promise<TestReply> {
  const body = callOf(name, args);
  const headers = { 'content-type': 'application/x.aptos.view_function+bcs', accept };
  return app.request({ method: 'POST', url: '/v1/view', headers, body });
}

const bytes = (length: number): Buffer =>
  encodeBcs((writer) => writer.bytes(Buffer.alloc(length, 0xab)));
const u64 = (value: number): Buffer => encodeBcs((writer) => writer.u64(BigInt(value)));
const numbers = (count: number): Buffer =>
  encodeBcs((writer) => {
    writer.uleb32(count);
    for (let index = 0; index < count; index += 1) writer.u64(BigInt(index) << 20n);
  });
const shownNumbers = (count: number): string =>
  JSON.stringify([Array.from({ length: count }, (_, index) => String(BigInt(index) << 20n))]);

describe('a long answer', () => {
  it.each([UNITS_AT_ONCE - 200, UNITS_AT_ONCE + 1, 100_000, 1_000_000])(
    'of %i numbers has them all',
    async (count) => {
      const value = numbers(count);
      const reply = await post('same', [value]);
      expect(reply.statusCode).toBe(200);
      expect(reply.body === shownNumbers(count)).toBe(true);
      const bcs = await post('same', [value], 'application/x-bcs');
      expect(bcs.bytes.equals(Buffer.concat([Buffer.of(1), value]))).toBe(true);
    },
  );

  it('gives others their turn after each piece', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-long-views-'));
    const store = await writeModuleLedger(folder, bytecodesOf(MODULE));
    const view = await openTestedLedger(store).view();
    let turns = 0;
    let heldBytes = 0;
    const waiter = {
      signal: new AbortController().signal,
      check: () => {
        turns += 1;
      },
      hold: (bytes: number) => {
        heldBytes += bytes;
      },
    };
    const count = 100_000;
    const call = callOf('same', [numbers(count)]);
    const values = await view.callView(call, 0n, new YieldBudget(waiter));
    const pieces = (await values.json()) as readonly Buffer[];
    const text = Buffer.concat(pieces).toString();
    expect(text === shownNumbers(count)).toBe(true);
    expect(turns).toBe(Math.floor(text.length / JSON_PIECE_BYTES));
    // Bytes after the last turn are not counted.
    const last = pieces.at(-2)!.length + ']'.length;
    expect(heldBytes).toBe(LARGE_RUN_BYTES + text.length - last);
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it.each([
    [99_999, 200],
    [100_000, 200],
    [1_000_000, 400],
  ])('in JSON has so many bytes at most; with %i: %i', async (number, status) => {
    // [["0x…","0x…","0x…","0x…"],"…"]
    const around = 4 * '"0x",'.length - 1 + '[[],"100000"]'.length;
    const length = (MAX_VIEW_BYTES - around) / 8;
    const reply = await post('four', [bytes(length), u64(number)]);
    if (status === 200) {
      const digits = String(number).length - '100000'.length;
      expect([reply.statusCode, reply.bytes.length]).toEqual([200, MAX_VIEW_BYTES + digits]);
    } else expectTooLong(reply);
  });

  it.each([-1, 0, 1])('in BCS has so many bytes at most; with %i more', async (more) => {
    const large = 8 * 1024 * 1024 - 1024;
    // Each part has a length prefix of 4 bytes, except for the last one, which has 2.
    const rest = MAX_VIEW_BYTES - 8 * (large + 4) - 2 - 2 + more;
    const reply = await post('parts', [bytes(large), bytes(rest)], 'application/x-bcs');
    if (more <= 0) expect(reply.bytes.length).toBe(MAX_VIEW_BYTES + more);
    else expectTooLong(reply);
  });

  it('is refused where as much is under way already', async () => {
    const small = await openModuleLedger(bytecodesOf(MODULE), {
      maxUnsentBytes: 3 * LARGE_RUN_BYTES,
    });
    const alone = await post('same', [numbers(500_000)], 'application/json', small);
    expect(alone.statusCode).toBe(200);
    const socket = connect({
      port: await small.app.port(),
      host: '127.0.0.1',
      localAddress: '127.0.0.2',
    });
    const body = callOf('endless', []);
    const type = 'Content-Type: application/x.aptos.view_function+bcs';
    const length = `Content-Length: ${body.length}`;
    socket.write(`POST /v1/view HTTP/1.1\r\nHost: x\r\n${type}\r\n${length}\r\n\r\n`);
    socket.write(body);
    while (longRunCount() === 0) await nextTurn();
    const reply = await post('same', [numbers(500_000)], 'application/json', small);
    const text = 'The node is overloaded: too many runs of code wait';
    expectError(reply, 503, 'internal_error', text);
    socket.destroy();
    await small.close();
  });
});

function expectTooLong(reply: TestReply): void {
  expect(reply.statusCode).toBe(400);
  expect(reply.json()).toEqual({
    message: 'The values of a view function have more than 67108864 bytes',
    error_code: 'invalid_input',
    vm_error_code: 4028,
  });
}
