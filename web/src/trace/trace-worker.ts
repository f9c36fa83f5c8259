/** Requests a trace and keeps it, in a thread of its own: parsing one may take longer than a frame. */
import { type ComparedFunction, comparedGas } from '../../../src/execution/trace/compared-gas.ts';
import { collapsedStacks, flameGraph } from '../../../src/execution/trace/flame-graph.ts';
import type { Trace, TraceFailure } from '../../../src/execution/trace/trace-shape.ts';
import { type TraceRow, TraceTree, type TreeStep } from './trace-tree.ts';

/** Requests of the page. */
export type TraceRequest =
  | { readonly kind: 'load'; readonly path: string }
  | { readonly kind: 'rows'; readonly from: number; readonly to: number }
  | { readonly kind: 'toggle'; readonly id: number }
  | { readonly kind: 'all'; readonly isOpen: boolean }
  | { readonly kind: 'detail'; readonly id: number }
  | { readonly kind: 'stacks' }
  | { readonly kind: 'compare'; readonly id: string; readonly path: string };

/** Facts that the page shows beside the tree. */
type FactsOfTrace = Pick<Trace, 'success' | 'is_recorded' | 'gas' | 'functions' | 'omitted'>;

export type TraceReply =
  | {
      readonly kind: 'loaded';
      readonly count: number;
      readonly facts: FactsOfTrace & {
        readonly failures: readonly TraceFailure[];
        /** A flame graph of the gas, in SVG. */
        readonly flame: string;
      };
    }
  | {
      readonly kind: 'rows';
      readonly from: number;
      readonly count: number;
      readonly rows: readonly TraceRow[];
    }
  | { readonly kind: 'changed'; readonly count: number }
  | {
      readonly kind: 'detail';
      readonly id: number;
      readonly step: Omit<TreeStep, 'steps'> | undefined;
    }
  | { readonly kind: 'stacks'; readonly text: string }
  | {
      readonly kind: 'compared';
      readonly id: string;
      readonly functions: readonly ComparedFunction[];
      readonly used: readonly [string | undefined, string | undefined];
    }
  | {
      readonly kind: 'incomparable';
      readonly id: string;
      readonly status: number;
      readonly text: string;
    }
  | { readonly kind: 'failed'; readonly status: number; readonly text: string };

/** Maximum number of functions in the table of gas. */
const MAX_FUNCTIONS = 20;

let tree: TraceTree | undefined;
let trace: Trace | undefined;

function reply(message: TraceReply): void {
  postMessage(message);
}

/** The trace at a path, or the failure; status 0 if nothing has answered. */
async function traceAt(
  path: string,
): Promise<{ readonly trace: Trace } | { readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(path);
    const text = await response.text();
    return response.ok ? { trace: JSON.parse(text) } : { status: response.status, text };
  } catch {
    return { status: 0, text: '' };
  }
}

async function load(path: string): Promise<void> {
  const found = await traceAt(path);
  if (!('trace' in found)) return reply({ kind: 'failed', ...found });
  trace = found.trace;
  const { parts, success, is_recorded, gas, omitted } = trace;
  tree = new TraceTree({ parts });
  const known = {
    success,
    gas,
    functions: trace.functions.slice(0, MAX_FUNCTIONS),
    omitted,
    failures: parts.flatMap(({ failure }) => failure ?? []),
    flame: flameGraph(trace, `Gas of version ${trace.version}`),
    ...(is_recorded !== undefined && { is_recorded }),
  };
  reply({ kind: 'loaded', count: tree.count, facts: known });
}

async function compare(first: Trace, id: string, path: string): Promise<void> {
  const found = await traceAt(path);
  if (!('trace' in found)) return reply({ kind: 'incomparable', id, ...found });
  const functions = comparedGas(first, found.trace).slice(0, MAX_FUNCTIONS);
  reply({ kind: 'compared', id, functions, used: [first.gas.used, found.trace.gas.used] });
}

addEventListener('message', ({ data }: MessageEvent<TraceRequest>) => {
  if (data.kind === 'load') return void load(data.path);
  if (tree === undefined || trace === undefined) return;
  if (data.kind === 'rows') {
    const { from, to } = data;
    return reply({ kind: 'rows', from, count: tree.count, rows: tree.rows(from, to) });
  }
  if (data.kind === 'stacks') return reply({ kind: 'stacks', text: collapsedStacks(trace) });
  if (data.kind === 'compare') return void compare(trace, data.id, data.path);
  if (data.kind === 'detail')
    return reply({ kind: 'detail', id: data.id, step: tree.detail(data.id) });
  if (data.kind === 'toggle') tree.toggle(data.id);
  else tree.setAll(data.isOpen);
  reply({ kind: 'changed', count: tree.count });
});
