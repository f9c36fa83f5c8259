/** The tables of a binary: numbers, first versions, order of the writer (docs/spec/move.md §1.4). */

export type TableName =
  | 'moduleHandles'
  | 'structHandles'
  | 'functionHandles'
  | 'functionInstantiations'
  | 'signatures'
  | 'constants'
  | 'identifiers'
  | 'addresses'
  | 'structDefinitions'
  | 'structInstantiations'
  | 'functionDefinitions'
  | 'fieldHandles'
  | 'fieldInstantiations'
  | 'friends'
  | 'metadata'
  | 'variantFieldHandles'
  | 'variantFieldInstantiations'
  | 'structVariantHandles'
  | 'structVariantInstantiations';

export interface TableKind {
  readonly name: TableName;
  /** The number in the directory. */
  readonly code: number;
  /** First version that may have the table. */
  readonly since: number;
  /** Whether a script may have it. */
  readonly inScripts: boolean;
}

function table(code: number, name: TableName, inScripts: boolean, since = 1): TableKind {
  return { name, code, since, inScripts };
}

/** Every table, in the order the writer puts them. Code 0x09 was never given out. */
export const TABLE_KINDS: readonly TableKind[] = [
  table(0x01, 'moduleHandles', true),
  table(0x02, 'structHandles', true),
  table(0x03, 'functionHandles', true),
  table(0x04, 'functionInstantiations', true),
  table(0x05, 'signatures', true),
  table(0x07, 'identifiers', true),
  table(0x08, 'addresses', true),
  table(0x06, 'constants', true),
  table(0x10, 'metadata', true, 5),
  table(0x0a, 'structDefinitions', false),
  table(0x0b, 'structInstantiations', false),
  table(0x0c, 'functionDefinitions', false),
  table(0x0d, 'fieldHandles', false),
  table(0x0e, 'fieldInstantiations', false),
  table(0x0f, 'friends', false, 2),
  table(0x11, 'variantFieldHandles', false, 7),
  table(0x12, 'variantFieldInstantiations', false, 7),
  table(0x13, 'structVariantHandles', false, 7),
  table(0x14, 'structVariantInstantiations', false, 7),
];

const KIND_OF_CODE = new Map(TABLE_KINDS.map((kind) => [kind.code, kind]));

/** The table of a directory number, `undefined` when there is none. */
export function tableKindOfCode(code: number): TableKind | undefined {
  return KIND_OF_CODE.get(code);
}
