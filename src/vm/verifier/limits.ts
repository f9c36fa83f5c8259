/** How much a module or script may declare (docs/spec/verifier.md §3.2). */
import type {
  CompiledModule,
  CompiledScript,
  SignatureToken,
} from '../../move/modules/compiled.ts';
import type { StatusName } from '../status/status.ts';
import { VmError } from '../status/vm-error.ts';
import { allFields } from './model/subject.ts';
import { visitTypes } from './model/tokens.ts';
import type { VerifierConfig } from './model/verifier-config.ts';

/** What a struct or a type parameter counts as: it stands for types that are not seen here. */
const UNKNOWN_TYPE_NODES = 4;

function refuseAbove(limit: number, count: number, status: StatusName): void {
  if (count > limit) throw new VmError(status);
}

/** @throws VmError */
export function checkLimits(binary: CompiledModule | CompiledScript, config: VerifierConfig): void {
  const { maxGenericInstantiationLength } = config;
  const countOf = (signature: number) => binary.signatures[signature]!.length;
  for (const handle of binary.functionHandles) {
    const { typeParameters } = handle;
    refuseAbove(maxGenericInstantiationLength, typeParameters.length, 'TOO_MANY_TYPE_PARAMETERS');
    refuseAbove(config.maxFunctionParameters, countOf(handle.parameters), 'TOO_MANY_PARAMETERS');
    refuseAbove(config.maxFunctionReturnValues, countOf(handle.return), 'TOO_MANY_PARAMETERS');
  }
  for (const { typeParameters } of binary.structHandles) {
    refuseAbove(maxGenericInstantiationLength, typeParameters.length, 'TOO_MANY_TYPE_PARAMETERS');
  }
  for (const signature of binary.signatures) {
    for (const token of signature) checkType(token, config);
  }
  for (const { type } of binary.constants) checkType(type, config);
  if (binary.kind === 'script') return;
  for (const definition of binary.structDefinitions) {
    for (const { type } of allFields(definition)) checkType(type, config);
  }
  checkDefinitions(binary, config);
}

function checkType(type: SignatureToken, config: VerifierConfig): void {
  let nodes = 0;
  visitTypes(type, (token, depth) => {
    refuseAbove(config.maxTypeDepth, depth, 'TOO_MANY_TYPE_NODES');
    if (token.kind === 'function') {
      refuseAbove(config.maxFunctionParameters, token.args.length, 'TOO_MANY_PARAMETERS');
      refuseAbove(config.maxFunctionReturnValues, token.results.length, 'TOO_MANY_PARAMETERS');
    }
    nodes += token.kind === 'struct' || token.kind === 'typeParameter' ? UNKNOWN_TYPE_NODES : 1;
  });
  refuseAbove(config.maxTypeNodes, nodes, 'TOO_MANY_TYPE_NODES');
}

function checkDefinitions(module: CompiledModule, config: VerifierConfig): void {
  const { functionDefinitions, structDefinitions } = module;
  refuseAbove(
    config.maxFunctionDefinitions,
    functionDefinitions.length,
    'MAX_FUNCTION_DEFINITIONS_REACHED',
  );
  refuseAbove(
    config.maxStructDefinitions,
    structDefinitions.length,
    'MAX_STRUCT_DEFINITIONS_REACHED',
  );
  for (const definition of structDefinitions) {
    if (definition.kind === 'native') continue;
    const parts = definition.kind === 'struct' ? [definition] : definition.variants;
    for (const { fields } of parts) {
      refuseAbove(config.maxFieldsInStruct, fields.length, 'MAX_FIELD_DEFINITIONS_REACHED');
    }
  }
  for (const definition of structDefinitions) {
    if (definition.kind !== 'enum') continue;
    const { variants } = definition;
    refuseAbove(config.maxStructVariants, variants.length, 'MAX_STRUCT_VARIANTS_REACHED');
  }
}
