/**
 * Checks a transaction's function before it runs, as the reference does: that it may be called as an entry, its type
 * arguments, its signers and its other arguments (docs/spec/vm.md §8.1).
 */
import type { EntryFunction, Script } from '../move/transactions/executable.ts';
import { TransactionArgument } from '../move/transactions/transaction-argument.ts';
import {
  type MoveType,
  moveTypeOfToken,
  substituteTypeParameters,
} from '../move/types/move-type.ts';
import type { TypeTag } from '../move/types/type-tag.ts';
import type { Machine } from '../vm/machine/machine.ts';
import type { Call } from '../vm/machine/run.ts';
import type { Callee } from '../vm/program/loaded-module.ts';
import { Reference, type Value } from '../vm/value.ts';
import { constructArgument, isArgumentType } from './construct.ts';
import { loadTypeArguments } from './loading.ts';
import { loadScript } from './script.ts';
import { vmError } from './view-error.ts';

/** Rejects with ViewError, VmError. */
export async function loadEntryCall(
  call: EntryFunction | Script,
  signers: readonly Value[],
  machine: Machine,
): Promise<Call> {
  const { program } = machine;
  const target =
    call.kind === 'entryFunction'
      ? await program.function(call.module, call.function)
      : await loadScript(call.code, machine);
  machine.chargeModule(target.module);
  const { id } = target.module;
  const typeArguments = await loadTypeArguments(target, call.typeArguments, program);
  for (const type of typeArguments) await machine.chargeTypes(type);
  const { signerTypes, otherTypes, areAllowed } = parametersOf(
    program.callee(target, typeArguments),
    call.typeArguments,
  );
  if (!areAllowed) throw vmError('INVALID_MAIN_FUNCTION_SIGNATURE', id);
  const encodedArgs = call.kind === 'script' ? call.args.map(argumentBytes) : call.args;
  if (encodedArgs.length !== otherTypes.length) throw vmError('NUMBER_OF_ARGUMENTS_MISMATCH', id);
  if (signerTypes.length > 0 && signerTypes.length !== signers.length) {
    throw vmError('NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH', id);
  }
  const args = signerTypes.map((type, index): Value => {
    const signer = signers[index];
    return type.kind === 'reference' ? new Reference([signer], 0) : signer;
  });
  for (const [index, type] of otherTypes.entries()) {
    args.push(await constructArgument(machine, type, encodedArgs[index]!));
  }
  if (!target.isEntry) throw vmError('EXECUTE_ENTRY_FUNCTION_CALLED_ON_NON_ENTRY_FUNCTION', id);
  return { function: target, typeArguments, args };
}

/** A function's parameters and results, with its type arguments substituted. */
interface Parameters {
  readonly signerTypes: readonly MoveType[];
  readonly otherTypes: readonly MoveType[];
  /** Whether transactions can pass the other types, and it returns nothing. */
  readonly areAllowed: boolean;
}

/** Parameters of functions that were called. The keys live as long as their program. */
const knownParameters = new WeakMap<Callee, Parameters>();

function parametersOf(callee: Callee, typeArguments: readonly TypeTag[]): Parameters {
  const known = knownParameters.get(callee);
  if (known !== undefined) return known;
  const { parameters, results, module } = callee.function;
  const types = parameters.map((token) =>
    substituteTypeParameters(moveTypeOfToken(module.compiled, token), typeArguments),
  );
  const first = types.findIndex((type) => !isSigner(type));
  const signerTypes = first < 0 ? types : types.slice(0, first);
  const otherTypes = types.slice(signerTypes.length);
  const areAllowed = results.length === 0 && otherTypes.every(isArgumentType);
  const found = { signerTypes, otherTypes, areAllowed };
  knownParameters.set(callee, found);
  return found;
}

function isSigner(type: MoveType): boolean {
  return type.kind === 'signer' || (type.kind === 'reference' && type.to.kind === 'signer');
}

/** The BCS of a script's argument, which follows its variant or is inside its bytes. */
function argumentBytes(argument: TransactionArgument): Buffer {
  if (argument.kind === 'serialized') return argument.value;
  return TransactionArgument.encode(argument).subarray(1);
}
