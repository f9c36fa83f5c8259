/** References may be used only while nothing changes behind them (docs/spec/verifier.md §3.15). */
import type { Instruction, SignatureToken } from '../../../move/modules/compiled.ts';
import { type StatusName, VmError } from '../../status/status.ts';
import { BORROW_MUT, byOpcode, functionSubject, structSubject } from '../model/instructions.ts';
import type { VerifierMeter } from '../model/verifier-config.ts';
import { analyze, type FunctionView } from './analysis.ts';
import { BorrowGraph, labelOf } from './borrow-graph.ts';
import { effectOf } from './stack-and-locals.ts';

const UNITS_PER_RESULT_EDGE = 100;
const UNITS_PER_ACQUIRED = 100;

/** A reference by its number, or `undefined` for any other value. */
type AbstractValue = number | undefined;

/** What a function holds at one point of its code. */
class BorrowState {
  readonly locals: AbstractValue[];
  readonly graph: BorrowGraph;
  #next: number;

  constructor(locals: AbstractValue[], graph: BorrowGraph) {
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

  /** Renumbers references by their locals at the end of a block, where the stack is empty. */
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

  release(value: AbstractValue): void {
    if (value !== undefined) this.graph.release(value);
  }

  /** A state that covers both, in which a local is a reference only if it is one in both; itself if nothing changes. */
  joined({ locals, graph }: BorrowState): BorrowState {
    const differing = this.locals.filter((value, local) => value !== locals[local]);
    if (differing.length === 0) {
      const joined = this.graph.joined(graph);
      return joined === this.graph ? this : new BorrowState(this.locals, joined);
    }
    const common = this.locals.map((value, local) => (value === locals[local] ? value : undefined));
    const own = this.graph.copy();
    const other = graph.copy();
    common.forEach((value, local) => {
      if (value !== undefined) return;
      if (this.locals[local] !== undefined) own.release(local);
      if (locals[local] !== undefined) other.release(local);
    });
    const isSame = common.every((value, local) => value === this.locals[local]);
    const joined = own.joined(other);
    return isSame && joined === own ? this : new BorrowState(common, joined);
  }
}

/** What a function of this module may borrow or take, by handle. */
export type AcquiresOf = (handle: number) => readonly number[];

/** Runs instructions on a state, with the stack of a block. */
class ReferenceChecker {
  readonly view: FunctionView;
  readonly acquiresOf: AcquiresOf;
  readonly #meter: VerifierMeter;
  readonly #stack: AbstractValue[] = [];

  constructor(view: FunctionView, acquiresOf: AcquiresOf, meter: VerifierMeter) {
    this.view = view;
    this.acquiresOf = acquiresOf;
    this.#meter = meter;
  }

  push(value: AbstractValue): void {
    this.#stack.push(value);
  }

