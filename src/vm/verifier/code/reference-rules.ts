/** What instructions do with references; all others only take and give values. */
import type { Instruction, SignatureToken } from '../../../move/modules/compiled.ts';
import type { StatusName } from '../../status/status.ts';
import { VmError } from '../../status/vm-error.ts';
import { BORROW_MUT } from '../model/attributes.ts';
import { byOpcode } from '../model/by-opcode.ts';
import { functionSubject, structSubject } from '../model/subject.ts';
import { labelOf } from './borrow-graph.ts';
import type { BorrowState, ReferenceChecker } from './reference-checker.ts';

/** @throws VmError */
type ReferenceRule = (
  checker: ReferenceChecker,
  state: BorrowState,
  instruction: Instruction,
) => void;
type ReferenceRules = Readonly<Record<string, ReferenceRule>>;

function refuse(isWrong: boolean, status: StatusName): void {
  if (isWrong) throw new VmError(status);
}

const copyLocal: ReferenceRule = (checker, state, { operand }) => {
  const { graph, locals, root } = state;
  const held = locals[operand as number];
  if (held === undefined) {
    const label = labelOf('local', operand as number);
    refuse(graph.isMutablyBorrowed(root, label), 'COPYLOC_EXISTS_BORROW_ERROR');
    checker.push(undefined);
    return;
  }
  const id = state.newReference(graph.isMutable(held));
  graph.borrowExactly(held, [], id);
  checker.push(id);
};

/** Takes what a local holds; a value must not be borrowed. */
function takeLocal(state: BorrowState, local: number, otherwise: StatusName): number | undefined {
  const held = state.locals[local];
  state.locals[local] = undefined;
  const label = labelOf('local', local);
  refuse(held === undefined && state.graph.isBorrowed(state.root, label), otherwise);
  return held;
}

const storeLocal: ReferenceRule = (checker, state, { operand }) => {
  const local = operand as number;
  const given = checker.pop();
  const held = takeLocal(state, local, 'STLOC_UNSAFE_TO_DESTROY_ERROR');
  state.locals[local] = given;
  state.release(held);
};

function borrowLocal(isMutable: boolean): ReferenceRule {
  return (checker, state, { operand }) => {
    const { graph, root } = state;
    const label = labelOf('local', operand as number);
    // With too many edges the whole function counts as borrowed.
    const isBorrowed = isMutable
      ? graph.hasFullBorrows(root)
      : graph.isMutablyBorrowed(root, label);
    refuse(isBorrowed, 'BORROWLOC_EXISTS_BORROW_ERROR');
    const id = state.newReference(isMutable);
    graph.borrowExactly(root, [label], id);
    checker.push(id);
  };
}

const freeze: ReferenceRule = (checker, state) => {
  const id = checker.popReference();
  refuse(state.graph.isMutablyBorrowed(id), 'FREEZEREF_EXISTS_MUTABLE_BORROW_ERROR');
  const frozen = state.newReference(false);
  state.graph.borrowExactly(id, [], frozen);
  state.release(id);
  checker.push(frozen);
};

const compare: ReferenceRule = (checker, state) => {
  const compared = checker.popAll(2);
  for (const held of compared) {
    const isReadable = held === undefined || state.graph.isReadable(held);
    refuse(!isReadable, 'READREF_EXISTS_MUTABLE_BORROW_ERROR');
  }
  for (const held of compared) state.release(held);
  checker.push(undefined);
};

const read: ReferenceRule = (checker, state) => {
  const id = checker.popReference();
  refuse(!state.graph.isReadable(id), 'READREF_EXISTS_MUTABLE_BORROW_ERROR');
  state.release(id);
  checker.push(undefined);
};

const write: ReferenceRule = (checker, state) => {
  const id = checker.popReference();
  checker.popValues(1);
  refuse(state.graph.isBorrowed(id), 'WRITEREF_EXISTS_BORROW_ERROR');
  state.release(id);
};

function takeFieldOf(
  checker: ReferenceChecker,
  state: BorrowState,
  field: number,
  isMutable: boolean,
): void {
  const { graph } = state;
  const id = checker.popReference();
  const label = labelOf('field', field);
  const isBorrowed = isMutable ? graph.hasFullBorrows(id) : !graph.isReadable(id, label);
  refuse(isBorrowed, 'BORROWFIELD_EXISTS_MUTABLE_BORROW_ERROR');
  const borrowed = state.newReference(isMutable);
  graph.borrowExactly(id, [label], borrowed);
  state.release(id);
  checker.push(borrowed);
}

