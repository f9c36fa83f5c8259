/** The cost of code: memory and time of natives count, others get their turns, and unusual borrows do no harm. */
import { sha3_512 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { padAddress } from '../../src/move/types/address.ts';
import { LARGE_RUN_BYTES, LARGE_RUNS, MAX_LARGE_RUNS } from '../../src/vm/machine/large-runs.ts';
import type { Native } from '../../src/vm/native.ts';
import { SipHash } from '../../src/vm/natives/crypto/sip-hash.ts';
import { frameworkNative } from '../../src/vm/natives/index.ts';
import type { ByteVector } from '../../src/vm/value.ts';
import { Random, testSeed } from '../random.ts';
import { bytes, NativeRun, reference } from './framework.ts';
import { failure, runText } from './run-text.ts';

const SEED = testSeed('vm-hostile-runs');
const LONG = 100_000;

function native(module: string, name: string): Native {
  return frameworkNative({ address: padAddress('1'), name: module }, name)!;
}

describe('turns of others', () => {
  it('come between operations that are charged for much', async () => {
    const body = `fun f(n: u64, v: vector<u64>, w: vector<u64>) {
    again: CopyLoc n; LdU64 0; Eq; BrTrue end; MoveLoc n; LdU64 1; Sub; StLoc n;
      ImmBorrowLoc v; ImmBorrowLoc w; Eq; Pop; Branch again;
    end: Ret; }`;
    const list = () => Array.from({ length: LONG }, () => 1n);
    let turns = 0;
    const onTurn = () => {
      turns += 1;
    };
    // Fewer than a batch of operations, but millions of comparisons.
    await runText(body, [70n, list(), list()], { onTurn });
    expect(turns).toBeGreaterThan(0);
  });

  it('come while much is hashed', async () => {
    const run = new NativeRun();
    const content = bytes(new Uint8Array(LONG).fill(7));
    const [short] = await run.call('aptos_hash::sip_hash', [], content);
    const whole = new SipHash();
    whole.update(content.bytes);
    expect(short).toBe(whole.digest());
    const [digest] = await run.call('aptos_hash::sha3_512_internal', [], content);
    expect((digest as ByteVector).bytes).toEqual(sha3_512(content.bytes));
    expect(run.turns).toBeGreaterThan(0);
  });
});

describe('work and memory of natives', () => {
  const repeated = (declared: string, call: string, made: string) => `
    ${declared}
    fun f(n: u64): u64 {
      let v: vector<${made}>;
      VecPack <${made}> 0; StLoc v;
    again: CopyLoc n; LdU64 0; Eq; BrTrue end; MoveLoc n; LdU64 1; Sub; StLoc n;
      MutBorrowLoc v; ${call}; VecPushBack <${made}>; Branch again;
    end: ImmBorrowLoc v; VecLen <${made}>; Ret; }`;
  const limits = { maxAllocatedBytes: 100_000 };

  it('hashes that are retained count', async () => {
    const body = repeated(
      'native fun sha3_256(v: vector<u8>): vector<u8>;',
      'VecPack <u8> 0; Call sha3_256',
      'vector<u8>',
    );
    const natives = { sha3_256: native('hash', 'sha3_256') };
    const made = (count: bigint) => failure(runText(body, [count], { natives, limits }));
    expect(await made(100n)).toEqual(['no failure', [100n]]);
    expect(await made(1_000n)).toEqual(['MEMORY_LIMIT_EXCEEDED']);
  });

  it('names of types that are retained count', async () => {
    const body = repeated(
      'struct Text has drop { bytes: vector<u8> } native fun type_name<T>(): Text;',
      'Call type_name<vector<vector<u8>>>',
      'Text',
    );
    const natives = { type_name: native('type_info', 'type_name') };
    const made = (count: bigint) => failure(runText(body, [count], { natives, limits }));
    expect(await made(100n)).toEqual(['no failure', [100n]]);
    expect(await made(1_000n)).toEqual(['MEMORY_LIMIT_EXCEEDED']);
  });

  it('hashes cost what they take', async () => {
    const run = new NativeRun();
    const content = () => bytes(new Uint8Array(1_000_000));
    const hashMany = async () => {
      for (let count = 0; count < 3; count += 1) {
        await run.call('aptos_hash::sip_hash', [], content());
      }
    };
    await expect(hashMany()).rejects.toMatchObject({ status: 'OUT_OF_GAS' });
  }, 60_000);
});

describe(`a text in a text (SEED=${SEED})`, () => {
  const placeOf = async (text: Uint8Array, wanted: Uint8Array): Promise<unknown> => {
    const args = [reference(bytes(text)), reference(bytes(wanted))];
    return (await new NativeRun().call('string::internal_index_of', [], ...args))[0];
  };

  it('is found where it is first', async () => {
    const random = new Random(SEED);
    const letters = (count: number) => Uint8Array.from({ length: count }, () => random.below(2));
    for (let round = 0; round < 2_000; round += 1) {
      const [text, wanted] = [letters(random.below(30)), letters(random.below(6))];
      const at = Buffer.from(text).indexOf(wanted);
      expect(await placeOf(text, wanted)).toBe(BigInt(at < 0 ? text.length : at));
    }
  });

  it('is sought in the time of both lengths, not of their product', async () => {
    const text = new Uint8Array(8 * LONG).fill(97);
    const wanted = new Uint8Array(4 * LONG).fill(97);
    wanted[2 * LONG] = 98;
    expect(await placeOf(text, wanted)).toBe(BigInt(text.length));
  });
});

describe('borrows that the verifier of the reference refuses', () => {
  const gone = { status: 'VERIFICATION_ERROR' };

  it('of one vector twice', async () => {
    const vector = reference(bytes('abcd'));
    const call = new NativeRun().call('vector::move_range', ['u8'], vector, 0n, 2n, vector, 4n);
    await expect(call).rejects.toMatchObject(gone);
  });

  it('of an element that is gone', async () => {
    const body = `
      native fun swap<T>(a: &mut T, b: &mut T);
      fun f(v: vector<u64>, other: u64): u64 {
        MutBorrowLoc v; LdU64 0; VecMutBorrow <u64>;
        MutBorrowLoc v; VecPopBack <u64>; Pop;
        MutBorrowLoc other; Call swap<u64>; ImmBorrowLoc v; VecLen <u64>; Ret; }`;
    const natives = { swap: native('mem', 'swap') };
    const [status] = await failure(runText(body, [[1n], 2n], { natives }));
    expect(status).toBe('VERIFICATION_ERROR');
  });
});

describe('runs that make much', () => {
  /** The state of an attempt to enter. */
  const entering = () => {
    const attempt = { hasEntered: false };
    void LARGE_RUNS.enter().then(() => {
      attempt.hasEntered = true;
    });
    return attempt;
  };
  const aWhile = () => new Promise((resolve) => setImmediate(resolve));

  it('are few at once, and the one that waits longest is next', async () => {
    const attempts = Array.from({ length: MAX_LARGE_RUNS + 2 }, entering);
    const entered = () => attempts.map(({ hasEntered }) => hasEntered).lastIndexOf(true) + 1;
    await aWhile();
    expect(entered()).toBe(MAX_LARGE_RUNS);
    for (const count of [MAX_LARGE_RUNS + 1, MAX_LARGE_RUNS + 2, MAX_LARGE_RUNS + 2]) {
      LARGE_RUNS.leave();
      await aWhile();
      expect(entered()).toBe(count);
    }
    for (let left = MAX_LARGE_RUNS - 1; left > 0; left -= 1) LARGE_RUNS.leave();
  });

  it('wait for others that make much, not for all', async () => {
    for (let left = MAX_LARGE_RUNS; left > 0; left -= 1) await LARGE_RUNS.enter();
    const body = `fun f(n: u64) {
      let v: vector<u64>; VecPack <u64> 0; StLoc v;
    again: CopyLoc n; LdU64 0; Eq; BrTrue end; MoveLoc n; LdU64 1; Sub; StLoc n;
      MutBorrowLoc v; LdU64 1; VecPushBack <u64>; Branch again;
    end: Ret; }`;
    // A push counts 32 bytes; each run is longer than one slice.
    const largeCount = LARGE_RUN_BYTES / 16;
    const ended: string[] = [];
    const run = async (name: string, count: number) => {
      const result = await failure(runText(body, [BigInt(count)]));
      ended.push(`${name} ${result[0]}`);
    };
    const runs = [run('large', largeCount), run('large', largeCount), run('small', 50_000)];
    await runs[2];
    await aWhile();
    expect(ended).toEqual(['small no failure']);
    for (let left = MAX_LARGE_RUNS; left > 0; left -= 1) LARGE_RUNS.leave();
    await Promise.all(runs);
    expect(ended.slice(1)).toEqual(['large no failure', 'large no failure']);
  }, 60_000);
});
