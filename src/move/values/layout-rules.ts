/**
 * The two sets of rules by which the reference resolves layouts: one for the values that it shows (events, resources),
 * one for the JSON arguments that it encodes (docs/spec/move.md §4.3, docs/spec/encode.md §A4, §B2).
 */
import type { MoveError } from '../errors.ts';
import { debugString } from '../rust-debug.ts';
import type { ModuleId } from '../types/module-id.ts';
import type { StructTag, TypeTag } from '../types/type-tag.ts';
import {
  debugModuleId,
  type FoundStruct,
  isOptionModule,
  isStringStruct,
  type Layout,
  LayoutError,
  type LayoutField,
  type LayoutVariant,
  objectTemplate,
  optionTemplate,
} from './layout.ts';

/**
 * Bytes of names that laying out one type may cost: for every struct, each time it occurs, 32 for its address, the
 * lengths of its module's and its own name, and of its field and variant names (docs/spec/encode.md §B2).
 */
export const LAYOUT_BUDGET_BYTES = 100_000_000;

/**
 * Maximum number of nodes of one layout of an argument: each type of the tag and each type token of each field counts
 * as one, every time it is used. The reference's text states 512; it refuses the 514th (docs/spec/encode.md §A4).
 */
export const MAX_LAYOUT_NODES = 513;

/** A struct, or a variant of an enum, with its fields. */
export interface ResolvedVariant {
  /** Empty for a struct. */
  readonly name: string;
  readonly fields: readonly LayoutField[];
  readonly nameBytes: number;
}

/** The differences between the two sets. */
export interface LayoutRules {
  readonly budget: number;
  readonly tooLarge: string;
  /** Only the rules of arguments count nodes; only those of shown values count bytes of names. */
  readonly countsNodes: boolean;
  /**
   * Arguments need exactly the declared number of type arguments. For shown values the reference ignores extra ones,
   * and notices a missing one late.
   */
  readonly needsExactArguments: boolean;
  /** For arguments the reference resolves a struct after its type arguments: this decides which error it names. */
  readonly resolvesStructLast: boolean;
  /** The enum `0x1::option::Option` is treated as the struct that it once was, to keep the JSON of arguments. */
  readonly optionIsVector: boolean;
  /** Arguments contain no signers and no function values; the types inside a function type need not exist. */
  readonly hasOnlyData: boolean;
  moduleNotFound(id: ModuleId): LayoutError;
  moduleNotLoadable(id: ModuleId, cause: MoveError): LayoutError;
  structNotFound(id: ModuleId, name: string): LayoutError;
  readonly nativeStruct: string;
  readonly reference: string;
  layout(
    found: FoundStruct,
    variants: readonly ResolvedVariant[],
    typeArguments: readonly Layout[],
    tagBytes: number,
  ): Layout;
}

export const JSON_RULES: LayoutRules = {
  budget: LAYOUT_BUDGET_BYTES,
  tooLarge: 'Query exceeds size limit',
  countsNodes: false,
  needsExactArguments: false,
  resolvesStructLast: false,
  optionIsVector: false,
  hasOnlyData: false,
  moduleNotFound: (id) =>
    new LayoutError('module_not_found', `Module ${debugModuleId(id)} can't be found`),
  moduleNotLoadable: (id, { message }) => {
    const text = `Module ${debugModuleId(id)} deserialize with error code ${message}`;
    return new LayoutError('module_not_loadable', text);
  },
  structNotFound: (id, name) => {
    const text = `Struct IdentStr(${debugString(name)}) not found in ${debugModuleId(id)}`;
    return new LayoutError('struct_not_found', text);
  },
  nativeStruct: 'Unexpected Native Struct',
  reference: 'Unexpected Reference',
  layout: ({ id, name, definition }, variants, _, tagBytes) => {
    if (definition.kind !== 'enum') {
      const { fields, nameBytes } = variants[0]!;
      const isText = fields.length === 1 && fields[0]!.layout.kind === 'bytes';
      if (isText && isStringStruct(id, name)) {
        return { kind: 'string', fields, tagBytes: tagBytes + nameBytes };
      }
      const template = objectTemplate(fields, undefined, nameBytes);
      return { kind: 'struct', fields, template, tagBytes };
    }
    const isOption = name === 'Option' && isOptionModule(id);
    const rendered = variants.map(({ name: variant, fields, nameBytes }): LayoutVariant => {
      const fixed = { name: '__variant__', json: JSON.stringify(variant) };
      const template = isOption
        ? optionTemplate(fields, nameBytes)
        : objectTemplate(fields, fixed, nameBytes);
      return { name: variant, fields, template };
    });
    return { kind: 'enum', variants: rendered, tagBytes };
  },
};

const noModule = (): LayoutError => new LayoutError('module_not_found', 'Could not find module');

export const ARGUMENT_RULES: LayoutRules = {
  budget: MAX_LAYOUT_NODES,
  tooLarge: `type layout exceeds the maximum of ${MAX_LAYOUT_NODES - 1} nodes`,
  countsNodes: true,
  needsExactArguments: true,
  resolvesStructLast: true,
  optionIsVector: true,
  hasOnlyData: true,
  moduleNotFound: noModule,
  moduleNotLoadable: noModule,
  structNotFound: ({ address, name: module }, name) => {
    const text = `Could not find struct named ${name} in module ${address}::${module}`;
    return new LayoutError('struct_not_found', text);
  },
  nativeStruct: "Can't extract fields for native struct",
  reference: 'Type layouts cannot contain references',
  layout: ({ id, name, definition }, variants, typeArguments) => {
    const tags = typeArguments.map(tagOfLayout);
    const tag: StructTag = { address: id.address, module: id.name, name, typeArguments: tags };
    if (definition.kind === 'enum' && !isOptionModule(id)) {
      const named = variants.map(({ name: variant, fields }) => ({ name: variant, fields }));
      return { kind: 'enum', tag, variants: named };
    }
    const { fields } = variants[0]!;
    return { kind: isStringStruct(id, name) ? 'string' : 'struct', tag, fields };
  },
};

/** The tag of a type in an argument. Layouts omit the parameters of function types. */
function tagOfLayout(layout: Layout): TypeTag {
  switch (layout.kind) {
    case 'bytes':
      return { kind: 'vector', element: { kind: 'u8' } };
    case 'vector':
      return { kind: 'vector', element: tagOfLayout(layout.element) };
    case 'struct':
    case 'string':
    case 'enum':
      return { kind: 'struct', struct: layout.tag! };
    case 'function':
      throw new LayoutError('function_type', 'Function layout cannot be constructed from type tag');
    default:
      return layout;
  }
}
