/**
 * Requests as bytes: every endpoint with values that are right, almost right or wrong; and bytes that are no request.
 */
import fc from 'fast-check';
import type { AnyEndpoint } from '../src/api/endpoints/endpoint.ts';
import type { Parameters } from '../src/api/endpoints/parameters.ts';
import { ENDPOINTS } from '../src/api/http/endpoint-list.ts';
import { encodeBcs } from '../src/move/bcs/bcs-writer.ts';
import { GOOD_REQUEST } from '../test/api/hostile-bodies.ts';
import { almost, damaged, json } from '../test/api/hostile-json.ts';
import { WIRE_TYPES } from '../test/move/transactions/wire-types.ts';
import type { Random } from '../test/random.ts';
import { mutate } from './target.ts';

const SAMPLES = 300;
const PUBLISHER = '0xcafeef724f479a8de22ed68b92ca2cc6887aa6e28ba16b62e9b5a9869212691b';

const ADDRESSES = ['0x1', '0xa', PUBLISHER, '0xb0b', '0x0', 'zz', `0x${'f'.repeat(64)}`];
const TYPES = [
  '0x1::aptos_coin::AptosCoin',
  '0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>',
  '0x1::account::Account',
  '0x1::object::ObjectCore',
  `${PUBLISHER}::ticker::Tick`,
  '0x1::block::NewBlockEvent',
  'u64',
  'vector<u8>',
  '0x1::a::B<',
];
const NUMBERS = ['0', '1', '2', '4', '100', '300', '301', '9999999', '18446744073709551615', '-1'];
const NAMES = ['coin', 'account', 'ticker', 'journal', 'withdraw_events', 'none', '__proto__'];
const HASHES = [`0x${'0'.repeat(64)}`, `0x${'ab'.repeat(32)}`, '0x1'];
const WORDS = [
  '',
  '%',
  '%00',
  '%zz',
  '..',
  '%2e%2e',
  'é',
  'a b',
  'a%20b',
  '?',
  '#',
  '😀',
  'x'.repeat(300),
];

/** Values for the parameters whose names match. */
const VALUES: readonly (readonly [name: RegExp, values: readonly string[]])[] = [
  [/address|table_handle|account/, ADDRESSES],
  [/hash/, HASHES],
  [/type|handle|asset/, TYPES],
  [/name/, NAMES],
  [/./, NUMBERS],
];
const ACCEPTS = [
  ...['application/json', 'application/x-bcs', '*/*', 'text/event-stream', ',;', 'x/y;q=0'],
  'application/x-bcs;q=0.5,application/json',
];
const HEADERS = [
  ...[
    'If-None-Match: *',
    'If-None-Match: W/"',
    'Accept-Encoding: gzip, br',
    'Accept-Encoding: ;q=',
  ],
  ...['Origin: https://a.example', 'Last-Event-ID: 5', 'Last-Event-ID: x', 'Range: bytes=0-1'],
  ...['X-Node-Min-Ledger-Version: 10', 'X-Node-Min-Ledger-Version: 99', 'Expect: 100-continue'],
  ...['Content-Encoding: gzip', 'Content-Encoding: br', 'Forwarded: for=x', 'Cookie: a=b'],
];
const CONTENT_TYPES = [
  ...['application/json', 'application/json; charset=utf-8', 'text/plain'],
  ...['application/x.aptos.view_function+bcs', 'application/x.aptos.signed_transaction+bcs'],
  ...['application/x-bcs', ''],
];
const VIEW = {
  function: '0x1::coin::balance',
  type_arguments: ['0x1::aptos_coin::AptosCoin'],
  arguments: [PUBLISHER],
};
const BATCH = { requests: ['/accounts/0x1', '/', { path: '/view', body: VIEW }] };

/** Header lines that a request should not have, on which two parsers must not disagree. */
const SMUGGLING = [
  ...['Content-Length: 5\r\nTransfer-Encoding: chunked', 'Content-Length: 5\r\nContent-Length: 6'],
  ...['Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', 'Transfer-Encoding: xchunked'],
  ...['Transfer-Encoding : chunked', 'Transfer-Encoding:\tchunked', ' Transfer-Encoding: chunked'],
  ...['Content-Length: +5', 'Content-Length: 0x5', 'Content-Length: 5, 5', 'Content-Length: -1'],
  ...[
    'Content-Length: 99999999999999999999',
    'X: a\n b',
    'X: \0',
    ': x',
    'X',
    'Host: a\r\nHost: b',
  ],
  ...['Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings', 'Connection: \xff', 'Trailer: x'],
];
const CHUNKED = [
  ...[
    '5\r\nhello\r\n0\r\n\r\n',
    '5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n',
    '0\r\n\r\n',
    'ffffffff\r\nx',
  ],
  ...['-1\r\n\r\n', '5\nhello\n0\n\n', '00000000000005\r\nhello\r\n0\r\n\r\n', 'z\r\n'],
];

