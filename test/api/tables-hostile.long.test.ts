/** Malicious requests for table items (hostile-node.ts has the requirements). */
import { BODY_LIMIT_BYTES } from './hostile-bodies.ts';
import { describeLargestBodies, useHostileNode } from './hostile-node.ts';

const ROOM = BODY_LIMIT_BYTES - 1_000;
/** Just below the length limit of types. */
const TYPE_ROOM = 16_000;

function body(keyType: string, key: string, valueType = 'u8'): () => Buffer {
  const types = `"key_type":${JSON.stringify(keyType)},"value_type":${JSON.stringify(valueType)}`;
  return () => Buffer.from(`{${types},"key":${key}}`);
}

function list(item: string): string {
  return `[${item.repeat(Math.floor(ROOM / item.length) - 1)}${item.slice(0, -1)}]`;
}

function wide(item: string): string {
  const count = Math.floor(TYPE_ROOM / item.length) - 10;
  return `0x2::m::Pair<${item.repeat(count)}u8>`;
}

const DEEP = `0x2::m::Pair<${'0x2::m::Pair<'.repeat(5)}u8,u8${'>,u8'.repeat(5)}>`;

useHostileNode();
describeLargestBodies('/v1/tables/0x1/item', [
  ['bytes as a key', body('vector<u8>', `"${'ab'.repeat(ROOM / 2)}"`)],
  ['text as a key', body('0x1::string::String', `"${'é'.repeat(ROOM / 2)}"`)],
  ['a number as a key', body('u64', '9'.repeat(ROOM))],
  ['a text that is no number', body('u64', `"${'9'.repeat(ROOM)}"`)],
  ['a list of integers', body('vector<u64>', list('"1",'))],
  ['a list of bools', body('vector<bool>', list('true,'))],
  ['a list of structs', body('vector<0x2::m::Empty>', list('{"dummy_field":true},'))],
  ['a wrong list', body('u64', list('{},'))],
  ['a wide key type', body(wide('u8,'), '{}')],
  ['a key type wide in structs', body(wide('0x2::m::Empty,'), '{}')],
  ['a wide value type', body('u8', '1', wide('u8,'))],
  ['a value type wide in structs', body('u8', '1', wide('0x2::m::Empty,'))],
  ['a deep key type', body(DEEP, '{}')],
  ['a key type too deep', body('vector<'.repeat(TYPE_ROOM / 7), '1')],
  ['a key type of names', body(`0x2::m::${'a'.repeat(TYPE_ROOM)}`, '1')],
  ['a key type that is none', body('<'.repeat(TYPE_ROOM), '1')],
  ['types that are too long', body('u8', '1', 'a'.repeat(ROOM))],
]);
