/** Natives, called by the framework's own code and directly (docs/spec/vm.md §6). */
import { describe, expect, it } from 'vitest';
import { sha3 } from '../../src/move/crypto/hash.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { primaryStoreAddress } from '../../src/move/types/derived-address.ts';
import { reduced, scalarBytes } from '../../src/vm/natives/crypto/ristretto.ts';
import { ByteVector, type Reference, type Value } from '../../src/vm/value.ts';
import type { TransactionFacts } from '../../src/vm/world.ts';
import { bytes, callFramework, NativeRun, reference, string, textOf } from './framework.ts';

const STRING = '0x1::string::String';
const ONE = padAddress('1');
/** A scalar with the maximum number of bits. */
const MINUS_SEVEN = scalarBytes(reduced(-7n));
const hexOf = (value: Value): string => Buffer.from((value as ByteVector).bytes).toString('hex');

/** The text result of a native or a function. */
async function text(result: Promise<readonly Value[] | string>): Promise<string> {
  const values = await result;
  return typeof values === 'string' ? values : textOf(values[0]);
}

describe('texts of values', () => {
  const none: Value = [0];
  const some = (value: Value): Value => [1, value];
  const cons = (car: Value, cdr: Value): Value => [car, cdr];
  const CONS = (car: string, cdr: string) => `0x1::string_utils::Cons<${car}, ${cdr}>`;

  it.each<[type: string, value: Value, shown: string]>([
    ['u64', 1n, '1'],
    ['bool', false, 'false'],
    ['u256', 2n ** 256n - 1n, String(2n ** 256n - 1n)],
    ['address', ONE, '@0x1'],
    ['vector<u8>', bytes(Uint8Array.of(1, 255)), '0x01ff'],
    ['vector<u64>', [1n, 2n, 3n], '[ 1, 2, 3 ]'],
    ['vector<u64>', [], '[]'],
    [`vector<vector<u64>>`, [[1n], []], '[ [ 1 ], [] ]'],
    [STRING, string('a "b" \\ c'), '"a \\"b\\" \\\\ c"'],
    ['0x1::option::Option<u64>', none, 'None'],
    ['0x1::option::Option<u64>', some(1n), 'Some(1)'],
    [`0x1::option::Option<${STRING}>`, some(string('x')), 'Some("x")'],
    [CONS(STRING, 'u64'), cons(string('My string'), 2n), 'Cons { car: "My string", cdr: 2 }'],
    ['0x1::cmp::Ordering', [2], 'Greater{}'],
  ])('of %s', async (type, value, shown) => {
    const call = callFramework('string_utils::to_string', [type], [reference(value)]);
    expect(await text(call)).toBe(shown);
  });

  it('with types of integers, full addresses, on several lines', async () => {
    const shown = (name: string, type: string, value: Value) =>
      text(callFramework(`string_utils::${name}`, [type], [reference(value)]));
    const flags = [false, false, true, true];
    const args = [reference([1, 2]), ...flags];
    const typed = new NativeRun().call('string_utils::native_format', ['vector<u16>'], ...args);
    expect(await text(typed)).toBe('[ 1u16, 2u16 ]');
    expect(await shown('to_string_with_canonical_addresses', 'address', ONE)).toBe(`@${ONE}`);
    const list = cons(string('a'), [string('b'), string('c')]);
    expect(await shown('debug_string', CONS(STRING, `vector<${STRING}>`), list)).toBe(
      [
        `${CONS(STRING, `vector<${STRING}>`)} {`,
        '  car: "a",',
        '  cdr: [',
        '    "b",',
        '    "c"',
        '  ]',
        '}',
      ].join('\n'),
    );
  });

  const NIL: Value = [];
  const nil = '0x1::string_utils::NIL';
  const format = (shape: string, types: readonly string[], values: readonly Value[]) => {
    const type = types.reduceRight((rest, one) => CONS(one, rest), nil);
    const list = values.reduceRight<Value>((rest, one) => cons(one, rest), NIL);
    const args = [reference(bytes(shape)), reference(list)];
    return text(new NativeRun().call('string_utils::native_format_list', [type], ...args));
  };

  it.each<[shape: string, values: readonly bigint[], shown: string]>([
    ['a = {} b = {}', [1n, 2n], 'a = 1 b = 2'],
    ['{{{}}}', [7n], '{7}'],
    ['}}{{', [], '}{'],
    ['é{}ü', [1n], 'é1ü'],
    ['{}', [], 'abort 0x1'],
    ['a', [1n], 'abort 0x1'],
    ['{', [], 'abort 0x2'],
    ['}', [], 'abort 0x2'],
    ['{a}', [1n], 'abort 0x2'],
    ['a} {}', [1n], 'abort 0x2'],
    ['{}}', [1n], 'abort 0x2'],
  ])('in a format: %s %s', async (shape, values, shown) => {
    const types = values.map(() => 'u64');
    expect(await format(shape, types, values)).toBe(shown);
  });

  it('in a format that is not UTF-8', async () => {
    const args = [reference(new ByteVector(Uint8Array.of(0xff))), reference([])];
    const call = new NativeRun().call('string_utils::native_format_list', [nil], ...args);
    expect(await call).toBe('abort 0x2');
  });
});