export class RequestMaker {
  readonly #random: Random;
  readonly #bodies: readonly Buffer[];

  constructor(seed: number, random: Random) {
    this.#random = random;
    this.#bodies = bodiesOf(seed);
  }

  /** Complete requests that a server must answer one by one; the last one closes the connection. */
  pipeline(count: number): Buffer {
    const requests: Buffer[] = [];
    for (let at = 1; at <= count; at += 1) requests.push(this.request(at === count));
    return Buffer.concat(requests);
  }

  request(isLast: boolean): Buffer {
    const { below } = this.#random;
    const endpoint = this.#random.pick(ENDPOINTS);
    const target = this.#target(endpoint);
    const lines = [`Host: x`, `Accept: ${this.#random.pick(ACCEPTS)}`];
    if (below(3) === 0) lines.push(this.#random.pick(HEADERS));
    if (isLast) lines.push('Connection: close');
    if (endpoint.method === 'GET') {
      const method =
        isLast && below(8) === 0 ? this.#random.pick(['HEAD', 'OPTIONS', 'PUT']) : 'GET';
      return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    }
    let body = this.#random.pick(this.#bodies);
    if (below(2) === 0) body = mutate(body, this.#random.pick(this.#bodies), this.#random);
    lines.push(`Content-Type: ${this.#random.pick(CONTENT_TYPES)}`);
    lines.push(`Content-Length: ${body.length}`);
    const head = `POST ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head, 'latin1'), body]);
  }

  /** An invalid request, followed by a valid one. */
  odd(): Buffer {
    const { below } = this.#random;
    const good = this.request(true);
    switch (below(5)) {
      case 0:
        return mutate(good, this.request(true), this.#random);
      case 1: {
        const head = `POST /v1/view HTTP/1.1\r\nHost: x\r\n${this.#random.pick(SMUGGLING)}\r\n\r\n`;
        return Buffer.concat([Buffer.from(head + this.#random.pick(CHUNKED), 'latin1'), good]);
      }
      case 2: {
        const length = this.#random.pick([1_000, 16_000, 70_000, 81_000, 300_000]);
        const filler = this.#random.pick(['x', '%41', '/a', 'a=b&', 'X: y\r\n', ',', '<']);
        const long = filler.repeat(length / filler.length);
        return Buffer.from(
          below(2) === 0
            ? `GET /v1/${long} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
            : `GET /v1 HTTP/1.1\r\nHost: x\r\nAccept: ${long}\r\nConnection: close\r\n\r\n`,
        );
      }
      case 3: {
        const chunks = this.#random.pick(CHUNKED);
        const head = 'Host: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked';
        const path = this.#random.pick(['view', 'batch', 'transactions/encode_submission']);
        const text = `POST /v1/${path} HTTP/1.1\r\n${head}\r\n\r\n${chunks}`;
        return Buffer.concat([Buffer.from(text, 'latin1'), good]);
      }
      default:
        return this.#random.bytes(1 + below(300));
    }
  }

  #target(endpoint: AnyEndpoint): string {
    const { below } = this.#random;
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => this.#value(name));
    const query: string[] = [];
    const parameters: Parameters = endpoint.parameters;
    for (const [name, { in: place }] of Object.entries(parameters)) {
      if (place === 'query' && below(2) === 0) query.push(`${name}=${this.#value(name)}`);
    }
    if (below(8) === 0) query.push(`${this.#word()}=${this.#word()}`);
    const whole = `/v1${path}${query.length === 0 ? '' : `?${query.join('&')}`}`;
    return whole.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
  }

  #value(name: string): string {
    const { below } = this.#random;
    if (below(10) === 0) return this.#word();
    const [, values] = VALUES.find(([pattern]) => pattern.test(name))!;
    const value = below(20) === 0 ? this.#random.pick(TYPES) : this.#random.pick(values);
    if (below(10) > 0) return encodeURIComponent(value);
    const bytes = mutate(Buffer.from(value), Buffer.from(this.#word()), this.#random);
    return encodeURIComponent(bytes.toString('latin1'));
  }

  #word(): string {
    return this.#random.pick(WORDS);
  }
}

function bodiesOf(seed: number): Buffer[] {
  const sampled = (bodies: fc.Arbitrary<string | Buffer>) =>
    fc.sample(bodies, { seed, numRuns: SAMPLES }).map((body) => Buffer.from(body));
  const { value, write } = WIRE_TYPES['SignedTransaction']!;
  const signed = fc
    .sample(value, { seed, numRuns: SAMPLES })
    .map((one) => encodeBcs((writer) => write(writer, one)));
  const whole = [GOOD_REQUEST, VIEW, BATCH, { key_type: 'u64', value_type: 'u64', key: '1' }];
  return [
    ...whole.flatMap((body) => Array.from({ length: 60 }, () => Buffer.from(JSON.stringify(body)))),
    ...[...sampled(json), ...sampled(almost), ...sampled(damaged), ...signed],
  ];
}
