/** Schemas of reads of state by key, of gas prices, of node facts and of auxiliary infos of transactions. */
import { Type } from './json-schema.ts';
import { AnyValueSchema, closedObject, MoveTypeSchema, nullable, request } from './schemas.ts';

export const TableItemRequestSchema = request(
  'TableItemRequest',
  'Which item of a table to read.',
  {
    key_type: MoveTypeSchema,
    value_type: MoveTypeSchema,
    key: AnyValueSchema,
  },
);

const KeySchema = Type.String({
  $id: 'KeyBytes',
  description: 'BCS of a key in hex; `0x` optional.',
  format: 'hex',
  pattern: '^(0x)?([0-9a-fA-F]{2})*$',
});

export const RawTableItemRequestSchema = request(
  'RawTableItemRequest',
  'Which item of a table to read, by the BCS of its key.',
  { key: KeySchema },
);

export const RawStateValueRequestSchema = request(
  'RawStateValueRequest',
  'Which state value to read, by the BCS of its StateKey.',
  { key: KeySchema },
);

const IndexerConfigSchema = closedObject('InternalIndexerConfig', 'What is indexed.', {
  enable_transaction: Type.Boolean(),
  enable_event: Type.Boolean(),
  enable_event_v2_translation: Type.Boolean(),
  event_v2_translation_ignores_below_version: Type.Integer({ minimum: 0 }),
  enable_statekeys: Type.Boolean(),
  batch_size: Type.Integer({ minimum: 0 }),
  runtime_threads: nullable(Type.Integer({ minimum: 0 }), 'Always null.'),
});

export const NodeInfoSchema = closedObject('NodeInfo', 'How the node works.', {
  chain_id: Type.String({ description: 'Name of the chain, or its id.', examples: ['testing'] }),
  node_type: Type.Enum(['Validator', 'PublicFullnode']),
  bootstrapping_mode: Type.Literal('ApplyTransactionOutputsFromGenesis'),
  continuous_syncing_mode: Type.Literal('ApplyTransactionOutputs'),
  new_storage_format: Type.Boolean(),
  internal_indexer_config: IndexerConfigSchema,
});

const GasPriceSchema = Type.Integer({ format: 'uint64', minimum: 0 });

export const GasEstimationSchema = closedObject(
  'GasEstimation',
  'Prices of a unit of gas, in octas.',
  {
    deprioritized_gas_estimate: GasPriceSchema,
    gas_estimate: GasPriceSchema,
    prioritized_gas_estimate: GasPriceSchema,
  },
);

const AuxiliaryInfoSchema = closedObject(
  'PersistedAuxiliaryInfo',
  'What the chain stored with a transaction.',
  {
    transaction_index: nullable(
      Type.Integer({ format: 'uint32', minimum: 0 }),
      'Index in its block; null where the chain did not store it.',
    ),
  },
);

export const AuxiliaryInfosSchema = Type.Array(AuxiliaryInfoSchema, {
  description: 'One for each version, ascending.',
});
