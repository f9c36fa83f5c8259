/** Types of arguments, with the names of the public indexer, because documents declare variables of these types. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLEnumValueConfigMap,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import { CATALOGUE, tableOf } from '../catalogue/index.ts';
import type { Column, Table } from '../catalogue/table.ts';
import { AGGREGATE_SUFFIX, hasAggregateField, shownColumns } from './fields.ts';
import { AGGREGATE_FUNCTIONS, COMPARISONS, ORDER_BY } from './scalars.ts';

interface InputTypes {
  readonly condition: GraphQLInputObjectType;
  readonly order: GraphQLInputObjectType;
  readonly column: GraphQLEnumType;
  /** For aggregates of a to-many relation to these rows. */
  readonly aggregateCondition: GraphQLInputObjectType | undefined;
  readonly aggregateOrder: GraphQLInputObjectType;
}

const required = (type: GraphQLInputType): GraphQLInputType => new GraphQLNonNull(type);
const listOf = (type: GraphQLInputType): GraphQLInputType => new GraphQLList(required(type));

const INPUT_TYPES = new Map<Table, InputTypes>(
  CATALOGUE.map((table) => {
    const column = columnsOf(`${table.name}_select_column`, shownColumns(table));
    return [
      table,
      {
        condition: conditionOf(table),
        order: orderOf(table),
        column,
        aggregateCondition: table.hasAggregate ? aggregateConditionOf(table, column) : undefined,
        aggregateOrder: aggregateOrderOf(table),
      },
    ];
  }),
);

function inputTypesOf(table: Table): InputTypes {
  return INPUT_TYPES.get(table)!;
}

function columnsOf(name: string, columns: readonly Column[]): GraphQLEnumType {
  const values: GraphQLEnumValueConfigMap = {};
  for (const column of columns) values[column.name] = {};
  return new GraphQLEnumType({ name, values });
}

function conditionOf(table: Table): GraphQLInputObjectType {
  const condition: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${table.name}_bool_exp`,
    fields: () => {
      const fields: GraphQLInputFieldConfigMap = {
        _and: { type: listOf(condition) },
        _not: { type: condition },
        _or: { type: listOf(condition) },
      };
      for (const { name, type } of shownColumns(table)) fields[name] = { type: COMPARISONS[type] };
      for (const relation of table.relations) {
        const other = inputTypesOf(tableOf(relation.table));
        fields[relation.name] = { type: other.condition };
        if (hasAggregateField(relation)) {
          fields[relation.name + AGGREGATE_SUFFIX] = { type: other.aggregateCondition! };
        }
      }
      return fields;
    },
  });
  return condition;
}

function orderOf(table: Table): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: `${table.name}_order_by`,
    fields: () => {
      const fields: GraphQLInputFieldConfigMap = {};
      for (const { name } of shownColumns(table)) fields[name] = { type: ORDER_BY };
      for (const relation of table.relations) {
        const other = inputTypesOf(tableOf(relation.table));
        if (relation.kind === 'object') fields[relation.name] = { type: other.order };
        else fields[relation.name + AGGREGATE_SUFFIX] = { type: other.aggregateOrder };
      }
      return fields;
    },
  });
}

function aggregateOrderOf(table: Table): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: `${table.name}_aggregate_order_by`,
    fields: () => {
      const fields: GraphQLInputFieldConfigMap = { count: { type: ORDER_BY } };
      for (const { name, of } of AGGREGATE_FUNCTIONS) {
        const columns = shownColumns(table).filter((column) => of(column.type));
        if (columns.length === 0) continue;
        const type = new GraphQLInputObjectType({
          name: `${table.name}_${name}_order_by`,
          fields: Object.fromEntries(columns.map((column) => [column.name, { type: ORDER_BY }])),
        });
        fields[name] = { type };
      }
      return fields;
    },
  });
}

function aggregateConditionOf(table: Table, column: GraphQLEnumType): GraphQLInputObjectType {
  const name = `${table.name}_aggregate_bool_exp`;
  const flags = shownColumns(table).filter(({ type }) => type === 'boolean');
  const part = (operator: string, argument: GraphQLInputType, predicate: GraphQLInputType) => ({
    type: new GraphQLInputObjectType({
      name: `${name}_${operator}`,
      fields: () => ({
        arguments: { type: argument },
        distinct: { type: GraphQLBoolean },
        filter: { type: inputTypesOf(table).condition },
        predicate: { type: required(predicate) },
      }),
    }),
  });
  const fields: GraphQLInputFieldConfigMap = {
    count: part('count', listOf(column), COMPARISONS.integer),
  };
  for (const operator of flags.length === 0 ? [] : ['bool_and', 'bool_or']) {
    const columns = columnsOf(
      `${table.name}_select_column_${name}_${operator}_arguments_columns`,
      flags,
    );
    fields[operator] = part(operator, required(columns), COMPARISONS.boolean);
  }
  return new GraphQLInputObjectType({ name, fields });
}

/** Arguments of a field that shows rows of a table, or an aggregate of them. */
export function selectionArguments(table: Table): GraphQLFieldConfigArgumentMap {
  const { condition, order, column } = inputTypesOf(table);
  return {
    distinct_on: { type: listOf(column) },
    limit: { type: GraphQLInt },
    offset: { type: GraphQLInt },
    order_by: { type: listOf(order) },
    where: { type: condition },
  };
}

export function countArguments(table: Table): GraphQLFieldConfigArgumentMap {
  return {
    columns: { type: listOf(inputTypesOf(table).column) },
    distinct: { type: GraphQLBoolean },
  };
}
