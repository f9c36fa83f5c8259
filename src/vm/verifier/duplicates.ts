/** Nothing is declared twice, and what a module says of itself it defines (docs/spec/verifier.md §3.3). */
import type {
  BinaryTables,
  CompiledModule,
  CompiledScript,
  FieldDefinition,
  StructDefinition,
} from '../../move/modules/compiled.ts';
import { VmError } from '../status/vm-error.ts';
import type { TypeTable } from './model/type-table.ts';

type Key = string | number;

/** @throws VmError */
export function checkDuplicates(binary: CompiledModule | CompiledScript, types: TypeTable): void {
  checkShared(binary, types);
  if (binary.kind === 'module') checkModule(binary);
}

function checkShared(tables: BinaryTables, types: TypeTable): void {
  refuseRepeated(tables.identifiers);
  refuseRepeated(tables.addresses);
  const constantKey = ({ type, data }: BinaryTables['constants'][number]) =>
    `${types.of(type).id} ${Buffer.from(data).toString('latin1')}`;
  refuseRepeated(tables.constants.map(constantKey));
  const signatures = tables.signatures.map((_, index) =>
    types
      .signature(index)
      .map(({ id }) => id)
      .join(),
  );
  refuseRepeated(signatures);
  refuseRepeated(tables.moduleHandles.map(({ address, name }) => `${address} ${name}`));
  if ('friends' in tables) {
    const { friends } = tables as CompiledModule;
    refuseRepeated(friends.map(({ address, name }) => `${address} ${name}`));
  }
  refuseRepeated(tables.structHandles.map(({ module, name }) => `${module} ${name}`));
  refuseRepeated(tables.functionHandles.map(({ module, name }) => `${module} ${name}`));
  refuseRepeatedInstantiations(tables.functionInstantiations);
}

function checkModule(module: CompiledModule): void {
  refuseRepeated(module.fieldHandles.map(({ owner, field }) => `${owner} ${field}`));
  refuseRepeatedInstantiations(module.fieldInstantiations);
  refuseRepeated(
    module.variantFieldHandles.map(({ owner, field, variants }) => `${owner} ${field} ${variants}`),
  );
  refuseRepeatedInstantiations(module.variantFieldInstantiations);
  refuseRepeated(module.structVariantHandles.map(({ owner, variant }) => `${owner} ${variant}`));
  refuseRepeatedInstantiations(module.structVariantInstantiations);
  checkFunctionDefinitions(module);
  checkStructDefinitions(module);
  refuseRepeatedInstantiations(module.structInstantiations);
}

function checkFunctionDefinitions(module: CompiledModule): void {
  const handles = module.functionDefinitions.map(({ handle }) => handle);
  refuseRepeated(handles);
  for (const { acquires } of module.functionDefinitions) {
    if (isRepeating(acquires)) throw new VmError('DUPLICATE_ACQUIRES_ANNOTATION');
  }
  checkImplemented(handles, module.functionHandles, module.selfHandle);
}

function checkStructDefinitions(module: CompiledModule): void {
  const handles = module.structDefinitions.map(({ handle }) => handle);
  refuseRepeated(handles);
  for (const definition of module.structDefinitions) checkFields(definition);
  checkImplemented(handles, module.structHandles, module.selfHandle);
}

function checkFields(definition: StructDefinition): void {
  if (definition.kind === 'struct') {
    if (definition.fields.length === 0) throw new VmError('ZERO_SIZED_STRUCT');
    refuseRepeatedNames(definition.fields);
  }
  if (definition.kind !== 'enum') return;
  refuseRepeated(definition.variants.map(({ name }) => name));
  for (const { fields } of definition.variants) refuseRepeatedNames(fields);
}

/** Definitions are of handles of this module, and all handles of this module have one. */
function checkImplemented(
  defined: readonly number[],
  handles: readonly { readonly module: number }[],
  selfHandle: number,
): void {
  if (defined.some((handle) => handles[handle]!.module !== selfHandle)) {
    throw new VmError('INVALID_MODULE_HANDLE');
  }
  const implemented = new Set(defined);
  handles.forEach(({ module }, handle) => {
    if (module === selfHandle && !implemented.has(handle))
      throw new VmError('UNIMPLEMENTED_HANDLE');
  });
}

function refuseRepeatedNames(fields: readonly FieldDefinition[]): void {
  refuseRepeated(fields.map(({ name }) => name));
}

function refuseRepeatedInstantiations(
  instantiations: BinaryTables['functionInstantiations'],
): void {
  refuseRepeated(instantiations.map(({ handle, signature }) => `${handle} ${signature}`));
}

function refuseRepeated(keys: readonly Key[]): void {
  if (isRepeating(keys)) throw new VmError('DUPLICATE_ELEMENT');
}

function isRepeating(keys: readonly Key[]): boolean {
  return new Set(keys).size < keys.length;
}
