/** Malicious request bodies: as large as allowed, and designed to cost as much as possible. */

import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import type { TransactionArgument } from '../../src/move/transactions/transaction-argument.ts';
import { padAddress } from '../../src/move/types/address.ts';
import type { TypeTag } from '../../src/move/types/type-tag.ts';
import { messageOf, rawTransaction } from '../ledger/signing-bytes.ts';

/** The body limit. */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

const FIELDS = {
  sender: '0x1',
  sequence_number: '1',
  max_gas_amount: '1',
  gas_unit_price: '1',
  expiration_timestamp_secs: '1',
};

/** A request that can be encoded. */
export const GOOD_REQUEST = {
  ...FIELDS,
  payload: {
    type: 'entry_function_payload',
    function: '0x2::m::integers',
    type_arguments: [],
    arguments: [1, '2', '3', true, '0x1'],
  },
};

type Body = readonly [name: string, make: () => Buffer];

/** `before`, as many items as the limit allows, `after`. Every item ends with a comma. */
function filled(before: string, item: string, after: string): Buffer {
  const count = Math.floor((BODY_LIMIT_BYTES - before.length - after.length) / item.length);
  return Buffer.from(before + item.repeat(count - 1) + item.slice(0, -1) + after);
}

/** The text of a request before and after the placeholder. */
function around(request: object): readonly [string, string] {
  return JSON.stringify({ ...FIELDS, ...request }).split('"@"') as [string, string];
}

function call(name: string, typeArguments: readonly string[] = []): readonly [string, string] {
  const payload = {
    type: 'entry_function_payload',
    function: `0x2::m::${name}`,
    type_arguments: typeArguments,
    arguments: '@',
  };
  return around({ payload });
}

function inCall(name: string, before: string, item: string, after: string): Buffer {
  const [start, end] = call(name, name === 'generic' ? ['u8'] : []);
  return filled(start + before, item, after + end);
}

function names(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',');
}

const ROOM = BODY_LIMIT_BYTES - 1_000;

/** Bodies for encode submission. */
export const ENCODE_BODIES: readonly Body[] = [
  ['objects', () => filled('[', '{},', ']')],
  ['lists', () => filled('[', '[],', ']')],
  ['numbers', () => filled('[', '1,', ']')],
  ['texts', () => filled('[', '"",', ']')],
  [
    'numbers as a payload',
    () => filled(`${JSON.stringify(FIELDS).slice(0, -1)},"payload":[`, '1,', ']}'),
  ],
  ['one text', () => Buffer.from(`"${'a'.repeat(ROOM)}"`)],
  ['one text of escapes', () => Buffer.from(`"${'\\u00e9'.repeat(ROOM / 6)}"`)],
  ['one number', () => Buffer.from('1'.repeat(BODY_LIMIT_BYTES))],
  ['one number with an exponent', () => Buffer.from(`1e${'9'.repeat(ROOM)}`)],
  ['deep lists', () => Buffer.from('['.repeat(BODY_LIMIT_BYTES))],
  ['deep objects', () => Buffer.from('{"a":'.repeat(ROOM / 5))],
  ['many names', () => Buffer.from(`{${names(500_000)}}`)],
  ['one name many times', () => filled('{', '"__proto__":1,', '}')],
  ['bytes that are no UTF-8', () => Buffer.alloc(BODY_LIMIT_BYTES, 0xff)],
  ['blanks', () => Buffer.alloc(BODY_LIMIT_BYTES, 0x20)],
  ['a sender', () => Buffer.from(JSON.stringify({ ...FIELDS, sender: '1'.repeat(ROOM) }))],
  ['digits', () => Buffer.from(JSON.stringify({ ...FIELDS, sequence_number: '9'.repeat(ROOM) }))],
  ['zeros', () => Buffer.from(JSON.stringify({ ...FIELDS, sequence_number: '0'.repeat(ROOM) }))],
  ['arguments', () => inCall('lists', '[', '"1",', ']')],
  ['arguments of an unknown function', () => inCall('none', '[', '1,', ']')],
  ['objects as arguments', () => inCall('lists', '[', '{},', ']')],
  ['a long list of integers', () => inCall('lists', '[[', '"1",', '],[],[]]')],
  ['a long list of bools', () => inCall('lists', '[[],[[', 'true,', ']],[]]')],
  ['a long list of a type argument', () => inCall('generic', '[1,[', '1,', '],{}]')],
  ['a long list of structs', () => inCall('structs', '[{},[', '{"dummy_field":true},', '],{}]')],
  ['a long list of bytes', () => inCall('bytes', '["",[', '"",', ']]')],
  ['bytes', () => Buffer.from(call('bytes').join(`["${'ab'.repeat(ROOM / 2)}",[]]`))],
  ['bad bytes', () => Buffer.from(call('bytes').join(`["${'ab'.repeat(ROOM / 2)}z",[]]`))],
  ['text', () => Buffer.from(call('texts').join(`["${'é'.repeat(ROOM / 2)}",[]]`))],
  [
    'unknown fields',
    () =>
      Buffer.from(
        call('structs').join(`[{"__proto__":1,"constructor":[]},[],{"Red":{${names(300_000)}}}]`),
      ),
  ],
  ['a long type', () => Buffer.from(call('many', [`0x2::m::${'a'.repeat(ROOM)}`]).join('[]'))],
  ...[1_000, 60_000, 300_000].map(
    (count): Body => [
      `a type of ${count} in 200 parameters`,
      () => {
        const type = `0x2::m::Pair<${'u8,'.repeat(count)}u8>`;
        return Buffer.from(call('many', [type]).join(`[${'[],'.repeat(199)}[]]`));
      },
    ],
  ),
  [
    'type arguments',
    () => {
      const payload = {
        type: 'entry_function_payload',
        function: '0x2::m::many',
        type_arguments: ['@'],
        arguments: [],
      };
      const [before, after] = around({ payload });
      return filled(before, '"u8",', after);
    },
  ],
  [
    'signers',
    () => {
      const payload = { type: 'multisig_payload', multisig_address: '0x1' };
      const [before, after] = around({ payload, secondary_signers: ['@'] });
      return filled(before, '"1",', after);
    },
  ],
  [
    'a script that is no script',
    () => {
      const code = { bytecode: 'a1'.repeat(ROOM / 2) };
      const payload = { type: 'script_payload', code, type_arguments: [], arguments: [] };
      return Buffer.from(JSON.stringify({ ...FIELDS, payload }));
    },
  ],
];

