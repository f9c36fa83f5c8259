/** A request for encode submission that the small ledger can encode. */
import type { TestApi, TestReply } from './client.ts';

/** Path of the endpoint. */
export const ENCODE = '/v1/transactions/encode_submission';

/** Calls `0x1::m::f` of the small ledger. */
export const REQUEST = {
  sender: '0xcafe',
  sequence_number: '1',
  max_gas_amount: '2',
  gas_unit_price: '3',
  expiration_timestamp_secs: '4',
  payload: {
    type: 'entry_function_payload',
    function: '0x1::m::f',
    type_arguments: [],
    arguments: ['5'],
  },
};

/** Sends a body as JSON. */
export function postEncode(
  app: TestApi,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestReply> {
  return app.request({
    method: 'POST',
    url: ENCODE,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}
