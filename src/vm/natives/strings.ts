/** Natives of `0x1::string` (docs/spec/vm.md §6.2). */
import { byteTools } from '../../move/bcs/bytes.ts';
import { type Native, NativeAbort } from '../native.ts';
import { bytesOf, byteVector, referenced } from './arguments.ts';

const END_BEFORE_START = 1;

function isCharBoundary(bytes: Uint8Array, at: bigint): boolean {
  if (at === 0n || at === BigInt(bytes.length)) return true;
  return at < BigInt(bytes.length) && (bytes[Number(at)]! & 0xc0) !== 0x80;
}

/** One character a byte, so that places are those of bytes. */
function latin1(bytes: Uint8Array): string {
  return byteTools.latin1Text(byteTools.asBuffer(bytes), 0, bytes.length);
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
  meter.chargeBytes(to - from);
  return [byteVector(bytesOf(referenced(text)).slice(from, to))];
};

const indexOf: Native = ({ meter }, [text, wanted]) => {
  const bytes = bytesOf(referenced(text));
  meter.chargeBytes(bytes.length);
  const at = latin1(bytes).indexOf(latin1(bytesOf(referenced(wanted))));
  return [BigInt(at < 0 ? bytes.length : at)];
};

export const STRING_NATIVES: Readonly<Record<string, Native>> = {
  'string::internal_check_utf8': checkUtf8,
  'string::internal_is_char_boundary': charBoundary,
  'string::internal_sub_string': subString,
  'string::internal_index_of': indexOf,
};
