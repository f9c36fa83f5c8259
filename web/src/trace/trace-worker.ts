/** Asks for a trace and keeps it, in a thread of its own: parsing one may take longer than a frame. */
import type { Trace, TraceFailure } from '../../../src/execution/trace/trace-shape.ts';
import { type TraceRow, TraceTree, type TreeStep } from './trace-tree.ts';

/** What the page asks for. */
export type TraceRequest =
  | { readonly kind: 'load'; readonly path: string }
  | { readonly kind: 'rows'; readonly from: number; readonly to: number }
  | { readonly kind: 'toggle'; readonly id: number }
  | { readonly kind: 'all'; readonly isOpen: boolean }
  | { readonly kind: 'detail'; readonly id: number };

/** What the page shows beside the tree. */
type FactsOfTrace = Pick<Trace, 'success' | 'is_recorded' | 'gas' | 'functions' | 'omitted'>;

export type TraceReply =
  | {
      readonly kind: 'loaded';
      readonly count: number;
      readonly facts: FactsOfTrace & { readonly failures: readonly TraceFailure[] };
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
  | { readonly kind: 'failed'; readonly status: number; readonly text: string };

/** Functions in the table of gas. */
const MAX_FUNCTIONS = 20;

let tree: TraceTree | undefined;

function reply(message: TraceReply): void {
  postMessage(message);
}

async function load(path: string): Promise<void> {
  try {
    const response = await fetch(path);
    const text = await response.text();
    if (!response.ok) return reply({ kind: 'failed', status: response.status, text });
    const { parts, ...rest } = JSON.parse(text) as Trace;
    tree = new TraceTree({ parts });
    const failures = parts.flatMap(({ failure }) => failure ?? []);
    const { success, is_recorded, gas, omitted } = rest;
    const functions = rest.functions.slice(0, MAX_FUNCTIONS);
    const known = {
      success,
      gas,
      functions,
      omitted,
      failures,
      ...(is_recorded !== undefined && { is_recorded }),
    };
    reply({ kind: 'loaded', count: tree.count, facts: known });
  } catch {
    reply({ kind: 'failed', status: 0, text: '' });
  }
}

addEventListener('message', ({ data }: MessageEvent<TraceRequest>) => {
  if (data.kind === 'load') return void load(data.path);
  if (tree === undefined) return;
  if (data.kind === 'rows') {
    const { from, to } = data;
    return reply({ kind: 'rows', from, count: tree.count, rows: tree.rows(from, to) });
  }
  if (data.kind === 'detail')
    return reply({ kind: 'detail', id: data.id, step: tree.detail(data.id) });
  if (data.kind === 'toggle') tree.toggle(data.id);
  else tree.setAll(data.isOpen);
  reply({ kind: 'changed', count: tree.count });
});
