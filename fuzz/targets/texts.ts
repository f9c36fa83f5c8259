/** JSON held against JSON.parse, types in both directions, numbers and addresses. */
import { isDeepStrictEqual } from 'node:util';
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

/** Refused here, and not by JSON.parse (docs/spec/encode.md §A1). */
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
    // A number that is -0 is printed as 0, by both.
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

const texts = (samples: readonly string[]) => () => samples.map((text) => Buffer.from(text));

export const textsTarget = decoderTarget('texts', 'JSON, types, numbers, addresses, hex', [
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
]);
