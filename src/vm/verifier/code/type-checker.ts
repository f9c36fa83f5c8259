/** The types on the stack while the instructions of a function are checked. */
import type {
  CompiledModule,
  CompiledScript,
  Instruction,
} from '../../../move/modules/compiled.ts';
import { hasAll } from '../../../move/types/abilities.ts';
import type { AbilitySet } from '../../../move/types/type-tag.ts';
import { type StatusName, VmError } from '../../status/status.ts';
import { type AbilitiesOf, isAssignable, type Type, type TypeTable } from '../model/type-table.ts';
import type { VerifierMeter } from '../model/verifier-config.ts';
import type { FunctionView } from './analysis.ts';

const UNITS_PER_TYPE_NODE = 30;

/** Pops values of some types from the stack and pushes others. @throws VmError */
export type TypeRule = (checker: TypeChecker, instruction: Instruction) => void;
export type TypeRules = Readonly<Record<string, TypeRule>>;

type TypedFunction = Pick<
  FunctionView,
  'binary' | 'types' | 'locals' | 'results' | 'typeParameters'
>;

export class TypeChecker {
  readonly binary: CompiledModule | CompiledScript;
  readonly types: TypeTable;
  readonly locals: readonly Type[];
  readonly results: readonly Type[];
  readonly abilitiesOf: AbilitiesOf;
  readonly #stack: Type[] = [];
  readonly #meter: VerifierMeter;

  constructor(view: TypedFunction, meter: VerifierMeter) {
    const { types } = view;
    this.binary = view.binary;
    this.types = types;
    this.locals = view.locals.map((token) => types.of(token));
    this.results = view.results.map((token) => types.of(token));
    this.abilitiesOf = types.abilitiesIn(view.typeParameters);
    this.#meter = meter;
  }

  /** The type of the value that was pushed last. */
  get top(): Type | undefined {
    return this.#stack.at(-1);
  }

  get depth(): number {
    return this.#stack.length;
  }

  push(type: Type): void {
    this.#meter.add(UNITS_PER_TYPE_NODE * type.nodes);
    this.#stack.push(type);
  }

  /** The one push that costs nothing. */
  pushPackedVector(type: Type): void {
    this.#stack.push(type);
  }

  pushKind(kind: Type['kind']): void {
    this.push(this.types.primitive(kind));
  }

  pop(): Type {
    const type = this.#stack.pop();
    if (type === undefined) throw new VmError('UNKNOWN_INVARIANT_VIOLATION_ERROR');
    return type;
  }

  expect(type: Type, status: StatusName): void {
    this.demand(this.pop() === type, status);
  }

  expectKind(kind: Type['kind'], status: StatusName): void {
    this.demand(this.pop().kind === kind, status);
  }

  /** Pops a value that must be assignable to a declared type. */
  expectAssignable(type: Type, status: StatusName): void {
    this.demand(isAssignable(type, this.pop()), status);
  }

  demand(condition: boolean, status: StatusName): void {
    if (!condition) throw new VmError(status);
  }

  demandAbility(type: Type, ability: AbilitySet, status: StatusName): void {
    this.demand(hasAll(this.abilitiesOf(type), ability), status);
  }

  /**
   * The types of a signature used as type arguments; each is charged for. In verified code they fit, but code that runs
   * need not be verified (docs/spec/vm.md §3).
   */
  typeArguments(
    signature: number | undefined,
    { typeParameters }: { readonly typeParameters: readonly unknown[] },
  ): readonly Type[] {
    const types = signature === undefined ? NO_TYPES : this.types.signature(signature);
    this.demand(types.length === typeParameters.length, 'NUMBER_OF_TYPE_ARGUMENTS_MISMATCH');
    for (const { kind, nodes } of types) {
      this.demand(kind !== 'reference', 'INVALID_SIGNATURE_TOKEN');
      this.#meter.add(UNITS_PER_TYPE_NODE * nodes);
    }
    return types;
  }

  /** The one type of a signature; as typeArguments. */
  oneType(signature: number, status: StatusName): Type {
    const [type, ...others] = this.types.signature(signature);
    if (type === undefined || others.length > 0) throw new VmError(status);
    return type;
  }
}

const NO_TYPES: readonly Type[] = [];
