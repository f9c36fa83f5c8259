/** Answers `__schema` and `__type` from the schema. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNullableType,
  isLeafType,
  isListType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from 'graphql';
import { readArguments } from './input-values.ts';
import { SCHEMA } from './schema.ts';
import type { SelectedField, Selector } from './selection.ts';

const ROOTS = new Map([SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]));

export function isIntrospection({ name }: SelectedField): boolean {
  return ROOTS.has(name);
}

/**
 * Types refer to each other, so a short document can request a response without end. The selector counts the response's
 * fields; the executor of `graphql` does not.
 */
export class Introspection {
  readonly #selector: Selector;

  constructor(selector: Selector) {
    this.#selector = selector;
  }

  rootText(field: SelectedField): string {
    return JSON.stringify(this.#value(ROOTS.get(field.name)!, undefined, field));
  }

  #value(
    definition: GraphQLField<unknown, unknown>,
    source: unknown,
    field: SelectedField,
  ): unknown {
    const { variables } = this.#selector;
    const args = readArguments(field.node.arguments, definition.args, variables, field.path);
    const info = { schema: SCHEMA } as GraphQLResolveInfo;
    const value = definition.resolve!(source, Object.fromEntries(args), undefined, info);
    return this.#select(definition.type, value, field);
  }

  #select(type: GraphQLOutputType, value: unknown, field: SelectedField): unknown {
    if (value === undefined || value === null) return null;
    const nullable = getNullableType(type);
    if (isListType(nullable)) {
      return (value as unknown[]).map((item) => this.#select(nullable.ofType, item, field));
    }
    if (isLeafType(nullable)) return nullable.serialize(value);
    const object = nullable as GraphQLObjectType;
    const fields = object.getFields();
    const members = Object.create(null) as Record<string, unknown>;
    for (const selected of this.#selector.fields(field.selections, field.path)) {
      members[selected.key] =
        selected.name === '__typename'
          ? object.name
          : this.#value(fields[selected.name]!, value, selected);
    }
    return members;
  }
}
