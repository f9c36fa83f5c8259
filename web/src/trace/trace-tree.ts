/**
 * The steps of a trace as rows; steps below closed ones have none. A worker keeps the tree (trace-worker.ts), because a
 * trace may have 100,000 steps: the page only has the rows in its window.
 */
import type { Trace, TraceStep, TraceValue } from '../../../src/execution/trace/trace-shape.ts';

/** A step, or a part of the trace with its steps, whose `function` is the part's name. */
export type TreeStep = Omit<TraceStep, 'kind'> & { readonly kind: TraceStep['kind'] | 'part' };

/** A row, without its children. */
export interface TraceRow {
  readonly id: number;
  readonly depth: number;
  readonly kind: string;
  readonly text: string;
  readonly gas?: TraceStep['gas'];
  /** Undefined for a row without children. */
  readonly isOpen?: boolean | undefined;
  readonly isFailed: boolean;
}

interface Node {
  readonly depth: number;
  readonly step: TreeStep;
  /** Index of the node after all descendants of this one. */
  end: number;
}

const MAX_TEXT_CHARACTERS = 160;
/** Steps above this depth are open at first, and so are failed steps. */
const OPEN_DEPTH = 2;

function shortType(text: string): string {
  return text.replaceAll(/0x([0-9a-f]{4})[0-9a-f]{8,}/g, '0x$1…');
}

/** The text of a step's row. */
export function stepText(step: TreeStep): string {
  const { kind, type_arguments: types = [], arguments: given, results, calls, type = '' } = step;
  if (kind === 'part') return step.function!;
  if (kind !== 'call') {
    const at = step.address ?? step.handle;
    const place = at === undefined ? '' : ` at ${shortType(at)}`;
    return shortType(type) + place;
  }
  const generic = types.length === 0 ? '' : `<${types.map(shortType).join(', ')}>`;
  const value = (one: TraceValue) => (one.value === undefined ? '…' : JSON.stringify(one.value));
  const list = calls === undefined ? `(${(given ?? []).map(value).join(', ')})` : ` × ${calls}`;
  const returned = results?.length ? ` → ${results.map(value).join(', ')}` : '';
  const text = `${shortType(step.function!)}${generic}${shortType(list + returned)}`;
  return text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text;
}

export class TraceTree {
  readonly #nodes: Node[] = [];
  readonly #open = new Set<number>();
  /** Ids of the visible rows, in order. */
  #shown: number[] = [];

  constructor({ parts }: Pick<Trace, 'parts'>) {
    for (const { name, gas, steps, failure } of parts) {
      const failed = failure !== undefined && { aborted: true as const };
      this.#add({ kind: 'part', function: name, gas, steps, ...failed });
    }
    this.#nodes.forEach(({ depth, step }, id) => {
      if (depth < OPEN_DEPTH || step.aborted) this.#open.add(id);
    });
    this.#lookAgain();
  }

  /** Number of visible rows. */
  get count(): number {
    return this.#shown.length;
  }

  rows(from: number, to: number): TraceRow[] {
    return this.#shown.slice(Math.max(0, from), to).map((id) => {
      const { depth, step, end } = this.#nodes[id]!;
      const { kind, gas, aborted = false } = step;
      const isOpen = end > id + 1 ? this.#open.has(id) : undefined;
      return { id, depth, kind, text: stepText(step), gas, isOpen, isFailed: aborted };
    });
  }

  /** A step without its children. */
  detail(id: number): Omit<TreeStep, 'steps'> | undefined {
    const node = this.#nodes[id];
    if (node === undefined) return undefined;
    const { steps: _, ...step } = node.step;
    return step;
  }

  toggle(id: number): void {
    if (!this.#open.delete(id)) this.#open.add(id);
    this.#lookAgain();
  }

  /** Opens everything, or closes everything but the parts. */
  setAll(isOpen: boolean): void {
    this.#open.clear();
    if (isOpen) for (let id = 0; id < this.#nodes.length; id += 1) this.#open.add(id);
    this.#lookAgain();
  }

  /** Not recursive, because a trace is as deep as its calls. */
  #add(root: TreeStep): void {
    const waiting: { step: TreeStep; depth: number; ends?: Node }[] = [{ step: root, depth: 0 }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next.ends !== undefined) {
        next.ends.end = this.#nodes.length;
        continue;
      }
      const { step, depth } = next;
      const node: Node = { depth, step, end: 0 };
      this.#nodes.push(node);
      waiting.push({ step, depth, ends: node });
      const { steps = [] } = step;
      for (let at = steps.length - 1; at >= 0; at -= 1) {
        waiting.push({ step: steps[at]!, depth: depth + 1 });
      }
    }
  }

  #lookAgain(): void {
    const shown: number[] = [];
    for (let id = 0; id < this.#nodes.length; ) {
      shown.push(id);
      id = this.#open.has(id) ? id + 1 : this.#nodes[id]!.end;
    }
    this.#shown = shown;
  }
}
