/** Traces of a reference node's recorded chain: their sums equal what that node has recorded. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stateUsageAt } from '../../src/execution/state-usage.ts';
import type { Trace, TraceStep } from '../../src/execution/trace/trace-shape.ts';
import { MAX_TRACES_AT_ONCE, TRACES } from '../../src/ledger/traces.ts';
import { decodeBcs } from '../../src/move/bcs/bcs-reader.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { PruningGuard } from '../../src/state/pruning-guard.ts';
import { storedSource } from '../../src/state/source.ts';
import { openHead } from '../../src/store/columns/head.ts';
import { LARGE_RUN_BYTES } from '../../src/vm/machine/large-runs.ts';
import { YieldBudget } from '../../src/yield-budget.ts';
import { openTestedLedger } from '../api/tested-ledger.ts';
import { stepsBelow, sum } from '../execution/trace-steps.ts';
import { IS_LONG } from '../random.ts';
import { NEWEST_VERSION, type ReferenceLedger, serveReferenceChain } from './reference-chain.ts';
import {
  findAccounts,
  type KnownAccount,
  RECEIVER,
  rawBytes,
  rawOf,
  transferTo,
  zeroSigned,
} from './simulation-requests.ts';

const MAX_SHOWN_BYTES = 64 * 1024;

interface Recorded {
  readonly version: string;
  readonly type: string;
  readonly hash: string;
  readonly success: boolean;
  readonly vm_status: string;
  readonly gas_used: string;
  /** Absent for a state checkpoint. */
  readonly events?: readonly { readonly type: string; readonly data: unknown }[];
  readonly changes: readonly {
    readonly type: string;
    readonly state_key_hash: string;
    readonly data?: { readonly type: string; readonly data: unknown };
  }[];
}

let ledger: ReferenceLedger;
const recorded: Recorded[] = [];
let resourcesCompared = 0;
beforeAll(async () => {
  ledger = await serveReferenceChain();
  for (let start = 0; start <= NEWEST_VERSION; start += 100) {
    const page = await ledger.api.request(`/v1/transactions?start=${start}&limit=100`);
    recorded.push(...page.json<Recorded[]>());
  }
});
afterAll(() => ledger.close());

async function traceOf(id: string): Promise<Trace> {
  const reply = await ledger.api.request(`/v1/-/transactions/${id}/trace`);
  expect(reply.statusCode, reply.body.slice(0, 500)).toBe(200);
  return reply.json<Trace>();
}

const byText = (left: string, right: string) => (left < right ? -1 : 1);

function expectRecorded(trace: Trace, transaction: Recorded): void {
  const { version, hash, type, success } = transaction;
  expect(trace).toMatchObject({ version, hash, type, success, is_recorded: true });
  expect(trace.omitted).toEqual({ steps: 0, values: 0 });
  expect(trace.events).toEqual(
    (transaction.events ?? []).map((event) => ({ type: event.type, data: event.data })),
  );
  const hashes = (items: readonly { state_key_hash: string }[]) =>
    [...new Set(items.map((item) => item.state_key_hash))].sort(byText);
  expect(hashes(trace.writes)).toEqual(hashes(transaction.changes));
  for (const { type: kind, state_key_hash: key, data } of transaction.changes) {
    const shown = trace.writes.find((one) => one.state_key_hash === key && one.type === data?.type);
    // Unchanged members of a group are not shown.
    if (kind !== 'write_resource' || shown === undefined) continue;
    if (shown.bytes_after! > MAX_SHOWN_BYTES) expect(shown.after).toBeUndefined();
    else expect(shown.after).toEqual(data!.data);
    resourcesCompared += 1;
  }
}

/** The gas of all steps adds up to the recorded gas. */
function expectSum({ parts, gas, functions, instructions }: Trace, used: string): void {
  const all = sum(parts.map((part) => part.gas.total));
  expect(String(Math.ceil(all / gas.unit))).toBe(used);
  expect(gas.execution + gas.io + gas.storage).toBe(all);
  const calls = parts.flatMap(({ steps }) => [...stepsBelow(steps)].filter(isCall));
  const own = sum(calls.map((call) => call.gas!.own));
  expect(all - sum(parts.map((part) => part.gas.own))).toBe(own);
  expect(sum(functions.map((one) => one.own))).toBe(own);
  expect(sum(instructions.map((one) => one.gas))).toBe(own);
  const natives = instructions.find(({ name }) => name === 'native functions')?.count ?? 0;
  expect(calls.filter((call) => call.is_native)).toHaveLength(natives);
  for (const { steps = [], gas: one } of calls) {
    expect(one!.total).toBe(one!.own + sum(steps.filter(isCall).map((step) => step.gas!.total)));
  }
}