describe('BCS', () => {
  it('of values and back', async () => {
    const run = new NativeRun();
    const cases: readonly [type: string, value: Value, hex: string][] = [
      ['u64', 1n, '0100000000000000'],
      ['vector<u16>', [1, 2], '0201000200'],
      [STRING, string('hé'), '0368c3a9'],
      ['0x1::option::Option<u8>', [1, 7], '0107'],
      ['signer', [ONE], ONE],
    ];
    for (const [type, value, hex] of cases) {
      const [encoded] = await run.call('bcs::to_bytes', [type], reference(value));
      expect(hexOf(encoded!)).toBe(hex);
      const size = await run.call('bcs::serialized_size', [type], reference(value));
      expect(size).toEqual([BigInt(hex.length / 2)]);
      if (type === 'signer') continue;
      const decoded = await run.call(
        'from_bcs::from_bytes',
        [type],
        bytes(Buffer.from(hex, 'hex')),
      );
      expect(decoded).toEqual([value]);
      const longer = Buffer.from(`${hex}00`, 'hex');
      expect(await run.call('from_bcs::from_bytes', [type], bytes(longer))).toBe('abort 0x10001');
    }
  });

  it('has a constant size for some types', async () => {
    const size = async (type: string) =>
      (await new NativeRun().call('bcs::constant_serialized_size', [type]))[0];
    expect(await size('u64')).toEqual([1, 8n]);
    expect(await size('0x1::coin::Coin<u8>')).toEqual([1, 8n]);
    expect(await size('vector<u8>')).toEqual([0]);
    expect(await size(STRING)).toEqual([0]);
    expect(await size('0x1::cmp::Ordering')).toEqual([0]);
  });

  it('of an any is checked against its type', async () => {
    const packed = await callFramework('copyable_any::pack', ['u64'], [5n]);
    const unpacked = await callFramework('copyable_any::unpack', ['u64'], packed as Value[]);
    expect(unpacked).toEqual([5n]);
    const again = await callFramework('copyable_any::pack', ['u64'], [5n]);
    const other = await callFramework('copyable_any::unpack', ['u8'], again as Value[]);
    expect(other).toMatch(/^abort 0x1000[0-9]/);
  });
});

describe('tables', () => {
  const TYPES = ['u64', STRING, `0x1::table::Box<${STRING}>`];
  const table = (handle: string): Value => reference([handle]);

  it('have what is stored, and what a run changes', async () => {
    const handle = padAddress('7ab1e');
    const items = { [`${handle} 0100000000000000`]: Buffer.from('0161', 'hex') };
    const run = new NativeRun({ items });
    const call = (name: string, ...args: Value[]) => run.call(`table::${name}`, TYPES, ...args);
    const at = table(handle);
    expect(await call('contains_box', at, 1n)).toEqual([true]);
    expect(await call('contains_box', at, 2n)).toEqual([false]);
    expect(await call('borrow_box', at, 2n)).toBe('abort 0x6507');
    expect(await call('add_box', at, 1n, [string('b')])).toBe('abort 0x6407');
    const [box] = await call('borrow_box_mut', at, 1n);
    (box as ReturnType<typeof reference>).set([string('changed')]);
    expect(await call('remove_box', at, 1n)).toEqual([[string('changed')]]);
    expect(await call('remove_box', at, 1n)).toBe('abort 0x6507');
    expect(await call('add_box', at, 1n, [string('new')])).toEqual([]);
    const [again] = await call('borrow_box', at, 1n);
    expect((again as ReturnType<typeof reference>).get()).toEqual([string('new')]);
    expect(await call('contains_box', table(padAddress('1')), 1n)).toEqual([false]);
  });

  it('have other handles each', async () => {
    const run = new NativeRun();
    const [first] = await run.call('table::new_table_handle', ['u64', 'u64']);
    const [second] = await run.call('table::new_table_handle', ['u64', 'u64']);
    expect(first).not.toBe(second);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await new NativeRun().call('table::new_table_handle', ['u8', 'u8'])).toEqual([first]);
  });
});

