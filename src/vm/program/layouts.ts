import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import type { BinaryTables, FieldDefinition, SignatureToken } from '../../move/modules/compiled.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { formatStructPath } from '../../move/types/move-type.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import {
  type FoundStruct,
  findStruct,
  type Layout,
  type LayoutField,
  variantsOf,
} from '../../move/values/layout.ts';
import { VmError } from '../status/status.ts';
import { MAX_VALUE_DEPTH } from '../value.ts';
import type { LoadedModule } from './loaded-module.ts';
import type { VmType } from './vm-type.ts';

export interface TypeSource {
  module(id: ModuleId): MaybePromise<LoadedModule>;
  typeOfToken(
    tables: BinaryTables,
    token: SignatureToken,
    typeArguments: readonly VmType[],
  ): VmType;
}

/** The definition of a struct. @throws VmError LINKER_ERROR, TYPE_RESOLUTION_FAILURE; or rejects with it */
export function definitionOf(
  source: Pick<TypeSource, 'module'>,
  { address, module: moduleName, name }: Pick<StructTag, 'address' | 'module' | 'name'>,
): MaybePromise<FoundStruct> {
  const id = { address, name: moduleName };
  return andThen(source.module(id), ({ compiled }) => {
    const found = findStruct(compiled, name);
    if (found !== undefined) return found;
    const text = `Struct ${formatStructPath(id, name)} does not exist`;
    throw new VmError('TYPE_RESOLUTION_FAILURE', { text });
  });
}

/**
 * The layout of a type, cached in the type.
 * @throws VmError VM_MAX_VALUE_DEPTH_REACHED, also for a struct that contains itself; or rejects with it
 */
export function makeLayout(source: TypeSource, type: VmType, level = 1): MaybePromise<Layout> {
  if (type.layout !== undefined) return type.layout;
  if (level > MAX_VALUE_DEPTH) throw new VmError('VM_MAX_VALUE_DEPTH_REACHED');
  const { tag } = type;
  switch (tag.kind) {
    case 'vector': {
      if (tag.element.kind === 'u8') return remember(type, { kind: 'bytes' }, 2);
      const element = type.parts[0]!;
      return andThen(makeLayout(source, element, level + 1), (layout) =>
        remember(type, { kind: 'vector', element: layout }, element.layoutDepth + 1),
      );
    }
    case 'struct':
      return andThen(definitionOf(source, tag.struct), (found) =>
        structLayout(source, type, tag.struct, found, level),
      );
    default:
      return remember(type, { kind: tag.kind }, 1);
  }
}

function remember(type: VmType, layout: Layout, depth: number): Layout {
  if (depth > MAX_VALUE_DEPTH) throw new VmError('VM_MAX_VALUE_DEPTH_REACHED');
  type.layout = layout;
  type.layoutDepth = depth;
  return layout;
}

function structLayout(
  source: TypeSource,
  type: VmType,
  tag: StructTag,
  found: FoundStruct,
  level: number,
): MaybePromise<Layout> {
  const { definition, handle, module } = found;
  if (handle.typeParameters.length !== type.parts.length) {
    throw new VmError('NUMBER_OF_TYPE_ARGUMENTS_MISMATCH');
  }
  if (definition.kind === 'native') throw new VmError('TYPE_RESOLUTION_FAILURE');
  let depth = 1;
  const fieldLayout = ({ name, type: token }: FieldDefinition): MaybePromise<LayoutField> => {
    const fieldType = source.typeOfToken(module, token, type.parts);
    return andThen(makeLayout(source, fieldType, level + 1), (layout) => {
      depth = Math.max(depth, fieldType.layoutDepth + 1);
      return { name: module.identifiers[name]!, layout };
    });
  };
  const variants = mapInOrder(variantsOf(found), ({ name, fields }) =>
    andThen(mapInOrder(fields, fieldLayout), (layouts) => ({ name, fields: layouts })),
  );
  return andThen(variants, (all) => {
    const layout: Layout =
      definition.kind === 'enum'
        ? { kind: 'enum', tag, variants: all }
        : { kind: 'struct', tag, fields: all[0]!.fields };
    return remember(type, layout, depth);
  });
}
