/** What features must be enabled for: enums, access specifiers, function values (docs/spec/verifier.md §3.1). */
import type {
  CompiledModule,
  CompiledScript,
  Instruction,
  SignatureToken,
} from '../../move/modules/compiled.ts';
import { VmError } from '../status/vm-error.ts';
import { isOneOf } from './model/by-opcode.ts';
import { allFields } from './model/subject.ts';
import { visitTypes } from './model/tokens.ts';
import type { VerifierConfig } from './model/verifier-config.ts';

const ON_CLOSURES = isOneOf(['PackClosure', 'PackClosureGeneric', 'CallClosure']);

/** @throws VmError FEATURE_NOT_ENABLED */
export function checkFeatures(
  binary: CompiledModule | CompiledScript,
  config: VerifierConfig,
): void {
  if (!config.enableFunctionValues) {
    for (const token of binary.signatures.flat()) visitTypes(token, refuseFunctionType);
  }
  for (const { accessSpecifiers, attributes } of binary.functionHandles) {
    checkAccessSpecifiers(accessSpecifiers, config);
    if (!config.enableFunctionValues && attributes.length > 0)
      throw new VmError('FEATURE_NOT_ENABLED');
  }
  if (binary.kind === 'script') {
    checkAccessSpecifiers(binary.accessSpecifiers, config);
    checkCode(binary.code.code, config);
    return;
  }
  for (const definition of binary.structDefinitions) {
    if (definition.kind === 'enum' && !config.enableEnumTypes)
      throw new VmError('FEATURE_NOT_ENABLED');
    if (config.enableFunctionValues) continue;
    // Only the field's own type: what it is made of is not looked at.
    for (const { type } of allFields(definition)) refuseFunctionType(type);
  }
  for (const { code } of binary.functionDefinitions) checkCode(code?.code ?? [], config);
}

function checkAccessSpecifiers(specifiers: unknown, config: VerifierConfig): void {
  if (specifiers !== undefined && !config.enableResourceAccessControl) {
    throw new VmError('FEATURE_NOT_ENABLED');
  }
}

function refuseFunctionType({ kind }: SignatureToken): void {
  if (kind === 'function') throw new VmError('FEATURE_NOT_ENABLED');
}

function checkCode(code: readonly Instruction[], config: VerifierConfig): void {
  if (config.enableFunctionValues) return;
  if (code.some(({ opcode }) => ON_CLOSURES[opcode])) {
    throw new VmError('FEATURE_NOT_ENABLED');
  }
}