describe('aggregators', () => {
  it('stay between 0 and their maximum', async () => {
    const run = new NativeRun();
    const call = (name: string, ...args: Value[]) =>
      run.call(`aggregator_v2::${name}`, ['u64'], ...args);
    const [made] = await call('create_aggregator', 10n);
    const aggregator = reference(made!);
    expect(await call('try_add', aggregator, 11n)).toEqual([false]);
    expect(await call('try_add', aggregator, 10n)).toEqual([true]);
    expect(await call('is_at_least_impl', aggregator, 10n)).toEqual([true]);
    expect(await call('is_at_least_impl', aggregator, 11n)).toEqual([false]);
    expect(await call('try_sub', aggregator, 11n)).toEqual([false]);
    expect(await call('try_sub', aggregator, 4n)).toEqual([true]);
    expect(await call('read', aggregator)).toEqual([6n]);
    expect(await call('snapshot', aggregator)).toEqual([[6n]]);
    expect(await call('read_snapshot', reference([6n]))).toEqual([6n]);
    expect(await call('copy_snapshot', reference([6n]))).toBe('abort 0x30009');
    const of = (type: string, name: string) => run.call(`aggregator_v2::${name}`, [type], 1n);
    expect(await of('u8', 'create_aggregator')).toBe('abort 0x30007');
    expect(await of('u8', 'create_snapshot')).toBe('abort 0x30005');
  });

  it('make texts as long as the longest number would', async () => {
    const run = new NativeRun();
    const derive = (type: string, before: string, value: bigint, after: string) => {
      const args = [string(before), reference([value]), string(after)];
      return run.call('aggregator_v2::derive_string_concat', [type], ...args);
    };
    const sizes = async (result: Promise<readonly Value[] | string>) => {
      const [derived] = await result;
      const [content, padding] = derived as [Value[], ByteVector];
      return [textOf(content), padding.length];
    };
    expect(await sizes(derive('u64', 'a', 5n, 'b'))).toEqual(['a5b', 19]);
    expect(await sizes(derive('u128', '', 2n ** 128n - 1n, ''))).toEqual([
      String(2n ** 128n - 1n),
      0,
    ]);
    const constant = (length: number) =>
      run.call('aggregator_v2::create_derived_string', [], string('x'.repeat(length)));
    expect(await sizes(constant(3))).toEqual(['xxx', 17]);
    expect((await sizes(constant(1024)))[1]).toBe(0);
    expect(await constant(1025)).toBe('abort 0x30008');
    expect(await derive('u64', 'x'.repeat(1000), 1n, 'y'.repeat(24))).not.toContain('abort');
    expect(await derive('u64', 'x'.repeat(1000), 1n, 'y'.repeat(25))).toBe('abort 0x30008');
  });

  it('of old frameworks are items of a table', async () => {
    const [handle, key] = [padAddress('a1'), padAddress('a2')];
    const items = { [`${handle} ${key}`]: Buffer.from(`05${'00'.repeat(15)}`, 'hex') };
    const run = new NativeRun({ items });
    const aggregator = reference([handle, key, 8n]);
    const call = (name: string, ...args: Value[]) => run.call(`aggregator::${name}`, [], ...args);
    expect(await call('read', aggregator)).toEqual([5n]);
    expect(await call('add', aggregator, 4n)).toBe('abort 0x20001');
    expect(await call('sub', aggregator, 6n)).toBe('abort 0x20002');
    expect(await call('add', aggregator, 3n)).toEqual([]);
    expect(await call('read', aggregator)).toEqual([8n]);
    const absent = call('read', reference([handle, handle, 8n]));
    await expect(absent).rejects.toMatchObject({ status: 'VM_EXTENSION_ERROR' });
  });
});