const isCall = ({ kind }: TraceStep) => kind === 'call';

describe('a trace', () => {
  it('of every transaction has the recorded gas, writes and events', async () => {
    const asked = IS_LONG ? recorded : recorded.slice(0, 80);
    let users = 0;
    for (const transaction of asked) {
      const trace = await traceOf(transaction.version);
      expectRecorded(trace, transaction);
      expectSum(trace, transaction.gas_used);
      if (transaction.type === 'user_transaction') users += 1;
    }
    expect(users).toBe(IS_LONG ? 1_236 : 67);
    expect(resourcesCompared).toBeGreaterThan(300);
  });

  it('waits while as many are made as may be at once', async () => {
    for (let left = MAX_TRACES_AT_ONCE - 1; left > 0; left -= 1) await TRACES.enter();
    await traceOf('5');
    await TRACES.enter();
    let isAnswered = false;
    const asked = traceOf('5').then(() => {
      isAnswered = true;
    });
    for (let times = 0; times < 20; times += 1) await ledger.api.request('/v1');
    expect(isAnswered).toBe(false);
    for (let left = MAX_TRACES_AT_ONCE; left > 0; left -= 1) TRACES.leave();
    await asked;
    expect(isAnswered).toBe(true);
  });

  it('holds bytes while it waits, and is given up with its client', async () => {
    const { traces } = await openTestedLedger(ledger.store).view();
    const client = new AbortController();
    let heldBytes = 0;
    const hold = (bytes: number): void => {
      heldBytes += bytes;
    };
    const waiter = { signal: client.signal, hold, check: () => undefined };
    for (let left = MAX_TRACES_AT_ONCE; left > 0; left -= 1) await TRACES.enter();
    const asked = traces.transaction(5n, new YieldBudget(waiter));
    client.abort(new Error('left'));
    const ended = await asked.catch((reason: Error) => reason.message);
    for (let left = MAX_TRACES_AT_ONCE; left > 0; left -= 1) TRACES.leave();
    expect([ended, heldBytes]).toEqual(['left', LARGE_RUN_BYTES]);
  });

  it('counts the state of an epoch up to so many versions, and ends with its client', async () => {
    const { store } = ledger;
    const source = storedSource(store, await openHead(store));
    const guard = new PruningGuard(store, source, new Map(), performance.now());
    const { history } = await openTestedLedger(store).view();
    const read: bigint[] = [];
    const writesOf = async (version: bigint) => {
      read.push(version);
      const item = await history.transaction(version, 'Test');
      return decodeBcs(item, readOnChainData).data.changes.writes;
    };
    const at = BigInt(NEWEST_VERSION);
    const all = await stateUsageAt(guard, at, { writesOf });
    const count = read.length;
    expect(count).toBeGreaterThan(64);
    for (const maxVersions of [count - 1, count, count + 1]) {
      read.length = 0;
      const usage = await stateUsageAt(guard, at, { writesOf, maxVersions });
      expect(read).toHaveLength(maxVersions < count ? 0 : count);
      if (maxVersions >= count) expect(usage).toEqual(all);
      else expect(usage).not.toEqual(all);
    }
    const left = stateUsageAt(guard, at, {
      writesOf,
      yieldTurn: () => Promise.reject(new Error('left')),
    });
    await expect(left).rejects.toThrow('left');
  });

  it('of every failed transaction shows the instruction that failed', async () => {
    const failed = recorded.filter(({ success }) => !success);
    expect(failed.length).toBe(156);
    let places = 0;
    for (const { version, vm_status: text, gas_used: used } of IS_LONG
      ? failed
      : failed.slice(0, 8)) {
      const trace = await traceOf(version);
      expectSum(trace, used);
      expect(trace).toMatchObject({ success: false, is_recorded: true, vm_status: text });
      const [failure] = trace.parts.flatMap((part) => part.failure ?? []);
      // One had a signer too many: nothing of it was executed.
      if (text === 'NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH') expect(failure).toBeUndefined();
      if (failure === undefined) continue;
      const { status, reason, code, offset, instructions } = failure;
      expect(status).toBe('ABORTED');
      expect(text).toContain(`${reason}(0x${Number(code).toString(16)})`);
      expect(instructions!.find((one) => one.offset === offset)?.text).toBe('Abort');
      const calls = trace.parts.flatMap(({ steps }) => [...stepsBelow(steps)].filter(isCall));
      expect(calls.filter(({ aborted }) => aborted).at(-1)!.function).toBe(failure.function);
      places += 1;
    }
    expect(places).toBe(IS_LONG ? 155 : 8);
  });
});