  pop(): AbstractValue {
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

  popAll(count: number): AbstractValue[] {
    return this.#stack.splice(this.#stack.length - count, count);
  }

  /** References returned by a call may borrow from any that it gets. */
  call(
    state: BorrowState,
    args: readonly AbstractValue[],
    results: readonly SignatureToken[],
  ): void {
    const { graph } = state;
    const parents = new Set(args.filter((value) => value !== undefined));
    for (const id of parents) {
      const isWritable = !graph.isMutable(id) || !graph.isBorrowed(id);
      if (!isWritable) throw new VmError('CALL_BORROWED_MUTABLE_REFERENCE_ERROR');
    }
    let referenceCount = 0;
    for (const result of results) {
      if (result.kind !== 'reference') {
        this.push(undefined);
        continue;
      }
      const id = state.newReference(result.mutable);
      for (const parent of parents) {
        if (graph.isMutable(parent) || !result.mutable) graph.borrowSomewhere(parent, [], id);
      }
      referenceCount += 1;
      this.push(id);
    }
    this.#meter.addGrowing(UNITS_PER_RESULT_EDGE, parents.size * referenceCount);
    for (const id of parents) graph.release(id);
  }

  chargeAcquires(count: number): void {
    this.#meter.add(UNITS_PER_ACQUIRED * count);
  }
}

/** @throws VmError */
type ReferenceRule = (
  checker: ReferenceChecker,
  state: BorrowState,
  instruction: Instruction,
) => void;
type ReferenceRules = Readonly<Record<string, ReferenceRule>>;

function throwIf(condition: boolean, status: StatusName): void {
  if (condition) throw new VmError(status);
}

const copyLocal: ReferenceRule = (checker, state, { operand }) => {
  const { graph, locals, root } = state;
  const value = locals[operand as number];
  if (value === undefined) {
    const label = labelOf('local', operand as number);
    throwIf(graph.isMutablyBorrowed(root, label), 'COPYLOC_EXISTS_BORROW_ERROR');
    checker.push(undefined);
    return;
  }
  const id = state.newReference(graph.isMutable(value));
  graph.borrowExactly(value, [], id);
  checker.push(id);
};

/** Takes what a local holds; a value must not be borrowed. */
function takeLocal(state: BorrowState, local: number, status: StatusName): number | undefined {
  const value = state.locals[local];
  state.locals[local] = undefined;
  const label = labelOf('local', local);
  throwIf(value === undefined && state.graph.isBorrowed(state.root, label), status);
  return value;
}

const storeLocal: ReferenceRule = (checker, state, { operand }) => {
  const local = operand as number;
  const value = checker.pop();
  const previous = takeLocal(state, local, 'STLOC_UNSAFE_TO_DESTROY_ERROR');
  state.locals[local] = value;
  state.release(previous);
};

function borrowLocal(isMutable: boolean): ReferenceRule {
  return (checker, state, { operand }) => {
    const { graph, root } = state;
    const label = labelOf('local', operand as number);
    // With too many edges the whole function counts as borrowed.
    const isBorrowed = isMutable
      ? graph.hasFullBorrows(root)
      : graph.isMutablyBorrowed(root, label);
    throwIf(isBorrowed, 'BORROWLOC_EXISTS_BORROW_ERROR');
    const id = state.newReference(isMutable);
    graph.borrowExactly(root, [label], id);
    checker.push(id);
  };
}

const freeze: ReferenceRule = (checker, state) => {
  const id = checker.popReference();
  throwIf(state.graph.isMutablyBorrowed(id), 'FREEZEREF_EXISTS_MUTABLE_BORROW_ERROR');
  const frozen = state.newReference(false);
  state.graph.borrowExactly(id, [], frozen);
  state.release(id);
  checker.push(frozen);
};

const compare: ReferenceRule = (checker, state) => {
  const compared = checker.popAll(2);
  for (const value of compared) {
    const isReadable = value === undefined || state.graph.isReadable(value);
    throwIf(!isReadable, 'READREF_EXISTS_MUTABLE_BORROW_ERROR');
  }
  for (const value of compared) state.release(value);
  checker.push(undefined);
};

const read: ReferenceRule = (checker, state) => {
  const id = checker.popReference();
  throwIf(!state.graph.isReadable(id), 'READREF_EXISTS_MUTABLE_BORROW_ERROR');
  state.release(id);
  checker.push(undefined);
};

const write: ReferenceRule = (checker, state) => {
  const id = checker.popReference();
  checker.popValues(1);
  throwIf(state.graph.isBorrowed(id), 'WRITEREF_EXISTS_BORROW_ERROR');
  state.release(id);
};

function borrowFieldOf(
  checker: ReferenceChecker,
  state: BorrowState,
  field: number,
  isMutable: boolean,
): void {
  const { graph } = state;
  const id = checker.popReference();
  const label = labelOf('field', field);
  const isBorrowed = isMutable ? graph.hasFullBorrows(id) : !graph.isReadable(id, label);
  throwIf(isBorrowed, 'BORROWFIELD_EXISTS_MUTABLE_BORROW_ERROR');
  const borrowed = state.newReference(isMutable);
  graph.borrowExactly(id, [label], borrowed);
  state.release(id);
  checker.push(borrowed);
}

function borrowField(isMutable: boolean): ReferenceRule {
  return (checker, state, instruction) => {
    const { field } = structSubject(checker.view.binary, instruction);
    borrowFieldOf(checker, state, field!.field, isMutable);
  };
}

function resourceLabel(checker: ReferenceChecker, instruction: Instruction): number {
  const { definitionIndex } = structSubject(checker.view.binary, instruction);
  return labelOf('resource', definitionIndex);
}

function borrowGlobal(isMutable: boolean): ReferenceRule {
  return (checker, state, instruction) => {
    const { graph, root } = state;
    checker.popValues(1);
    const label = resourceLabel(checker, instruction);
    const isBorrowed = isMutable
      ? graph.isBorrowed(root, label)
      : graph.isMutablyBorrowed(root, label);
    throwIf(isBorrowed, 'GLOBAL_REFERENCE_ERROR');
    const id = state.newReference(isMutable);
    graph.borrowSomewhere(root, [label], id);
    checker.push(id);
  };
}

const moveFrom: ReferenceRule = (checker, { graph, root }, instruction) => {
  checker.popValues(1);
  const label = resourceLabel(checker, instruction);
  throwIf(graph.isBorrowed(root, label), 'GLOBAL_REFERENCE_ERROR');
  checker.push(undefined);
};

const moveTo: ReferenceRule = (checker, state) => {
  checker.popValues(1);
  state.release(checker.pop());
};

const call: ReferenceRule = (checker, state, instruction) => {
  const { binary } = checker.view;
  const { handle, handleIndex } = functionSubject(binary, instruction);
  const borrow = handle.attributes.find(({ code }) => code === BORROW_MUT);
  // A function of a public struct's interface borrows like the instruction that it stands for.
  if (borrow !== undefined) {
    borrowFieldOf(checker, state, borrow.operand!, true);
    return;
  }
  const args = checker.popAll(binary.signatures[handle.parameters]!.length);
  const acquired = checker.acquiresOf(handleIndex);
  checker.chargeAcquires(acquired.length);
  for (const resource of acquired) {
    const label = labelOf('resource', resource);
    throwIf(state.graph.isBorrowed(state.root, label), 'GLOBAL_REFERENCE_ERROR');
  }
  checker.call(state, args, binary.signatures[handle.return]!);
};

const callClosure: ReferenceRule = (checker, state, { operand }) => {
  const type = checker.view.binary.signatures[operand as number]![0] as SignatureToken & {
    kind: 'function';
  };
  checker.pop();
  checker.call(state, checker.popAll(type.args.length), type.results);
};

const ret: ReferenceRule = (checker, state) => {
  const { graph, locals, root } = state;
  const results = checker.popAll(checker.view.results.length);
  for (const value of locals) state.release(value);
  throwIf(graph.isBorrowed(root), 'UNSAFE_RET_LOCAL_OR_RESOURCE_STILL_BORROWED');
  for (const value of results) {
    const isWritable = value === undefined || !graph.isMutable(value) || !graph.isBorrowed(value);
    throwIf(!isWritable, 'RET_BORROWED_MUTABLE_REFERENCE_ERROR');
  }
  locals.fill(undefined);
};

/** An operation on the vector behind a reference, which has values above it on the stack. */
function onVector(isMutable: boolean, valueCount: number, resultCount: number): ReferenceRule {
  return (checker, state) => {
    checker.popValues(valueCount);
    const id = checker.popReference();
    const isBorrowed = isMutable && state.graph.isBorrowed(id);
    throwIf(isBorrowed, 'VEC_UPDATE_EXISTS_MUTABLE_BORROW_ERROR');
    state.release(id);
    if (resultCount > 0) checker.push(undefined);
  };
}

function borrowElement(isMutable: boolean): ReferenceRule {
  return (checker, state) => {
    const { graph } = state;
    checker.popValues(1);
    const id = checker.popReference();
    const isBorrowed = isMutable ? graph.isBorrowed(id) : !graph.isReadable(id);
    throwIf(isBorrowed, 'VEC_BORROW_ELEMENT_EXISTS_MUTABLE_BORROW_ERROR');
    const element = state.newReference(isMutable);
    graph.borrowSomewhere(id, [], element);
    state.release(id);
    checker.push(element);
  };
}

const REFERENCE_RULES = byOpcode<ReferenceRule>({
  Pop: (checker, state) => state.release(checker.pop()),
  CopyLoc: copyLocal,
  MoveLoc: (checker, state, { operand }) =>
    checker.push(takeLocal(state, operand as number, 'MOVELOC_EXISTS_BORROW_ERROR')),
  StLoc: storeLocal,
  MutBorrowLoc: borrowLocal(true),
  ImmBorrowLoc: borrowLocal(false),
  FreezeRef: freeze,
  Eq: compare,
  Neq: compare,
  ReadRef: read,
  WriteRef: write,
  ...withGeneric('TestVariant', read),
  ...withGeneric('MutBorrowField', borrowField(true)),
  ...withGeneric('ImmBorrowField', borrowField(false)),
  ...withGeneric('MutBorrowVariantField', borrowField(true)),
  ...withGeneric('ImmBorrowVariantField', borrowField(false)),
  ...withGeneric('MutBorrowGlobal', borrowGlobal(true)),
  ...withGeneric('ImmBorrowGlobal', borrowGlobal(false)),
  ...withGeneric('MoveFrom', moveFrom),
  ...withGeneric('MoveTo', moveTo),
  ...withGeneric('Call', call),
  CallClosure: callClosure,
  Ret: ret,
  VecLen: onVector(false, 0, 1),
  VecImmBorrow: borrowElement(false),
  VecMutBorrow: borrowElement(true),
  VecPushBack: onVector(true, 1, 0),
  VecPopBack: onVector(true, 0, 1),
  VecSwap: onVector(true, 2, 0),
});

/** A rule for an instruction with and without type arguments. */
function withGeneric(name: string, rule: ReferenceRule): ReferenceRules {
  return { [name]: rule, [`${name}Generic`]: rule };
}

const STEP_UNITS = 10;
const STEP_UNITS_PER_LOCAL = 20;
const STEP_UNITS_PER_GRAPH_ITEM = 50;
const JOIN_UNITS = 100;
const JOIN_UNITS_PER_LOCAL = 10;
const JOIN_UNITS_PER_GRAPH_ITEM = 50;

/** @throws VmError */
export function* checkReferences(
  view: FunctionView,
  acquiresOf: AcquiresOf,
  meter: VerifierMeter,
): Generator<void> {
  const graph = new BorrowGraph();
  const locals = view.locals.map((token, local): AbstractValue => {
    if (local >= view.parameters.length || token.kind !== 'reference') return undefined;
    graph.add(local, token.mutable);
    return local;
  });
  graph.add(locals.length, true);
  const checker = new ReferenceChecker(view, acquiresOf, meter);
  yield* analyze(view, new BorrowState(locals, graph), {
    copy: (state) => state.copy(),
    execute: (state, offset) => {
      const perItem = STEP_UNITS_PER_GRAPH_ITEM * state.graph.size;
      meter.add(STEP_UNITS + STEP_UNITS_PER_LOCAL * locals.length + perItem);
      execute(checker, state, view.code[offset]!);
    },
    atEndOfBlock: (state) => {
      checker.expectEmpty();
      return state.canonical();
    },
    join: (state, other) => {
      const perItem = JOIN_UNITS_PER_GRAPH_ITEM * state.graph.size;
      meter.add(JOIN_UNITS + JOIN_UNITS_PER_LOCAL * locals.length + perItem);
      return state.joined(other);
    },
  });
}

function execute(checker: ReferenceChecker, state: BorrowState, instruction: Instruction): void {
  const rule = REFERENCE_RULES[instruction.opcode];
  if (rule !== undefined) {
    rule(checker, state, instruction);
    return;
  }
  const [popCount, pushCount] = effectOf(checker.view, instruction);
  checker.popValues(popCount);
  for (let left = pushCount; left > 0; left -= 1) checker.push(undefined);
}