describe('points of ristretto255', () => {
  it('have numbers, and are limited', async () => {
    const run = new NativeRun();
    const call = (name: string, ...args: Value[]) => run.call(`ristretto255::${name}`, [], ...args);
    const scalar = async (value: bigint) => (await call('scalar_from_u64_internal', value))[0]!;
    const [base] = await call('basepoint_mul_internal', await scalar(1n));
    const point = (handle: Value | undefined): Value => reference([handle]);
    const [double] = await call('point_add_internal', point(base), point(base), false);
    const [again] = await call('basepoint_mul_internal', await scalar(2n));
    expect(await call('point_equals', point(double), point(again))).toEqual([true]);
    const [none] = await call('point_sub_internal', point(double), point(again), false);
    const [identity] = await call('point_identity_internal');
    expect(await call('point_equals', point(none), point(identity))).toEqual([true]);
    const [bytesOf] = await call('point_compress_internal', point(double));
    const [read, isRead] = await call('point_decompress_internal', bytesOf!);
    expect([isRead, await call('point_equals', point(read), point(double))]).toEqual([
      true,
      [true],
    ]);
    expect(await call('point_decompress_internal', bytes(Buffer.alloc(32, 1)))).toEqual([
      2n ** 64n - 1n,
      false,
    ]);
    expect(await call('point_neg_internal', point(double), true)).toEqual([double]);
    expect(await call('point_equals', point(double), point(again))).toEqual([false]);
    expect(await call('point_add_internal', point(base), point(base), true)).toBe(
      'abort 0xa0003: Duplicate Ristretto point handle',
    );
    expect(await call('point_clone_internal', 9_999n)).toBe('abort 0xa0001: Invalid point handle');
    let last: readonly Value[] | string = [0n];
    while (typeof last !== 'string') last = await call('point_identity_internal');
    expect(last).toBe('abort 0x90004: Too many points created: 10000, limit is 10000');
  });

  it('are multiplied in many turns, so that others have theirs', async () => {
    const run = new NativeRun();
    const [base] = await run.call('ristretto255::basepoint_mul_internal', [], bytes(MINUS_SEVEN));
    const count = 200;
    const points = Array.from({ length: count }, () => [base!]);
    const factors = Array.from({ length: count }, () => [bytes(MINUS_SEVEN)]);
    const many = 'ristretto255::multi_scalar_mul_internal';
    const [sum] = await run.call(many, ['u8', 'u8'], reference(points), reference(factors));
    expect(run.turns).toBeGreaterThan(0);
    const factor = bytes(scalarBytes(49n * BigInt(count)));
    const [product] = await run.call('ristretto255::basepoint_mul_internal', [], factor);
    const args = [reference([sum!]), reference([product!])];
    expect(await run.call('ristretto255::point_equals', [], ...args)).toEqual([true]);
  });
});

