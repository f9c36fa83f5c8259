/** Traces of the recorded chain of a reference node: what they add up to is what that node has recorded. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Step, stepsBelow, sum, type Trace } from '../execution/trace-shape.ts';
import { IS_LONG } from '../random.ts';
import { NEWEST_VERSION, type ReferenceLedger, serveReferenceChain } from './reference-chain.ts';

const MAX_SHOWN_BYTES = 64 * 1024;

interface Recorded {
  readonly version: string;
  readonly type: string;
  readonly hash: string;
  readonly success: boolean;
  readonly vm_status: string;
  readonly gas_used: string;
  /** Absent of a state checkpoint. */
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
    // Members of a group that are as before are not shown.
    if (kind !== 'write_resource' || shown === undefined) continue;
    if (shown.bytes_after! > MAX_SHOWN_BYTES) expect(shown.after).toBeUndefined();
    else expect(shown.after).toEqual(data!.data);
    resourcesCompared += 1;
  }
}

/** Gas of everything that is shown is the recorded gas. */
function expectSum({ parts, gas, functions, instructions }: Trace, used: string): void {
  const all = sum(parts.map((part) => part.gas.total));
  expect(String(Math.ceil(all / gas.unit))).toBe(used);
  expect(gas.execution + gas.io + gas.storage).toBe(all);
  const calls = parts.flatMap(({ steps }) => [...stepsBelow(steps)].filter(isCall));
  const own = sum(calls.map((call) => call.gas!.own));
  expect(all - sum(parts.map((part) => part.gas.own))).toBe(own);
  expect(sum(functions.map((one) => one.own))).toBe(own);
  expect(sum(instructions.map((one) => one.gas))).toBe(own);
  for (const { steps = [], gas: one } of calls) {
    expect(one!.total).toBe(one!.own + sum(steps.filter(isCall).map((step) => step.gas!.total)));
  }
}

const isCall = ({ kind }: Step) => kind === 'call';

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
      // One had a signer too many: nothing of it ran.
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
