/** Source maps, which compilers write beside modules, and publishers may put on chain with them. */
import { address, bool, hash, list, option, structCodec, text, u16, u32 } from '../bcs/codec.ts';

/** A part of a file, by its SHA-256, in bytes. */
const place = structCodec({ file: hash, start: u32, end: u32 });
const named = list(structCodec({ name: text, place }));

/** The format of the reference framework's compiler, as of November 2025. */
export const SourceMap = structCodec({
  place,
  module: option(structCodec({ address, name: text })),
  structs: list(
    structCodec({
      definition: u16,
      value: structCodec({ place, typeParameters: named, fields: list(list(place)) }),
    }),
  ),
  functions: list(
    structCodec({
      definition: u16,
      value: structCodec({
        place,
        typeParameters: named,
        parameters: named,
        locals: named,
        nops: list(structCodec({ name: text, offset: u16 })),
        /** The source of the code from an offset up to the next entry. */
        code: list(structCodec({ offset: u16, place })),
        isNative: bool,
      }),
    }),
  ),
  constants: list(structCodec({ name: text, index: u16 })),
});
