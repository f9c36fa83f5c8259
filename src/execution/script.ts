/** Verifies and links a transaction's script and makes it a function (docs/spec/vm.md §8.1). */
import type { CompiledScript } from '../move/modules/compiled.ts';
import { BinaryFormatError } from '../move/modules/format.ts';
import { isUnstable } from '../move/modules/metadata.ts';
import { readScript } from '../move/modules/read.ts';
import { moduleKey } from '../move/types/module-id.ts';
import { loaderLimitsOf } from '../state/features.ts';
import type { Machine } from '../vm/machine/machine.ts';
import { type LoadedFunction, LoadedModule } from '../vm/program/loaded-module.ts';
import { checkScriptEvents } from '../vm/publish/metadata-check.ts';
import { checkAccessSpecifiers, checkLinks } from '../vm/publish/module-checks.ts';
import { dependenciesOf } from '../vm/publish/publication.ts';
import { VmError } from '../vm/status/status.ts';
import { scriptChecks } from '../vm/verifier/verify.ts';
import { doInTurns } from '../yield-budget.ts';
import { isMainnet, verifierConfigIn } from './chain-rules.ts';
import { scriptModule } from './script-module.ts';
import { ViewError } from './view-error.ts';

/** Charges for the modules that the script names. Rejects with ViewError, VmError. */
export async function loadScript(code: Uint8Array, machine: Machine): Promise<LoadedFunction> {
  const { program, world } = machine;
  const script = readCode(code, machine);
  await doInTurns(scriptChecks(script, verifierConfigIn(machine)), () => world.nextTurn());
  const modules = new Map<string, LoadedModule>();
  for (const id of dependenciesOf(script)) {
    const module = await program.module(id);
    machine.chargeModule(module);
    modules.set(moduleKey(id), module);
  }
  checkLinks(script, (id) => modules.get(moduleKey(id))?.compiled);
  checkAccessSpecifiers(script);
  if (isMainnet(machine) && isUnstable(script)) {
    const text = 'script marked unstable cannot be run on mainnet';
    throw new VmError('UNSTABLE_BYTECODE_REJECTED', { text });
  }
  checkScriptEvents(script);
  return new LoadedModule(scriptModule(script)).function('main')!;
}

function readCode(code: Uint8Array, { world }: Machine): CompiledScript {
  try {
    return readScript(
      code,
      loaderLimitsOf((flag) => world.isFeatureEnabled(flag)),
    );
  } catch (error) {
    if (!(error instanceof BinaryFormatError)) throw error;
    throw new ViewError('the script does not load', 'CODE_DESERIALIZATION_ERROR');
  }
}
