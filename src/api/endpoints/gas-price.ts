/** `GET /v1/estimate_gas_price` (docs/spec/transactions.md §7). */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { GasEstimationSchema } from '../schemas/state-schemas.ts';
import { defineRead } from './endpoint.ts';

export const estimateGasPriceEndpoint = defineRead({
  operationId: 'estimate_gas_price',
  tag: 'Transactions',
  summary: 'Estimate gas price',
  description:
    'Estimates the price of a unit of gas from the chain’s minimum and from the lowest prices in recent ' +
    'blocks that were full. Without stored transactions it follows from the minimum alone.',
  isDecidedByView: true,
  path: '/estimate_gas_price',
  parameters: {},
  switchName: 'Estimate gas price',
  results: {
    description: 'Three estimates.',
    json: GasEstimationSchema,
    bcs: 'The middle estimate alone, a u64.',
  },
  failures: [400, 403, 500, 503],
  async answer({ view, format }) {
    const { low, market, aggressive } = await view.gasPrices();
    // Numbers above 2^53 are exact as text only.
    const json =
      `{"deprioritized_gas_estimate":${low},"gas_estimate":${market},` +
      `"prioritized_gas_estimate":${aggressive}}`;
    return { body: format === 'json' ? json : encodeBcs((writer) => writer.u64(market)) };
  },
});
