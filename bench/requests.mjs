// Requests of the four operations, as load.mjs sends them.

const BCS = { accept: 'application/x-bcs' };

/** The same requests, answered in BCS. */
export function asBcs(requests) {
  return requests.map((request) => ({ ...request, headers: { ...request.headers, ...BCS } }));
}

/** @param {string} address 64 digits @param {bigint} [version] as of that version; absent: the newest */
export function balanceRequest(address, version) {
  const query = version === undefined ? '' : `?ledger_version=${version}`;
  return { path: `/v1/accounts/0x${address}/balance/0x1::aptos_coin::AptosCoin${query}` };
}

/** Events per page. */
export const PAGE_EVENTS = 25;

/** The newest events of a stream. */
export function eventsRequest({ address, creationNumber }) {
  return { path: `/v1/accounts/0x${address}/events/${creationNumber}?limit=${PAGE_EVENTS}` };
}

/** Every page of a stream: every start, every length. */
export function allPagesRequests({ address, creationNumber, events }) {
  const path = `/v1/accounts/0x${address}/events/${creationNumber}`;
  const requests = [];
  for (let start = 0; start < events; start += 1) {
    for (let limit = 1; start + limit <= events; limit += 1) {
      requests.push({ path: `${path}?start=${start}&limit=${limit}` });
    }
  }
  return requests;
}

export const MODULE_REQUEST = { path: '/v1/accounts/0x1/module/coin' };

/** @param {string} which `by_version/…` or `by_hash/…` */
export function transactionRequest(which) {
  return { path: `/v1/transactions/${which}` };
}

/** A POST of JSON. */
function postRequest(path, body) {
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', path, headers, body: JSON.stringify(body) };
}

/** @param {string} called `0x1::m::f` */
export function viewRequest(called, typeArguments, args) {
  const body = { function: called, type_arguments: typeArguments, arguments: args };
  return postRequest('/v1/view', body);
}

/** Reads without a body, at one version. */
export function batchRequest(requests) {
  return postRequest('/v1/batch', {
    requests: requests.map(({ path }) => ({ path: path.slice('/v1'.length) })),
  });
}

/** Requests the signing message of a transfer from an account to itself. */
export function encodeRequest(address, index) {
  const body = {
    sender: `0x${address}`,
    sequence_number: String(index),
    max_gas_amount: '2000',
    gas_unit_price: '100',
    expiration_timestamp_secs: '1893456000',
    payload: {
      type: 'entry_function_payload',
      function: '0x1::aptos_account::transfer',
      type_arguments: [],
      arguments: [`0x${address}`, String(1_000_000 + index)],
    },
  };
  return postRequest('/v1/transactions/encode_submission', body);
}