describe('a trace of what is not committed', () => {
  const json = { 'content-type': 'application/json' };
  let sender: KnownAccount;
  beforeAll(async () => {
    [sender] = (await findAccounts(ledger.api)) as [KnownAccount];
  });

  async function post(url: string, body: Buffer | string, headers: Record<string, string>) {
    const reply = await ledger.api.request({ method: 'POST', url, headers, body });
    return { status: reply.statusCode, json: reply.json<Trace & Recorded & { message: string }>() };
  }

  it('of a simulation has the gas and the events that the simulation has', async () => {
    const headers = { 'content-type': 'application/x.aptos.signed_transaction+bcs' };
    for (const [amount, maxGasAmount] of [
      [1_000n, 200_000n],
      [sender.balance * 2n, 200_000n],
      // Enough to begin, but not to finish.
      [1_000n, 60n],
    ] as const) {
      const raw = rawOf(sender, { payload: transferTo(RECEIVER, amount), maxGasAmount });
      const body = Buffer.concat([rawBytes(raw), zeroSigned(sender)]);
      const simulation = await post('/v1/transactions/simulate', body, headers);
      const [simulated] = simulation.json as unknown as [Recorded];
      const { status, json: trace } = await post('/v1/-/simulate/trace', body, headers);
      expect(status).toBe(200);
      expect(trace.success).toBe(simulated.success);
      expect(trace.vm_status).toBe(simulated.vm_status);
      expect(trace.gas.used).toBe(simulated.gas_used);
      expectSum(trace, simulated.gas_used);
      expect(trace.events.map(({ data }) => data)).toEqual(
        simulated.events!.map(({ data }) => data),
      );
      expect(trace.hash).toBe(simulated.hash);
      const [failure] = trace.parts.flatMap((part) => part.failure ?? []);
      if (maxGasAmount === 60n) {
        expect(failure!.status).toBe('OUT_OF_GAS');
        expect(failure!.instructions!.some((one) => one.offset === failure!.offset)).toBe(true);
      } else expect(failure === undefined).toBe(simulated.success);
    }
  });

  it('of a view function has its values and its gas', async () => {
    const type = '0x1::aptos_coin::AptosCoin';
    const args = [`0x${sender.address}`];
    const body = JSON.stringify({
      function: '0x1::coin::balance',
      type_arguments: [type],
      arguments: args,
    });
    const url = '/v1/view?ledger_version=1000';
    const values = await ledger.api.request({ method: 'POST', url, headers: json, body });
    const { json: trace } = await post('/v1/-/view/trace?ledger_version=1000', body, json);
    expect(trace).toMatchObject({ version: '1000', type: 'view', success: true, writes: [] });
    const [call] = trace.parts[0]!.steps as [TraceStep];
    expect(call.function).toBe('0x1::coin::balance');
    expect(call.results!.map(({ value }) => value)).toEqual(values.json());
    expect(trace.gas.used).toBe(values.headers['x-aptos-gas-used']);
    expectSum(trace, trace.gas.used!);
  });

  it('of a view function that fails shows where', async () => {
    const body = JSON.stringify({
      function: '0x1::coin::decimals',
      type_arguments: ['0x1::coin::Coin<u8>'],
      arguments: [],
    });
    const { status, json: trace } = await post('/v1/-/view/trace', body, json);
    expect([status, trace.success]).toEqual([200, false]);
    const { failure } = trace.parts[0]!;
    expect(failure).toMatchObject({ status: 'MISSING_DATA', function: '0x1::coin::decimals' });
    expect(failure!.instructions!.find((one) => one.offset === failure!.offset)!.text).toContain(
      'BorrowGlobal',
    );
  });

  it('is refused where nothing can run', async () => {
    const unknown = await ledger.api.request(`/v1/-/transactions/0x${'ab'.repeat(32)}/trace`);
    expect([unknown.statusCode, unknown.json<{ error_code: string }>().error_code]).toEqual([
      404,
      'transaction_not_found',
    ]);
    const above = await ledger.api.request(`/v1/-/transactions/${NEWEST_VERSION + 1}/trace`);
    expect(above.statusCode).toBe(404);
    const bad = await ledger.api.request('/v1/-/transactions/zz/trace');
    expect(bad.statusCode).toBe(400);
    const body = JSON.stringify({ function: '0x1::no::no', type_arguments: [], arguments: [] });
    expect((await post('/v1/-/view/trace', body, json)).status).toBe(400);
  });
});