function message(bytes: Buffer): Buffer {
  return Buffer.from(JSON.stringify(formatHex(bytes)));
}

function decodedCall(name: string, args: Buffer[], typeArguments: readonly TypeTag[] = []): Buffer {
  const module = { address: padAddress('2'), name: 'm' };
  const payload = { kind: 'entryFunction', module, function: name, typeArguments, args } as const;
  return message(messageOf(rawTransaction(payload)));
}

function decodedScript(args: readonly TransactionArgument[]): Buffer {
  const code = Buffer.from('64', 'hex');
  const payload = { kind: 'script', code, typeArguments: [], args } as const;
  return message(messageOf(rawTransaction(payload)));
}

function vector(count: number, item: Buffer): Buffer {
  return encodeBcs((writer) => {
    writer.uleb32(count);
    for (let index = 0; index < count; index += 1) writer.fixed(item);
  });
}

function times<T>(count: number, item: T): T[] {
  return Array.from({ length: count }, () => item);
}

function structTag(name: string, typeArguments: readonly TypeTag[]): TypeTag {
  const struct = { address: padAddress('2'), module: 'm', name, typeArguments };
  return { kind: 'struct', struct };
}

const NONE = Buffer.of(0);

/** Bodies for decode submission. */
export const DECODE_BODIES: readonly Body[] = [
  ['hex', () => Buffer.from(`"${'ab'.repeat(ROOM / 2)}"`)],
  ['no hex', () => Buffer.from(`"${'zz'.repeat(ROOM / 2)}"`)],
  ['no text', () => filled('[', '1,', ']')],
  ['arguments', () => decodedCall('integers', times(65_000, Buffer.alloc(15)))],
  ['integers', () => decodedCall('lists', [vector(130_000, Buffer.alloc(8)), NONE, NONE])],
  ['small integers', () => decodedCall('lists', [NONE, NONE, vector(520_000, Buffer.alloc(2))])],
  [
    'bools',
    () =>
      decodedCall('lists', [NONE, Buffer.concat([Buffer.of(1), vector(1_000_000, NONE)]), NONE]),
  ],
  ['texts', () => decodedCall('texts', [NONE, vector(520_000, Buffer.of(1, 1))])],
  ['structs', () => decodedCall('structs', [Buffer.of(0, 0), vector(65_000, Buffer.of(1)), NONE])],
  ['options', () => decodedCall('options', [NONE, vector(32_000, NONE)])],
  [
    'a wide type in 200 parameters',
    () => decodedCall('many', times(200, NONE), [structTag('Pair', times(65_000, { kind: 'u8' }))]),
  ],
  [
    'a long type in 200 parameters',
    () => decodedCall('many', times(200, NONE), [structTag('P'.repeat(1_000_000), [])]),
  ],
  ['script arguments', () => decodedScript(times(65_000, { kind: 'u8', value: 1 }))],
  [
    'values as script arguments',
    () => decodedScript(times(65_000, { kind: 'serialized', value: Buffer.alloc(10) })),
  ],
];
