/** Values of `0x1::option::Option`, a structure with a vector in old frameworks, an enum in those of 2025 and later. */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { findStruct } from '../../move/values/layout.ts';
import type { Program } from '../program/program.ts';
import type { Value } from '../value.ts';

/** The index of the variant None; that of Some is 1. */
const NONE = 0;
const SOME = 1;

/** @param value not a byte: its vector would be of bytes */
export function optionOf(
  program: Program,
  value: Exclude<Value, undefined> | undefined,
): MaybePromise<Value> {
  return andThen(program.module({ address: ADDRESS_ONE, name: 'option' }), ({ compiled }) => {
    const isEnum = findStruct(compiled, 'Option')?.definition.kind === 'enum';
    if (isEnum) return value === undefined ? [NONE] : [SOME, value];
    return [value === undefined ? [] : [value]];
  });
}
