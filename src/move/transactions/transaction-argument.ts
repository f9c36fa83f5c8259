/** Arguments of scripts (docs/spec/ledger.md §3.4). */
import { address, bool, byteString, type CodecValue, variants } from '../bcs/codec.ts';
import { integerCodec } from '../bcs/integers.ts';

export const TransactionArgument = variants('TransactionArgument', {
  u8: { value: integerCodec('u8') },
  u64: { value: integerCodec('u64') },
  u128: { value: integerCodec('u128') },
  address: { value: address },
  /** A vector of bytes. */
  u8Vector: { value: byteString },
  bool: { value: bool },
  u16: { value: integerCodec('u16') },
  u32: { value: integerCodec('u32') },
  u256: { value: integerCodec('u256') },
  /** The BCS of a value of the parameter's type. */
  serialized: { value: byteString },
  i8: { value: integerCodec('i8') },
  i16: { value: integerCodec('i16') },
  i32: { value: integerCodec('i32') },
  i64: { value: integerCodec('i64') },
  i128: { value: integerCodec('i128') },
  i256: { value: integerCodec('i256') },
});
export type TransactionArgument = CodecValue<typeof TransactionArgument>;
