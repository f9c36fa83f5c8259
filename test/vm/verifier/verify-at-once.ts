/** The verifier without turns. */
import type { CompiledModule, CompiledScript } from '../../../src/move/modules/compiled.ts';
import type { VerifierConfig } from '../../../src/vm/verifier/model/verifier-config.ts';
import { moduleChecks, scriptChecks } from '../../../src/vm/verifier/verify.ts';

/** @throws VmError */
export function verifyModule(module: CompiledModule, config?: VerifierConfig): void {
  Array.from(moduleChecks(module, config));
}

/** @throws VmError */
export function verifyScript(script: CompiledScript, config?: VerifierConfig): void {
  Array.from(scriptChecks(script, config));
}
