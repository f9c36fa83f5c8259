/** Types of values in the GraphQL schema. input-values.ts reads their values, and PostgreSQL writes them. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLFloat,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import type { SqlType } from '../catalogue/table.ts';

const scalar = (name: string, description: string): GraphQLScalarType =>
  new GraphQLScalarType({ name, description });

const BIGINT = scalar('bigint', 'An integer of 64 bits: a JSON number; given as a number or text.');
const NUMERIC = scalar(
  'numeric',
  'A decimal number of any size: a JSON number; given as a number or text.',
);
const TIMESTAMP = scalar('timestamp', 'Date and time in UTC, without a zone, in ISO 8601.');
const JSONB = scalar('jsonb', 'Any JSON.');

export const SCALARS: Readonly<Record<SqlType, GraphQLScalarType>> = {
  text: GraphQLString,
  bigint: BIGINT,
  integer: GraphQLInt,
  numeric: NUMERIC,
  boolean: GraphQLBoolean,
  timestamp: TIMESTAMP,
  jsonb: JSONB,
};

export const ORDER_BY = new GraphQLEnumType({
  name: 'order_by',
  values: {
    asc: { description: 'ascending, nulls last' },
    asc_nulls_first: {},
    asc_nulls_last: {},
    desc: { description: 'descending, nulls first' },
    desc_nulls_first: {},
    desc_nulls_last: {},
  },
});

const listOf = (type: GraphQLInputType): GraphQLInputType =>
  new GraphQLList(new GraphQLNonNull(type));

const fieldsWith = (names: readonly string[], type: GraphQLInputType) =>
  Object.fromEntries(names.map((name) => [name, { type }]));

export const PATTERN_OPERATORS = [
  '_like',
  '_nlike',
  '_ilike',
  '_nilike',
  '_similar',
  '_nsimilar',
  '_regex',
  '_nregex',
  '_iregex',
  '_niregex',
] as const;

function comparisonOf(type: SqlType): GraphQLInputObjectType {
  const value = SCALARS[type];
  return new GraphQLInputObjectType({
    name: `${value.name}_comparison_exp`,
    fields: () => ({
      ...fieldsWith(['_eq', '_neq', '_gt', '_gte', '_lt', '_lte'], value),
      ...fieldsWith(['_in', '_nin'], listOf(value)),
      _is_null: { type: GraphQLBoolean },
      ...(type === 'text' ? fieldsWith(PATTERN_OPERATORS, GraphQLString) : {}),
      ...(type === 'jsonb'
        ? {
            _cast: { type: JSONB_CAST },
            ...fieldsWith(['_contains', '_contained_in'], JSONB),
            _has_key: { type: GraphQLString },
            ...fieldsWith(['_has_keys_all', '_has_keys_any'], listOf(GraphQLString)),
          }
        : {}),
    }),
  });
}

export const COMPARISONS: Readonly<Record<SqlType, GraphQLInputObjectType>> = {
  text: comparisonOf('text'),
  bigint: comparisonOf('bigint'),
  integer: comparisonOf('integer'),
  numeric: comparisonOf('numeric'),
  boolean: comparisonOf('boolean'),
  timestamp: comparisonOf('timestamp'),
  jsonb: comparisonOf('jsonb'),
};

const JSONB_CAST = new GraphQLInputObjectType({
  name: 'jsonb_cast_exp',
  fields: { String: { type: COMPARISONS.text } },
});

/** An aggregate function: the types of columns that it takes, and the type of its result. */
interface AggregateFunction {
  readonly name: string;
  readonly of: (type: SqlType) => boolean;
  readonly type: (type: SqlType) => GraphQLScalarType;
}

const isNumber = (type: SqlType): boolean =>
  type === 'bigint' || type === 'integer' || type === 'numeric';

export const AGGREGATE_FUNCTIONS: readonly AggregateFunction[] = [
  ...['max', 'min'].map((name) => ({
    name,
    of: (type: SqlType) => type !== 'boolean' && type !== 'jsonb',
    type: (type: SqlType) => SCALARS[type],
  })),
  { name: 'sum', of: isNumber, type: (type) => SCALARS[type] },
  ...['avg', 'stddev', 'stddev_pop', 'stddev_samp', 'var_pop', 'var_samp', 'variance'].map(
    (name) => ({ name, of: isNumber, type: () => GraphQLFloat }),
  ),
];
