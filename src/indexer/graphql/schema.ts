/** The GraphQL schema of the catalogue. */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql';
import { CATALOGUE, tableOf } from '../catalogue/index.ts';
import type { Table } from '../catalogue/table.ts';
import { countArguments, selectionArguments } from './arguments.ts';
import { AGGREGATE_SUFFIX, BY_KEY_SUFFIX, hasAggregateField, shownColumns } from './fields.ts';
import { AGGREGATE_FUNCTIONS, SCALARS } from './scalars.ts';

type Field = GraphQLFieldConfig<unknown, unknown>;
type Fields = GraphQLFieldConfigMap<unknown, unknown>;

const required = (type: GraphQLOutputType): GraphQLOutputType => new GraphQLNonNull(type);

const ROWS = new Map(CATALOGUE.map((table) => [table, rowOf(table)]));
const AGGREGATES = new Map(
  CATALOGUE.filter(({ hasAggregate }) => hasAggregate).map((table) => [table, aggregateOf(table)]),
);

function rowsField(table: Table): Field {
  return {
    type: required(new GraphQLList(required(ROWS.get(table)!))),
    args: selectionArguments(table),
  };
}

function aggregateField(table: Table): Field {
  return { type: required(AGGREGATES.get(table)!), args: selectionArguments(table) };
}

function rowOf(table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: table.name,
    fields: () => {
      const fields: Fields = {};
      for (const { name, type, nullable } of shownColumns(table)) {
        const field = nullable ? SCALARS[type] : required(SCALARS[type]);
        fields[name] =
          type === 'jsonb'
            ? { type: field, args: { path: { type: GraphQLString } } }
            : { type: field };
      }
      for (const relation of table.relations) {
        const other = tableOf(relation.table);
        fields[relation.name] =
          relation.kind === 'array' ? rowsField(other) : { type: ROWS.get(other)! };
        if (hasAggregateField(relation)) {
          fields[relation.name + AGGREGATE_SUFFIX] = aggregateField(other);
        }
      }
      return fields;
    },
  });
}

function aggregateOf(table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: `${table.name}_aggregate`,
    fields: () => ({
      aggregate: { type: aggregateFieldsOf(table) },
      nodes: { type: required(new GraphQLList(required(ROWS.get(table)!))) },
    }),
  });
}

function aggregateFieldsOf(table: Table): GraphQLObjectType {
  const fields: Fields = { count: { type: required(GraphQLInt), args: countArguments(table) } };
  for (const { name, of, type } of AGGREGATE_FUNCTIONS) {
    const columns = shownColumns(table).filter((column) => of(column.type));
    if (columns.length === 0) continue;
    fields[name] = {
      type: new GraphQLObjectType({
        name: `${table.name}_${name}_fields`,
        fields: Object.fromEntries(
          columns.map((column) => [column.name, { type: type(column.type) }]),
        ),
      }),
    };
  }
  return new GraphQLObjectType({ name: `${table.name}_aggregate_fields`, fields });
}

function keyArguments(table: Table): GraphQLFieldConfigArgumentMap {
  return Object.fromEntries(
    table.columns
      .filter(({ name }) => table.key.includes(name))
      .map(({ name, type }) => [name, { type: new GraphQLNonNull(SCALARS[type]) }]),
  );
}

const ROOT = new GraphQLObjectType({
  name: 'query_root',
  fields: () => {
    const fields: Fields = {};
    for (const table of CATALOGUE) {
      fields[table.name] = rowsField(table);
      if (table.hasAggregate) fields[table.name + AGGREGATE_SUFFIX] = aggregateField(table);
      if (table.key.length > 0) {
        fields[table.name + BY_KEY_SUFFIX] = { type: ROWS.get(table)!, args: keyArguments(table) };
      }
    }
    return fields;
  },
});

export const SCHEMA = new GraphQLSchema({ query: ROOT });
