/** Natives of `0x1::string` (docs/spec/vm.md §6.2). */
import { byteTools } from '../../move/bcs/bytes.ts';
import { type Native, NativeAbort } from '../native.ts';
import { bytesOf, byteVector, referenced } from './arguments.ts';

const END_BEFORE_START = 1;

function isCharBoundary(bytes: Uint8Array, at: bigint): boolean {
  if (at === 0n || at === BigInt(bytes.length)) return true;
  return at < BigInt(bytes.length) && (bytes[Number(at)]! & 0xc0) !== 0x80;
}

/** Bytes that are searched for one unit. */
const SEARCHED_PER_UNIT = 4;

/**
 * Where bytes first are in others, the length of those when they are not (Knuth, Morris and Pratt, 1977). The engine's
 * own search takes the product of both lengths at worst.
 */
function placeOf(sought: Uint8Array, bytes: Uint8Array): number {
  const { length } = sought;
  if (length === 0) return 0;
  // At i: how long a beginning of `sought` also ends there, the whole left out.
  const borders = new Uint32Array(length);
  for (let at = 1, same = 0; at < length; at += 1) {
    while (same > 0 && sought[at] !== sought[same]) same = borders[same - 1]!;
    if (sought[at] === sought[same]) same += 1;
    borders[at] = same;
  }
  for (let at = 0, same = 0; at < bytes.length; at += 1) {
    while (same > 0 && bytes[at] !== sought[same]) same = borders[same - 1]!;
    if (bytes[at] === sought[same]) same += 1;
    if (same === length) return at + 1 - length;
  }
  return bytes.length;
}

const checkUtf8: Native = ({ meter }, [text]) => {
  const bytes = bytesOf(referenced(text));
  meter.chargeBytes(bytes.length);
  return [byteTools.isUtf8(bytes)];
};

const charBoundary: Native = (_, [text, at]) => [
  isCharBoundary(bytesOf(referenced(text)), at as bigint),
];

const subString: Native = ({ meter }, [text, start, end]) => {
  const [from, to] = [Number(start), Number(end)];
  if (to < from) return new NativeAbort(END_BEFORE_START);
  return [byteVector(meter, bytesOf(referenced(text)).slice(from, to))];
};

const indexOf: Native = ({ gas, meter }, [text, wanted]) => {
  const bytes = bytesOf(referenced(text));
  const sought = bytesOf(referenced(wanted));
  meter.charge(Math.ceil((bytes.length + sought.length) / SEARCHED_PER_UNIT));
  const place = placeOf(sought, bytes);
  gas.chargeFor('move_stdlib.string.index_of.per_byte_searched', place);
  return [BigInt(place)];
};

export const STRING_NATIVES: Readonly<Record<string, Native>> = {
  'string::internal_check_utf8': checkUtf8,
  'string::internal_is_char_boundary': charBoundary,
  'string::internal_sub_string': subString,
  'string::internal_index_of': indexOf,
};
