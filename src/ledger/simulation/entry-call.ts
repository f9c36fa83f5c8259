/**
 * What is checked of a transaction's function before it runs, as the reference does: that it may be called so, its type
 * arguments, its signers and its other arguments (docs/spec/vm.md §8.1).
 */
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { BinaryFormatError } from '../../move/modules/format.ts';
import { readScript } from '../../move/modules/read.ts';
import type { EntryFunction, Script } from '../../move/transactions/executable.ts';
import {
  type TransactionArgument,
  writeTransactionArgument,
} from '../../move/transactions/transaction-argument.ts';
import type { Address } from '../../move/types/address.ts';
import {
  type MoveType,
  moveTypeOfToken,
  substituteTypeParameters,
} from '../../move/types/move-type.ts';
import { typeTagOf } from '../../move/types/move-type-tag.ts';
import type { Call } from '../../vm/machine/run.ts';
import type { Meter } from '../../vm/meter.ts';
import { type LoadedFunction, LoadedModule } from '../../vm/program/loaded-module.ts';
import type { Program } from '../../vm/program/program.ts';
import { Reference, type Value } from '../../vm/value.ts';
import { decodeValue } from '../../vm/values/bcs.ts';
import type { World } from '../../vm/world.ts';
import { checkArguments } from '../views/arguments.ts';
import { loadTypeArguments } from '../views/loading.ts';
import { ViewError, vmError } from '../views/view-error.ts';
import { scriptModule } from './script-module.ts';

interface RunParts {
  readonly program: Program;
  readonly world: World;
  readonly meter: Meter;
}

/** Rejects with ViewError, VmError. */
export async function loadEntryCall(
  call: EntryFunction | Script,
  signers: readonly Address[],
  { program, world, meter }: RunParts,
): Promise<Call> {
  const target = await targetOf(call, program);
  const { id, compiled } = target.module;
  if (!target.isEntry) throw vmError('EXECUTE_ENTRY_FUNCTION_CALLED_ON_NON_ENTRY_FUNCTION', id);
  const typeArguments = await loadTypeArguments(target, call.typeArguments, program);
  const types = target.parameters.map((token) =>
    substituteTypeParameters(moveTypeOfToken(compiled, token), call.typeArguments),
  );
  if (target.results.length > 0) throw vmError('INVALID_MAIN_FUNCTION_SIGNATURE', id);
  const signerCount = types.findIndex((type) => !isSigner(type));
  const signerTypes = signerCount < 0 ? types : types.slice(0, signerCount);
  const otherTypes = types.slice(signerTypes.length);
  if (signerTypes.length > 0 && signerTypes.length !== signers.length) {
    throw vmError('NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH', id);
  }
  const given = call.kind === 'script' ? call.args.map(argumentBytes) : call.args;
  if (given.length !== otherTypes.length) throw vmError('NUMBER_OF_ARGUMENTS_MISMATCH', id);
  await checkArguments(otherTypes, given, id, world);
  const args = signerTypes.map((type, index): Value => {
    const signer: Value = [signers[index]!];
    return type.kind === 'reference' ? new Reference([signer], 0) : signer;
  });
  for (const [index, type] of otherTypes.entries()) {
    const layout = await program.layout(program.type(typeTagOf(type)));
    try {
      args.push(decodeValue(layout, given[index]!, meter));
    } catch (error) {
      if (!(error instanceof BcsError)) throw error;
      throw vmError('FAILED_TO_DESERIALIZE_ARGUMENT', id);
    }
  }
  return { function: target, typeArguments, args };
}

async function targetOf(call: EntryFunction | Script, program: Program): Promise<LoadedFunction> {
  if (call.kind === 'entryFunction') return program.function(call.module, call.function);
  try {
    return new LoadedModule(scriptModule(readScript(call.code))).function('main')!;
  } catch (error) {
    if (!(error instanceof BinaryFormatError)) throw error;
    throw new ViewError('the script does not load', 'CODE_DESERIALIZATION_ERROR');
  }
}

function isSigner(type: MoveType): boolean {
  return type.kind === 'signer' || (type.kind === 'reference' && type.to.kind === 'signer');
}

/** The BCS of a script's argument: behind the variant of its kind, or inside its bytes. */
function argumentBytes(argument: TransactionArgument): Buffer {
  if (argument.kind === 'serialized') return argument.value;
  return encodeBcs((writer) => writeTransactionArgument(writer, argument)).subarray(1);
}