describe('strings and vectors', () => {
  it('are cut at characters', async () => {
    const run = new NativeRun();
    const content = reference(bytes('aé€'));
    const isBoundary = async (at: bigint) =>
      (await run.call('string::internal_is_char_boundary', [], content, at))[0];
    const found: unknown[] = [];
    for (let at = 0n; at < 8n; at += 1n) found.push(await isBoundary(at));
    expect(found).toEqual([true, true, false, true, false, false, true, false]);
    const [part] = await run.call('string::internal_sub_string', [], content, 1n, 3n);
    expect(hexOf(part!)).toBe('c3a9');
    expect(await run.call('string::internal_sub_string', [], content, 3n, 1n)).toBe('abort 0x1');
    const indexOf = async (wanted: string) =>
      (await run.call('string::internal_index_of', [], content, reference(bytes(wanted))))[0];
    expect([await indexOf('€'), await indexOf(''), await indexOf('x')]).toEqual([3n, 0n, 6n]);
    const isUtf8 = async (...content_: number[]) =>
      (
        await run.call(
          'string::internal_check_utf8',
          [],
          reference(new ByteVector(Uint8Array.from(content_))),
        )
      )[0];
    expect([await isUtf8(0xc3, 0xa9), await isUtf8(0xc3)]).toEqual([true, false]);
  });

  it('move a range from one to the other', async () => {
    const move = async (from: Value, at: bigint, count: bigint, to: Value, place: bigint) => {
      const args = [reference(from), at, count, reference(to), place];
      const result = await new NativeRun().call('vector::move_range', ['u64'], ...args);
      return typeof result === 'string' ? result : [from, to];
    };
    expect(await move([1n, 2n, 3n], 1n, 2n, [8n, 9n], 1n)).toEqual([[1n], [8n, 2n, 3n, 9n]]);
    expect(await move([1n], 0n, 2n, [], 0n)).toBe('abort 0x1');
    expect(await move([1n], 0n, 1n, [], 1n)).toBe('abort 0x1');
    expect(await move([1n], 2n ** 64n - 1n, 1n, [], 0n)).toBe('abort 0x1');
    const [from, to] = [bytes('abcd'), bytes('xy')];
    await move(from, 1n, 2n, to, 1n);
    expect([from, to].map((one) => Buffer.from(one.bytes).toString())).toEqual(['ad', 'xbcy']);
  });

  it('are compared by content', async () => {
    const compare = async (left: Value, right: Value) =>
      (
        (
          await new NativeRun().call('cmp::compare', ['u64'], reference(left), reference(right))
        )[0] as number[]
      )[0];
    const ordered: readonly (readonly [Value, Value])[] = [
      [1n, 2n],
      [false, true],
      [-1, 0],
      [ONE, padAddress('2')],
      [bytes('a'), bytes('b')],
      [bytes('a'), bytes('aa')],
      [[1n], [1n, 0n]],
      [
        [0, 9n],
        [1, 0n],
      ],
      [[], [[]]],
    ];
    for (const [less, greater] of ordered) {
      expect([await compare(less, greater), await compare(greater, less)]).toEqual([0, 2]);
      expect(await compare(less, less)).toBe(1);
    }
  });
});