function borrowField(isMutable: boolean): ReferenceRule {
  return (checker, state, instruction) => {
    const { field } = structSubject(checker.view.binary, instruction);
    takeFieldOf(checker, state, field!.field, isMutable);
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
    refuse(isBorrowed, 'GLOBAL_REFERENCE_ERROR');
    const id = state.newReference(isMutable);
    graph.borrowSomewhere(root, [label], id);
    checker.push(id);
  };
}

const moveFrom: ReferenceRule = (checker, { graph, root }, instruction) => {
  checker.popValues(1);
  const label = resourceLabel(checker, instruction);
  refuse(graph.isBorrowed(root, label), 'GLOBAL_REFERENCE_ERROR');
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
  // A function of the interface of a public struct borrows as the instruction does that it stands for.
  if (borrow !== undefined) {
    takeFieldOf(checker, state, borrow.operand!, true);
    return;
  }
  const args = checker.popAll(binary.signatures[handle.parameters]!.length);
  const acquired = checker.acquiresOf(handleIndex);
  checker.chargeAcquires(acquired.length);
  for (const resource of acquired) {
    const label = labelOf('resource', resource);
    refuse(state.graph.isBorrowed(state.root, label), 'GLOBAL_REFERENCE_ERROR');
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

const giveBack: ReferenceRule = (checker, state) => {
  const { graph, locals, root } = state;
  const results = checker.popAll(checker.view.results.length);
  for (const held of locals) state.release(held);
  refuse(graph.isBorrowed(root), 'UNSAFE_RET_LOCAL_OR_RESOURCE_STILL_BORROWED');
  for (const held of results) {
    const isWritable = held === undefined || !graph.isMutable(held) || !graph.isBorrowed(held);
    refuse(!isWritable, 'RET_BORROWED_MUTABLE_REFERENCE_ERROR');
  }
  locals.fill(undefined);
};

/** An operation on the vector that a reference is to; values lie above it. */
function onVector(isMutable: boolean, values: number, given: number): ReferenceRule {
  return (checker, state) => {
    checker.popValues(values);
    const id = checker.popReference();
    const isWrong = isMutable && state.graph.isBorrowed(id);
    refuse(isWrong, 'VEC_UPDATE_EXISTS_MUTABLE_BORROW_ERROR');
    state.release(id);
    if (given > 0) checker.push(undefined);
  };
}

function borrowElement(isMutable: boolean): ReferenceRule {
  return (checker, state) => {
    const { graph } = state;
    checker.popValues(1);
    const id = checker.popReference();
    const isBorrowed = isMutable ? graph.isBorrowed(id) : !graph.isReadable(id);
    refuse(isBorrowed, 'VEC_BORROW_ELEMENT_EXISTS_MUTABLE_BORROW_ERROR');
    const element = state.newReference(isMutable);
    graph.borrowSomewhere(id, [], element);
    state.release(id);
    checker.push(element);
  };
}

export const REFERENCE_RULES = byOpcode<ReferenceRule>({
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
  ...bothForms('TestVariant', read),
  ...bothForms('MutBorrowField', borrowField(true)),
  ...bothForms('ImmBorrowField', borrowField(false)),
  ...bothForms('MutBorrowVariantField', borrowField(true)),
  ...bothForms('ImmBorrowVariantField', borrowField(false)),
  ...bothForms('MutBorrowGlobal', borrowGlobal(true)),
  ...bothForms('ImmBorrowGlobal', borrowGlobal(false)),
  ...bothForms('MoveFrom', moveFrom),
  ...bothForms('MoveTo', moveTo),
  ...bothForms('Call', call),
  CallClosure: callClosure,
  Ret: giveBack,
  VecLen: onVector(false, 0, 1),
  VecImmBorrow: borrowElement(false),
  VecMutBorrow: borrowElement(true),
  VecPushBack: onVector(true, 1, 0),
  VecPopBack: onVector(true, 0, 1),
  VecSwap: onVector(true, 2, 0),
});

/** A rule for an instruction with and without type arguments. */
function bothForms(name: string, rule: ReferenceRule): ReferenceRules {
  return { [name]: rule, [`${name}Generic`]: rule };
}
