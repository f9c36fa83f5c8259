/** The flame graph of a trace's gas. */
import { expect, it } from 'vitest';
import { flameGraph, MAX_BOXES } from '../../src/execution/trace/flame-graph.ts';
import type { Trace, TracePart } from '../../src/execution/trace/trace-shape.ts';

/** A run of `functions` functions with equal gas. */
function traceOf(functions: number): Trace {
  const steps = Array.from({ length: functions }, (_, at) => ({
    ...{ kind: 'call' as const, function: `0x1::m<&>::f${at}`, steps: [] },
    gas: { own: 10, total: 10 },
  }));
  const total = 10 * functions;
  return {
    ...{ version: '7', type: 'view', success: true, vm_status: '' },
    gas: { unit: 10, execution: total, io: 0, storage: 0, storage_fee_octas: '0' },
    parts: [{ name: 'function', gas: { own: 0, total }, steps }],
    ...{ writes: [], events: [], functions: [], instructions: [] },
    omitted: { steps: 0, values: 0 },
  };
}

const boxesOf = (picture: string) => picture.split('<rect x=').length - 1;

it(`draws ${MAX_BOXES} boxes at most, the widest`, () => {
  // Each of the two pictures has the whole, its part, and the functions.
  const functions = MAX_BOXES / 2 - 2;
  const drawn = (count: number) => boxesOf(flameGraph(traceOf(count), 'Gas'));
  expect(drawn(functions - 1)).toBe(MAX_BOXES - 2);
  expect(drawn(functions)).toBe(MAX_BOXES);
  // All have the same width, so none can be left out alone.
  expect(drawn(functions + 1)).toBe(4);
  const wide = { own: 4_000, total: 4_000 };
  const { parts, ...rest } = traceOf(functions + 1);
  const [part] = parts as [TracePart];
  const last = { kind: 'call', function: 'last', gas: wide, steps: [] } as const;
  const steps = [{ ...part.steps[0]!, steps: part.steps }, last];
  const picture = flameGraph({ ...rest, parts: [{ ...part, steps }] }, 'Gas');
  expect(boxesOf(picture)).toBeLessThanOrEqual(MAX_BOXES);
  expect(picture.split('>last<').length - 1).toBe(2);
});

it('shows names as texts, whatever is in them', () => {
  const picture = flameGraph(traceOf(2), '<script>');
  expect(picture).toContain('&lt;script&gt;');
  expect(picture).toContain('<title>0x1::m&lt;&amp;&gt;::f1: 1 gas units, 1 of its own</title>');
  expect(picture).not.toMatch(/<script|m<&>/);
});
