/**
 * Checks function values that were read from state against the function that they name. This is done when one is
 * called, with the types of the call and the layouts of what it captured.
 */
import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import type { CompiledModule, SignatureToken } from '../../move/modules/compiled.ts';
import type { Layout, LayoutField } from '../../move/values/layout.ts';
import type { LoadedFunction } from '../program/loaded-module.ts';
import type { Program } from '../program/program.ts';
import type { VmType } from '../program/vm-type.ts';
import { type VmError, verificationError } from '../status/status.ts';
import type { Closure } from '../value.ts';

export interface CalledType {
  readonly module: CompiledModule;
  readonly args: readonly SignatureToken[];
  readonly results: readonly SignatureToken[];
  readonly typeArguments: readonly VmType[];
}

function wrong(): VmError {
  return verificationError('function value of another type');
}

/** Checks a stored function value, with the function that it names. @throws VmError; or rejects with it */
export function checkStored(
  program: Program,
  closure: Closure,
  target: LoadedFunction,
  called: CalledType,
): MaybePromise<void> {
  const { typeArguments, mask, stored = [] } = closure;
  const { parameters, results, handle } = target;
  if (handle.typeParameters.length !== typeArguments.length) throw wrong();
  if (mask >> BigInt(parameters.length) !== 0n) throw wrong();
  const isCaptured = (index: number) => ((mask >> BigInt(index)) & 1n) === 1n;
  const remaining = parameters.filter((_, index) => !isCaptured(index));
  const same = (tokens: readonly SignatureToken[], expected: readonly SignatureToken[]) =>
    tokens.length === expected.length &&
    tokens.every((token, index) => {
      const [type, isMutable] = typeOf(program, target.module.compiled, token, typeArguments);
      const other = typeOf(program, called.module, expected[index]!, called.typeArguments);
      return type === other[0] && isMutable === other[1];
    });
  if (!same(remaining, called.args) || !same(results, called.results)) throw wrong();
  const captured = parameters.filter((_, index) => isCaptured(index));
  const compared = mapInOrder(captured, (token, index) => {
    const type = program.typeOfToken(target.module.compiled, token, typeArguments);
    return andThen(program.layout(type), (layout) => {
      if (!isSameShape(layout, stored[index]!)) throw wrong();
    });
  });
  return andThen(compared, () => undefined);
}

/** A type and, for a reference, whether it is mutable. */
function typeOf(
  program: Program,
  module: CompiledModule,
  token: SignatureToken,
  typeArguments: readonly VmType[],
): readonly [VmType, boolean | undefined] {
  return token.kind === 'reference'
    ? [program.typeOfToken(module, token.to, typeArguments), token.mutable]
    : [program.typeOfToken(module, token, typeArguments), undefined];
}

/** Whether values of both have the same representation; names do not matter. */
function isSameShape(left: Layout, right: Layout): boolean {
  if (left.kind === 'vector') {
    return right.kind === 'vector' && isSameShape(left.element, right.element);
  }
  if (left.kind === 'struct') {
    return right.kind === 'struct' && areSameFields(left.fields, right.fields);
  }
  if (left.kind === 'enum') {
    return (
      right.kind === 'enum' &&
      left.variants.length === right.variants.length &&
      left.variants.every(({ fields }, index) =>
        areSameFields(fields, right.variants[index]!.fields),
      )
    );
  }
  return left.kind === right.kind;
}

function areSameFields(left: readonly LayoutField[], right: readonly LayoutField[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ layout }, index) => isSameShape(layout, right[index]!.layout))
  );
}
