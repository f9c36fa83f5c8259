/** Texts of requests: JSON compared with JSON.parse, types in both directions, numbers, addresses, times, headers. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { parseTimeText } from '../../src/api/endpoints/time-text.ts';
import { Clients } from '../../src/api/load/request-client.ts';
import { chooseCoding, chooseFormat, prefersEvents } from '../../src/api/negotiation.ts';
import { isWellEncoded, Query, splitTarget } from '../../src/api/request-target.ts';
import { parseHex } from '../../src/move/bcs/hex.ts';
import { plainJson } from '../../src/move/json/json-plain.ts';
import { JsonSyntaxError, parseJson } from '../../src/move/json/json-text.ts';
import { formatJson } from '../../src/move/json/json-text-print.ts';
import { parseU64 } from '../../src/move/json/u64-text.ts';
import { parseAddress } from '../../src/move/types/address.ts';
import { parseTypeTag } from '../../src/move/types/type-parser.ts';
import { formatTypeTag } from '../../src/move/types/type-tag.ts';
import { Finding } from '../target.ts';
import { decoderTarget } from './decoders.ts';

/** Rejected here, but not by JSON.parse (docs/spec/encode.md §A1). */
const STRICTER: readonly string[] = [
  'lone_surrogate',
  'unexpected_end_of_escape',
  'invalid_unicode',
  'too_deep',
  'too_large',
];

function runJson(bytes: Buffer): void {
  let expected: unknown;
  let isJson = true;
  try {
    expected = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    isJson = false;
  }
  let value: unknown;
  try {
    const parsed = parseJson(bytes);
    value = plainJson(parsed);
    const again = plainJson(parseJson(Buffer.from(formatJson(parsed))));
    // Both print -0 as 0.
    if (JSON.stringify(again) !== JSON.stringify(value))
      throw new Finding('JSON is printed as another value');
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    if (isJson && !STRICTER.includes(error.code)) {
      throw new Finding(`JSON is refused: ${error.message}`);
    }
    return;
  }
  if (!isJson) throw new Finding('what is not JSON is taken');
  if (!isDeepStrictEqual(value, expected)) throw new Finding('JSON means another value');
}

const PROXIES = new Clients('127.0.0.1, 10.0.0.0/8, ::1, fd00::/8');

/** A trusted proxy names the client by an address, or by the first half of one. */
function runForwarded(bytes: Buffer): void {
  const forwarded = bytes.toString('latin1');
  const socket = { remoteAddress: '127.0.0.1' };
  const client = PROXIES.of({ socket, headers: { forwarded } } as unknown as IncomingMessage);
  if (isIP(client) !== 0 || isIP(`${client}::`) === 6) return;
  throw new Finding(`a client without an address: ${JSON.stringify(client)}`);
}

function runProxies(bytes: Buffer): void {
  try {
    new Clients(bytes.toString('latin1'));
  } catch (error) {
    if (!(error instanceof TypeError && error.message.startsWith('trusted_proxies:'))) throw error;
  }
}

/** Date must format a parsed time to the same instant. */
function runTime(bytes: Buffer): void {
  const usecs = parseTimeText(bytes.toString('latin1'));
  if (usecs === undefined) return;
  const written = new Date(Number(usecs / 1000n)).toISOString();
  const again = parseTimeText(written.replace('Z', `${String(usecs % 1000n).padStart(3, '0')}Z`));
  if (again !== usecs) throw new Finding(`a time is written as another: ${written}`);
}

function runTarget(bytes: Buffer): void {
  const { path, query } = splitTarget(bytes.toString('latin1'));
  isWellEncoded(path);
  const read = new Query(query);
  for (const name of ['start', 'limit', '']) read.first(name);
}

function runAccept(bytes: Buffer): void {
  const text = bytes.toString('latin1');
  chooseFormat(text);
  prefersEvents(text);
  chooseCoding(text);
}

const texts = (samples: readonly string[]) => () => samples.map((text) => Buffer.from(text));

export const textsTarget = decoderTarget(
  'texts',
  'JSON, types, numbers, addresses, times, headers',
  [
    {
      name: 'JSON',
      samples: texts([
        '{"sender":"0x1","n":[1,-2.5e+10,true,false,null,{"a":{"b":"\\u00e9\\ud83d\\ude00\\n"}}]}',
        '[[],{},"",0,-0,1E400,123456789012345678901234567890,"\\"\\\\\\/\\b\\f\\r\\t"]',
        '  "é😀"  ',
        '{"__proto__":1,"constructor":{"a":1,"a":2}}',
      ]),
      run: runJson,
    },
    {
      name: 'type',
      samples: texts([
        'u64',
        'vector<vector<u8>>',
        '0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin, bool>',
        '|u8, &mut address|(u64, bool) has copy + drop',
        '0xcafe::a::B<0x1::c::D<signer,i128>>',
      ]),
      run: (bytes) => {
        const tag = parseTypeTag(bytes.toString('utf8'));
        const text = formatTypeTag(tag);
        if (!isDeepStrictEqual(parseTypeTag(text), tag)) {
          throw new Finding(`a type is written as another: ${text}`);
        }
      },
    },
    {
      name: 'number',
      samples: texts(['0', '18446744073709551615', '18446744073709551616', '007', '+1', '-0']),
      run: (bytes) => {
        const text = bytes.toString('utf8');
        const value = parseU64(text);
        if (value !== BigInt(text.replace(/^\+/, ''))) throw new Finding('another number');
      },
    },
    {
      name: 'address',
      samples: texts(['0x1', '1', '0xcafe', `0x${'f'.repeat(64)}`, `0x${'0'.repeat(65)}`]),
      run: (bytes) => void parseAddress(bytes.toString('utf8')),
    },
    {
      name: 'hex',
      samples: texts(['0x', '0xab', 'ABcd', '0xa']),
      run: (bytes) => void parseHex(bytes.toString('utf8')),
    },
    {
      name: 'Forwarded',
      samples: texts([
        'for=192.0.2.60',
        'for="[2001:db8:cafe::17]:4711";proto=http, for=10.1.2.3:80;by=x',
        'for=10.0.0.1, for=10.0.0.2, for=_hidden, for=unknown',
        'For="[::ffff:192.0.2.1]"; host="a;b,c"',
      ]),
      run: runForwarded,
    },
    {
      name: 'trusted proxies',
      samples: texts(['127.0.0.1, 10.0.0.0/8', '::1,fd00::/8', '::ffff:10.0.0.1/104', '0.0.0.0/0']),
      run: runProxies,
    },
    {
      name: 'time',
      samples: texts([
        '2026-01-01T00:00:11.123456Z',
        '2024-02-29T23:59:59+14:00',
        '1970-01-01T00:00:00 00:30',
      ]),
      run: runTime,
    },
    {
      name: 'target',
      samples: texts([
        '/v1/accounts/0x1/events/2?start=0&limit=%31',
        '/v1?a=b&a=c&=&%zz#x',
        'http://h/v1//%2e%2e',
      ]),
      run: runTarget,
    },
    {
      name: 'Accept',
      samples: texts([
        'application/x-bcs;q=0.5,application/json',
        'text/event-stream;q="0,5", */*;q=0.001',
        'gzip;q=0, br;q=1.000, identity',
      ]),
      run: runAccept,
    },
  ],
);
