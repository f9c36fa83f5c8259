/** What a function holds while its instructions are checked: references and what borrows from them. */
import type { SignatureToken } from '../../../move/modules/compiled.ts';
import { VmError } from '../../status/vm-error.ts';
import type { VerifierMeter } from '../model/verifier-meter.ts';
import type { BorrowGraph } from './borrow-graph.ts';
import type { FunctionView } from './function-view.ts';

const UNITS_PER_RESULT_EDGE = 100;
const UNITS_PER_ACQUIRED = 100;

/** A reference by its number, or any value that is none. */
export type Held = number | undefined;

/** What a function holds at one place of its code. */
export class BorrowState {
  readonly locals: Held[];
  readonly graph: BorrowGraph;
  #next: number;

  constructor(locals: Held[], graph: BorrowGraph) {
    this.locals = locals;
    this.graph = graph;
    this.#next = locals.length + 1;
  }

  /** The number that stands for the function's own locals and the resources of its module. */
  get root(): number {
    return this.locals.length;
  }

  copy(): BorrowState {
    return new BorrowState([...this.locals], this.graph.copy());
  }

  /** At the end of a block, where the stack is empty, a reference has the number of its local. */
  canonical(): BorrowState {
    const numbers = new Map<number, number>();
    this.locals.forEach((id, local) => {
      if (id !== undefined && id !== local) numbers.set(id, local);
    });
    if (numbers.size === 0) return new BorrowState(this.locals, this.graph);
    const locals = this.locals.map((id, local) => (id === undefined ? undefined : local));
    return new BorrowState(
      locals,
      this.graph.renumbered((id) => numbers.get(id) ?? id),
    );
  }

  newReference(isMutable: boolean): number {
    const id = this.#next;
    this.#next += 1;
    this.graph.add(id, isMutable);
    return id;
  }

  release(held: Held): void {
    if (held !== undefined) this.graph.release(held);
  }

  /** A state that covers both, in which a local is a reference only if it is one in both; itself if nothing changes. */
  joined({ locals, graph }: BorrowState): BorrowState {
    const lost = this.locals.filter((held, local) => held !== locals[local]);
    if (lost.length === 0) {
      const joined = this.graph.joined(graph);
      return joined === this.graph ? this : new BorrowState(this.locals, joined);
    }
    const both = this.locals.map((held, local) => (held === locals[local] ? held : undefined));
    const own = this.graph.copy();
    const other = graph.copy();
    both.forEach((held, local) => {
      if (held !== undefined) return;
      if (this.locals[local] !== undefined) own.release(local);
      if (locals[local] !== undefined) other.release(local);
    });
    const isSame = both.every((held, local) => held === this.locals[local]);
    const joined = own.joined(other);
    return isSame && joined === own ? this : new BorrowState(both, joined);
  }
}

/** What a function of this module may borrow or take, by handle. */
export type AcquiresOf = (handle: number) => readonly number[];

/** Runs instructions on a state, with the stack of a block. */
export class ReferenceChecker {
  readonly view: FunctionView;
  readonly acquiresOf: AcquiresOf;
  readonly #meter: VerifierMeter;
  readonly #stack: Held[] = [];

  constructor(view: FunctionView, acquiresOf: AcquiresOf, meter: VerifierMeter) {
    this.view = view;
    this.acquiresOf = acquiresOf;
    this.#meter = meter;
  }

  push(held: Held): void {
    this.#stack.push(held);
  }

  pop(): Held {
    return this.#stack.pop();
  }

  /** @throws VmError UNKNOWN_INVARIANT_VIOLATION_ERROR */
  popReference(): number {
    const id = this.#stack.pop();
    if (id === undefined) throw new VmError('UNKNOWN_INVARIANT_VIOLATION_ERROR');
    return id;
  }

  /** @throws VmError UNKNOWN_INVARIANT_VIOLATION_ERROR */
  popValues(count: number): void {
    for (let left = count; left > 0; left -= 1) {
      if (this.#stack.pop() !== undefined) throw new VmError('UNKNOWN_INVARIANT_VIOLATION_ERROR');
    }
  }

  /** @throws VmError UNKNOWN_INVARIANT_VIOLATION_ERROR */
  expectEmpty(): void {
    if (this.#stack.length > 0) throw new VmError('UNKNOWN_INVARIANT_VIOLATION_ERROR');
  }

  popAll(count: number): Held[] {
    return this.#stack.splice(this.#stack.length - count, count);
  }

  /** A call gives references that may be borrowed from any of those that it gets. */
  call(state: BorrowState, args: readonly Held[], results: readonly SignatureToken[]): void {
    const { graph } = state;
    const parents = new Set(args.filter((held) => held !== undefined));
    for (const id of parents) {
      const isWritable = !graph.isMutable(id) || !graph.isBorrowed(id);
      if (!isWritable) throw new VmError('CALL_BORROWED_MUTABLE_REFERENCE_ERROR');
    }
    let given = 0;
    for (const result of results) {
      if (result.kind !== 'reference') {
        this.push(undefined);
        continue;
      }
      const id = state.newReference(result.mutable);
      for (const parent of parents) {
        if (graph.isMutable(parent) || !result.mutable) graph.borrowSomewhere(parent, [], id);
      }
      given += 1;
      this.push(id);
    }
    this.#meter.addGrowing(UNITS_PER_RESULT_EDGE, parents.size * given);
    for (const id of parents) graph.release(id);
  }

  chargeAcquires(count: number): void {
    this.#meter.add(UNITS_PER_ACQUIRED * count);
  }
}