describe('names, addresses, transactions', () => {
  it('name types', async () => {
    const run = new NativeRun();
    const type = '0x1::coin::Coin<0x1::option::Option<vector<u8>>>';
    const [info] = await run.call('type_info::type_of', [type]);
    const [address, module, name] = info as [string, ByteVector, ByteVector];
    expect(address).toBe(ONE);
    const texts = [module, name].map((one) => Buffer.from(one.bytes).toString());
    expect(texts).toEqual(['coin', 'Coin<0x1::option::Option<vector<u8>>>']);
    expect(textOf((await run.call('type_info::type_name', [type]))[0]!)).toBe(type);
    expect(await run.call('type_info::type_of', ['vector<u8>'])).toBe(
      'abort 0x1: Expected a struct type, found: vector',
    );
  });

  it('make addresses', async () => {
    const run = new NativeRun();
    const [owner, metadata] = [padAddress('5'), padAddress('a')];
    const derive = 'object::create_user_derived_object_address_impl';
    expect(await run.call(derive, [], owner, metadata)).toEqual([
      primaryStoreAddress(owner, metadata),
    ]);
    const short = await run.call('account::create_address', [], bytes('short'));
    expect(short).toBe('abort 0x2: Unable to create address from bytes, expected 32 bytes, got 5');
    const address = bytes(Buffer.from(ONE, 'hex'));
    expect(await run.call('account::create_address', [], address)).toEqual([ONE]);
    const [first] = await run.call('transaction_context::generate_unique_address', []);
    const [second] = await run.call('transaction_context::generate_unique_address', []);
    expect(first).not.toBe(second);
  });

  it('have no transaction', async () => {
    const sender = await callFramework('transaction_context::sender', [], [], {
      resources: featuresOf([59]),
    });
    expect(sender).toMatch(/^abort 0x30001: Transaction context is not available \(sender/);
    const run = new NativeRun();
    const counter = 'transaction_context::monotonically_increasing_counter_internal';
    expect(await run.call(counter, [], 1n)).toMatch(/^abort 0x30001: .*must be called during/);
    expect(await run.call('randomness::is_unbiasable', [])).toEqual([false]);
    expect(await run.call('randomness::fetch_and_increment_txn_counter', [])).toBe('abort 0x1');
    const request: Value[] = ['0'.repeat(64), [], [], 1];
    expect(await run.call('code::request_publish', [], ...request)).toEqual([]);
    expect(await run.call('code::request_publish', [], ...request)).toBe('abort 0x30000');
  });

  it('count up in a transaction that has a place in its block', async () => {
    const run = new NativeRun();
    const count = () =>
      run.call('transaction_context::monotonically_increasing_counter_internal', [], 3n);
    const facts = { index: 7 } as TransactionFacts;
    const session = { hash: Buffer.alloc(32), scriptHash: new Uint8Array(), counter: 35 };
    run.session = { ...session, transaction: facts };
    const place = (3n << 56n) | (7n << 24n) | (35n << 16n);
    expect(await count()).toEqual([place + 1n]);
    expect(await count()).toEqual([place + 2n]);
    run.session = { ...session, transaction: { ...facts, index: undefined } };
    expect(await count()).toBe('abort 0x30005');
  });

  it('make signers that have permissions', async () => {
    const run = new NativeRun();
    const call = (name: string, ...args: Value[]) =>
      run.call(`permissioned_signer::${name}`, [], ...args);
    const permissions = 'b'.repeat(64);
    const plain: Value = [ONE];
    const [made] = await call('signer_from_permissioned_handle_impl', ONE, permissions);
    const limited = made!;
    expect(await call('is_permissioned_signer_impl', reference(plain))).toEqual([false]);
    expect(await call('is_permissioned_signer_impl', reference(limited))).toEqual([true]);
    expect(await call('permission_address', reference(limited))).toEqual([permissions]);
    expect(await call('permission_address', reference(plain))).toBe('abort 0x3');
    const [address] = await run.call('signer::borrow_address', [], reference(limited));
    expect((address as Reference).get()).toBe(ONE);
    const [stored] = await run.call('bcs::to_bytes', ['signer'], reference(plain));
    expect(hexOf(stored!)).toBe(ONE);
    expect(await run.call('bcs::to_bytes', ['signer'], reference(limited))).toBe('abort 0x1c5');
    const off = new NativeRun({ disabledFlags: [84] });
    const names = ['is_permissioned_signer_impl', 'permission_address'];
    for (const name of names) {
      const found = await off.call(`permissioned_signer::${name}`, [], reference(plain));
      expect(found).toBe('abort 0x9');
    }
  });

  it('check names of functions', async () => {
    const isName = async (name: string) =>
      (await new NativeRun().call('function_info::is_identifier', [], reference(bytes(name))))[0];
    for (const name of ['a', 'A_1', '_x', '<SELF>']) expect(await isName(name)).toBe(true);
    for (const name of ['', '1a', '_', 'a-b', 'é']) expect(await isName(name)).toBe(false);
    const info = (module: string, name: string): Value => [ONE, string(module), string(name)];
    const compatible = (left: Value, right: Value) =>
      new NativeRun().call(
        'function_info::check_dispatch_type_compatibility_impl',
        [],
        reference(left),
        reference(right),
      );
    const dispatched = info('dispatchable_fungible_asset', 'dispatchable_derived_balance');
    expect(await compatible(dispatched, info('fungible_asset', 'balance'))).toEqual([true]);
    expect(await compatible(dispatched, info('fungible_asset', 'supply'))).toEqual([false]);
    expect(await compatible(dispatched, info('fungible_asset', 'nope'))).toBe('abort 0x2');
    expect(await compatible(dispatched, info('1', 'balance'))).toBe('abort 0x1');
  });
});

describe('hashes of the framework', () => {
  // Hashes of empty input.
  it.each([
    ['hash::sha2_256', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['hash::sha3_256', sha3(Buffer.alloc(0)).toString('hex')],
    ['aptos_hash::keccak256', 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
    ['aptos_hash::ripemd160', '9c1185a5c5e9fc54612808977ee8f548b2258d31'],
    ['aptos_hash::blake2b_256', '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8'],
  ])('%s', async (name, hash) => {
    const state = { resources: featuresOf([3, 8]) };
    const [found] = await callFramework(name, [], [bytes('')], state);
    expect(hexOf(found!)).toBe(hash);
  });
});

/** The resource with the framework's feature flags. */
function featuresOf(flags: readonly number[]): Record<string, Uint8Array> {
  const bits = new Uint8Array(16);
  for (const flag of flags) bits[flag >> 3]! |= 1 << (flag & 7);
  const resource = Buffer.concat([Buffer.of(bits.length), bits]);
  return { [`${ONE} 0x1::features::Features`]: resource };
}
