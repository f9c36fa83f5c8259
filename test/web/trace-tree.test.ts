/** The rows of a trace, compared with a walk of the same steps. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TraceStep } from '../../src/execution/trace/trace-shape.ts';
import { TraceTree } from '../../web/src/trace/trace-tree.ts';
import { propertySeed } from '../random.ts';

interface Row {
  readonly text: string;
  readonly depth: number;
}

function call(name: string, steps: readonly TraceStep[] = [], aborted = false): TraceStep {
  const ended = aborted && { aborted: true as const };
  return {
    kind: 'call',
    function: name,
    arguments: [],
    gas: { own: 1, total: 2 },
    steps,
    ...ended,
  };
}

function treeOf(steps: readonly TraceStep[]): TraceTree {
  return new TraceTree({ parts: [{ name: 'function', gas: { own: 0, total: 9 }, steps }] });
}

/** All rows, found by recursion. */
function walked(steps: readonly TraceStep[], depth: number): Row[] {
  return steps.flatMap((step) => [
    { text: `${step.function}()`, depth },
    ...walked(step.steps ?? [], depth + 1),
  ]);
}

const rowsOf = (tree: TraceTree): Row[] =>
  tree.rows(0, tree.count).map(({ text, depth }) => ({ text, depth }));

const steps = fc.letrec<{ steps: TraceStep[] }>((tie) => ({
  steps: fc.array(
    fc
      .tuple(fc.constantFrom('0x1::a::b', '0x2::c::d'), fc.option(tie('steps'), { nil: [] }))
      .map(([name, inner]) => call(name, inner)),
    { maxLength: 4, depthIdentifier: 'steps' },
  ),
})).steps;

describe('a tree of calls', () => {
  it('opened whole, has the rows of all steps; closed, those of its parts', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const tree = treeOf(given);
        tree.setAll(true);
        expect(rowsOf(tree)).toEqual([{ text: 'function', depth: 0 }, ...walked(given, 1)]);
        tree.setAll(false);
        expect(rowsOf(tree)).toEqual([{ text: 'function', depth: 0 }]);
      }),
      propertySeed(),
    );
  });

  it('opens and closes one step, and leaves others as they are', () => {
    const tree = treeOf([call('0x1::a::b', [call('0x1::c::d', [call('0x1::e::f')])])]);
    expect(rowsOf(tree).map(({ text }) => text)).toEqual([
      'function',
      '0x1::a::b()',
      '0x1::c::d()',
    ]);
    const [, , inner] = tree.rows(0, 9);
    expect(inner!.isOpen).toBe(false);
    tree.toggle(inner!.id);
    expect(rowsOf(tree)).toHaveLength(4);
    expect(tree.rows(3, 4)).toMatchObject([{ text: '0x1::e::f()', depth: 3, isFailed: false }]);
    tree.toggle(0);
    expect(tree.count).toBe(1);
    tree.toggle(0);
    expect(tree.count).toBe(4);
    expect(tree.detail(1)).toEqual({ ...call('0x1::a::b'), steps: undefined });
  });

  it('is open at first down to what failed', () => {
    const failed = call(
      '0x1::a::b',
      [call('0x1::c::d', [call('0x1::e::f', [call('0x1::g::h')], true)], true)],
      true,
    );
    expect(treeOf([failed]).count).toBe(5);
  });

  it('has 100,000 steps, and is as deep as calls are', () => {
    const wide = treeOf([
      call(
        '0x1::a::b',
        Array.from({ length: 99_999 }, () => call('0x1::c::d')),
      ),
    ]);
    wide.setAll(true);
    expect(wide.count).toBe(100_001);
    expect(wide.rows(100_000, 200_000)).toHaveLength(1);
    let deep = call('0x1::c::d');
    for (let depth = 0; depth < 10_000; depth += 1) deep = call('0x1::a::b', [deep]);
    const tree = treeOf([deep]);
    tree.setAll(true);
    expect(tree.rows(10_001, 10_002)).toMatchObject([{ text: '0x1::c::d()', depth: 10_001 }]);
  });
});
