/** Function values read from state (docs/spec/vm.md §4.5): they are only called if their types match. */
import { describe, expect, it } from 'vitest';
import { type BcsWriter, encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { parseTypeTag } from '../../src/move/types/type-parser.ts';
import { writeTypeTag } from '../../src/move/types/type-tag.ts';
import { CAFE, failure, programOf, runIn } from './run-text.ts';

const program = programOf(`module cafe::m {
  struct Plain has copy, drop, store { first: u8, second: vector<u64> }
  struct Held has key { call: |u64|u64 has copy + drop + store }
  struct Narrow has key { call: |u8|u64 has copy + drop + store }
  public fun join(a: u64, b: u64): u64 { MoveLoc a; LdU64 10; Mul; MoveLoc b; Add; Ret; }
  public fun plain(p: Plain, b: u64): u64 { ImmBorrowLoc p; ImmBorrowField Plain.first; ReadRef; CastU64; MoveLoc b; Add; Ret; }
  public fun second<T: drop>(a: T, b: u64): u64 { MoveLoc b; Ret; }
  public fun borrowed(a: &u64, b: u64): u64 { MoveLoc b; Ret; }
  fun f(a: address): u64 acquires Held {
    LdU64 7; MoveLoc a; ImmBorrowGlobal Held; ImmBorrowField Held.call; ReadRef;
    CallClosure <|u64|u64 has copy + drop + store>; Ret; }
  fun narrow(a: address): u64 acquires Narrow {
    LdU8 7; MoveLoc a; ImmBorrowGlobal Narrow; ImmBorrowField Narrow.call; ReadRef;
    CallClosure <|u8|u64 has copy + drop + store>; Ret; }
}`);

interface Stored {
  readonly version?: number;
  readonly parts?: number;
  readonly types?: readonly string[];
  readonly mask: bigint;
  readonly captured: readonly ((writer: BcsWriter) => unknown)[];
}

const U64 = 2;
const u64 = (value: bigint) => (to: BcsWriter) => to.uleb32(U64).u64(value);

function stored(name: string, { version = 1, parts, types = [], mask, captured }: Stored): Buffer {
  return encodeBcs((writer) => {
    writer.uleb32(parts ?? 5 + 2 * captured.length).u16(version);
    writer.address(CAFE).string('m').string(name);
    writer.vector(types, (to, type) => writeTypeTag(to, parseTypeTag(type)));
    writer.u64(mask);
    for (const write of captured) write(writer);
  });
}

async function called(bytes: Buffer, name = 'f', isSlow = false): Promise<unknown[]> {
  const tag = name === 'f' ? 'Held' : 'Narrow';
  const resources = new Map([[`${CAFE} 0xcafe::m::${tag}`, bytes]]);
  return failure(runIn(program, name, [CAFE], { resources, isSlow }));
}

describe('stored function values', () => {
  it.each([false, true])(
    'are called with what they captured, answered later: %s',
    async (isSlow) => {
      const first = stored('join', { mask: 1n, captured: [u64(3n)] });
      expect(await called(first, 'f', isSlow)).toEqual(['no failure', [37n]]);
      const last = stored('join', { mask: 2n, captured: [u64(3n)] });
      expect(await called(last, 'f', isSlow)).toEqual(['no failure', [73n]]);
      const vectorOfU64 = (to: BcsWriter) => to.uleb32(5).uleb32(U64);
      const struct = (to: BcsWriter) => {
        to.uleb32(6).uleb32(0).uleb32(2).uleb32(1);
        vectorOfU64(to);
        to.u8(4).uleb32(1).u64(9n);
      };
      const withStruct = stored('plain', { mask: 1n, captured: [struct] });
      expect(await called(withStruct, 'f', isSlow)).toEqual(['no failure', [11n]]);
      const generic = stored('second', { types: ['u64'], mask: 1n, captured: [u64(1n)] });
      expect(await called(generic, 'f', isSlow)).toEqual(['no failure', [7n]]);
    },
  );

  it.each<[string, string, Stored]>([
    ['too few captured', 'join', { mask: 0n, captured: [] }],
    ['too many captured', 'join', { mask: 3n, captured: [u64(1n), u64(2n)] }],
    ['a mask beyond the parameters', 'join', { mask: 4n, captured: [u64(1n)] }],
    ['another type captured', 'join', { mask: 1n, captured: [(to) => to.uleb32(0).bool(true)] }],
    ['a struct of another shape', 'plain', { mask: 1n, captured: [u64(1n)] }],
    ['a missing type argument', 'second', { mask: 1n, captured: [u64(1n)] }],
    ['a reference captured', 'borrowed', { mask: 1n, captured: [u64(1n)] }],
  ])('with %s are refused', async (_, name, closure) => {
    expect((await called(stored(name, closure)))[0]).toBe('VERIFICATION_ERROR');
  });

  it('of another type than that of the call are refused', async () => {
    const bytes = stored('join', { mask: 1n, captured: [u64(3n)] });
    expect((await called(bytes, 'narrow'))[0]).toBe('VERIFICATION_ERROR');
  });

  it('that name no function fail when they are called', async () => {
    const bytes = stored('nothing', { mask: 1n, captured: [u64(3n)] });
    expect((await called(bytes))[0]).toBe('FUNCTION_RESOLUTION_FAILURE');
  });

  it.each<[string, Stored]>([
    ['of another version', { version: 2, mask: 1n, captured: [u64(3n)] }],
    ['with another number of parts', { parts: 6, mask: 1n, captured: [u64(3n)] }],
    ['of a bad type', { types: [], mask: 1n, captured: [(to) => to.uleb32(19)] }],
  ])('%s do not decode', async (_, closure) => {
    expect(await called(stored('join', closure))).toEqual(['FAILED_TO_DESERIALIZE_RESOURCE']);
  });
});
