/**
 * Resources: read once, changed only within the run (docs/spec/vm.md §5); from synchronous and asynchronous sources.
 */
import { describe, expect, it } from 'vitest';
import { andThen } from '../../src/maybe-promise.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { padAddress } from '../../src/move/types/address.ts';
import type { NativeContext } from '../../src/vm/native.ts';
import { Reference, type Value } from '../../src/vm/value.ts';
import { CAFE, failure, programOf, runIn, type SmallWorld } from './run-text.ts';

const BEEF = padAddress('beef');
const MODULE = `module cafe::m {
  struct Count has key { value: u64 }
  struct Of<T> has key { one: T }
  fun there(a: address): bool acquires Count { MoveLoc a; Exists Count; Ret; }
  fun read(a: address): u64 acquires Count {
    MoveLoc a; ImmBorrowGlobal Count; ImmBorrowField Count.value; ReadRef; Ret; }
  fun add(a: address): u64 acquires Count {
    let r: &mut u64;
    CopyLoc a; MutBorrowGlobal Count; MutBorrowField Count.value; StLoc r;
    CopyLoc r; ReadRef; LdU64 1; Add; MoveLoc r; WriteRef;
    MoveLoc a; Call read; Ret; }
  fun take(a: address): u64 acquires Count { MoveLoc a; MoveFrom Count; Unpack Count; Ret; }
  fun takeTwice(a: address): u64 acquires Count {
    CopyLoc a; MoveFrom Count; Unpack Count; Pop; MoveLoc a; Call take; Ret; }
  fun move(s: &signer, a: address): bool acquires Count {
    MoveLoc s; LdU64 9; Pack Count; MoveTo Count; MoveLoc a; Exists Count; Ret; }
  fun generic<T: copy + drop + store>(s: &signer, a: address, v: T): (bool, T, bool) acquires Of {
    let o: T; let b: bool;
    CopyLoc a; Exists Of<T>; StLoc b;
    MoveLoc s; MoveLoc v; Pack Of<T>; MoveTo Of<T>;
    CopyLoc a; ImmBorrowGlobal Of<T>; ImmBorrowField Of<T>.one; ReadRef; StLoc o;
    CopyLoc a; MutBorrowGlobal Of<T>; Pop;
    CopyLoc a; MoveFrom Of<T>; Unpack Of<T>; Pop;
    MoveLoc b; MoveLoc o; MoveLoc a; Exists Of<T>; Ret; }
  fun gone(a: address): u64 acquires Count {
    let r: &Count;
    CopyLoc a; ImmBorrowGlobal Count; StLoc r; MoveLoc a; MoveFrom Count; Unpack Count; Pop;
    MoveLoc r; ImmBorrowField Count.value; ReadRef; Ret; }
  struct Other has key { value: u64 }
  fun many(a: address): bool acquires Count, Other {
    CopyLoc a; Exists Count; Pop; CopyLoc a; Exists Count; Pop; MoveLoc a; Exists Other; Ret; }
}`;
const COUNT = `${padAddress('cafe').replace(/^0+/, '0x')}::m::Count`;
const resources = new Map([[`${CAFE} ${COUNT}`, encodeBcs((writer) => writer.u64(7n))]]);

describe.each([false, true])('resources, answered later: %s', (isSlow) => {
  const program = programOf(MODULE);
  const ask = (name: string, args: readonly Value[], more: SmallWorld = {}) =>
    runIn(program, name, args, { resources, isSlow, ...more });
  const signer = (address: string) => new Reference([[address]], 0);

  it('exist, are borrowed, changed and moved', async () => {
    expect(await ask('there', [CAFE])).toEqual([true]);
    expect(await ask('there', [BEEF])).toEqual([false]);
    expect(await ask('read', [CAFE])).toEqual([7n]);
    expect(await ask('add', [CAFE])).toEqual([8n]);
    expect(await ask('read', [CAFE])).toEqual([7n]);
    expect(await ask('take', [CAFE])).toEqual([7n]);
    expect(await ask('move', [signer(BEEF), BEEF])).toEqual([true]);
  });

  it('of generic types', async () => {
    const types = ['u8'];
    const args = [signer(BEEF), BEEF, 5];
    const found = await runIn(program, 'generic', args, { resources, isSlow, types });
    expect(found).toEqual([false, 5, false]);
  });

  it('that are missing, or there already', async () => {
    expect(await failure(ask('read', [BEEF]))).toEqual([
      'MISSING_DATA',
      `Failed to borrow global resource from ${BEEF}`,
    ]);
    expect(await failure(ask('takeTwice', [CAFE]))).toEqual([
      'MISSING_DATA',
      `Failed to move resource from ${CAFE}`,
    ]);
    expect(await failure(ask('move', [signer(CAFE), CAFE]))).toEqual([
      'RESOURCE_ALREADY_EXISTS',
      `Failed to move resource into ${CAFE}`,
    ]);
  });

  it('a reference to one that was moved away is an error', async () => {
    expect((await failure(ask('gone', [CAFE])))[0]).toBe('VERIFICATION_ERROR');
  });

  it('with bytes that do not decode', async () => {
    const broken = new Map([[`${CAFE} ${COUNT}`, Buffer.alloc(7)]]);
    const attempt = ask('read', [CAFE], { resources: broken });
    expect(await failure(attempt)).toEqual(['FAILED_TO_DESERIALIZE_RESOURCE']);
  });

  it('the number of reads is limited; one that was read before does not count', async () => {
    expect(await ask('many', [CAFE], { limits: { maxReads: 3 } })).toEqual([false]);
    expect(await ask('many', [CAFE], { limits: { maxReads: 2 } })).toEqual([false]);
    const attempt = ask('many', [CAFE], { limits: { maxReads: 1 } });
    expect(await failure(attempt)).toEqual(['IO_LIMIT_REACHED']);
  });

  it('items of tables count too', async () => {
    const natives = {
      item: ({ world }: NativeContext, [count]: readonly Value[]) =>
        andThen(world.tableItem(CAFE, Uint8Array.of(Number(count))), () => []),
    };
    const reading = programOf(`module cafe::m {
      native fun item(n: u64);
      fun f() { LdU64 1; Call item; LdU64 1; Call item; Ret; }
    }`);
    const withReads = (maxReads: number) =>
      failure(runIn(reading, 'f', [], { natives, isSlow, limits: { maxReads } }));
    expect(await withReads(3)).toEqual(['no failure', []]);
    expect(await withReads(2)).toEqual(['no failure', []]);
    expect(await withReads(1)).toEqual(['IO_LIMIT_REACHED']);
  });

  it('what fails in the world fails the run', async () => {
    const world = new Map<string, Uint8Array>();
    world.get = () => {
      throw new RangeError('the store is gone');
    };
    await expect(ask('read', [CAFE], { resources: world })).rejects.toThrow('the store is gone');
  });
});
