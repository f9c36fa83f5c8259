/** `0x1::crypto_algebra` (docs/spec/vm.md §6.11), called by the framework's own code. */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { describe, expect, it } from 'vitest';
import type { ByteVector, Value } from '../../src/vm/value.ts';
import { bytes, isPriced, NativeRun, reference } from './framework.ts';

/** The pairing of the generators, from the documentation of the framework's modules. */
const TARGETS = {
  bls12381_algebra:
    'b68917caaa0543a808c53908f694d1b6e7b38de90ce9d83d505ca1ef1b442d2727d7d06831d8b2a7920afc71d8eb50120f17a0ea982a88591d9f43503e94a8f1abaf2e4589f65aafb7923c484540a868883432a5c60e75860b11e5465b1c9a08873ec29e844c1c888cb396933057ffdd541b03a5220eda16b2b3a6728ea678034ce39c6839f20397202d7c5c44bb68134f93193cec215031b17399577a1de5ff1f5b0666bdd8907c61a7651e4e79e0372951505a07fa73c25788db6eb8023519a5aa97b51f1cad1d43d8aabbff4dc319c79a58cafc035218747c2f75daf8f2fb7c00c44da85b129113173d4722f5b201b6b4454062e9ea8ba78c5ca3cadaf7238b47bace5ce561804ae16b8f4b63da4645b8457a93793cbd64a7254f150781019de87ee42682940f3e70a88683d512bb2c3fb7b2434da5dedbb2d0b3fb8487c84da0d5c315bdd69c46fb05d23763f2191aabd5d5c2e12a10b8f002ff681bfd1b2ee0bf619d80d2a795eb22f2aa7b85d5ffb671a70c94809f0dafc5b73ea2fb0657bae23373b4931bc9fa321e8848ef78894e987bff150d7d671aee30b3931ac8c50e0b3b0868effc38bf48cd24b4b811a2995ac2a09122bed9fd9fa0c510a87b10290836ad06c8203397b56a78e9a0c61c77e56ccb4f1bc3d3fcaea7550f3503efe30f2d24f00891cb45620605fcfaa4292687b3a7db7c1c0554a93579e889a121fd8f72649b2402996a084d2381c5043166673b3849e4fd1e7ee4af24aa8ed443f56dfd6b68ffde4435a92cd7a4ac3bc77e1ad0cb728606cf08bf6386e5410f',
  bn254_algebra:
    '950e879d73631f5eb5788589eb5f7ef8d63e0a28de1ba00dfe4ca9ed3f252b264a8afb8eb4349db466ed1809ea4d7c39bdab7938821f1b0a00a295c72c2de002e01dbdfd0254134efcb1ec877395d25f937719b344adb1a58d129be2d6f2a9132b16a16e8ab030b130e69c69bd20b4c45986e6744a98314b5c1a0f50faa90b04dbaf9ef8aeeee3f50be31c210b598f4752f073987f9d35be8f6770d83f2ffc0af0d18dd9d2dbcdf943825acc12a7a9ddca45e629d962c6bd64908c3930a5541cfe2924dcc5580d5cef7a4bfdec90a91b59926f850d4a7923c01a5a5dbf0f5c094a2b9fb9d415820fa6b40c59bb9eade9c953407b0fc11da350a9d872cad6d3142974ca385854afdf5f583c04231adc5957c8914b6b20dc89660ed7c3bbe7c01d972be2d53ecdb27a1bcc16ac610db95aa7d237c8ff55a898cb88645a0e32530b23d7ebf5dafdd79b0f9c2ac4ba07ce18d3d16cf36e47916c4cae5d08d3afa813972c769e8514533e380c9443b3e1ee5c96fa3a0a73f301b626454721527bf900',
} as const;

type Curve = keyof typeof TARGETS;
const CURVES = Object.keys(TARGETS) as Curve[];

/** Calls of natives in one run. */
class Algebra {
  readonly #run = new NativeRun();
  readonly #curve: Curve;

  constructor(curve: Curve) {
    this.#curve = curve;
  }

  async all(name: string, structures: readonly string[], ...args: Value[]) {
    const types = structures.map((structure) => `0x1::${this.#curve}::${structure}`);
    return await this.#run.call(`crypto_algebra::${name}_internal`, types, ...args);
  }

  async one(name: string, structures: readonly string[], ...args: Value[]): Promise<bigint> {
    return (await this.all(name, structures, ...args))[0] as bigint;
  }

  /** Charges since the last call, without the common prefix of all prices. */
  takeCharges(): Record<string, number> {
    const charges = Object.entries(this.#run.takeCharges());
    expect(charges.filter(([name]) => !isPriced(name))).toEqual([]);
    return Object.fromEntries(
      charges.map(([name, units]) => [name.replace('aptos_framework.algebra.ark_', ''), units]),
    );
  }

  async hex(structure: string, format: string, handle: bigint): Promise<string> {
    const [written] = await this.all('serialize', [structure, format], handle);
    return Buffer.from((written as ByteVector).bytes).toString('hex');
  }
}

describe.each(CURVES)('%s', (curve) => {
  it('has the pairing of the reference', async () => {
    const algebra = new Algebra(curve);
    const [g1, g2] = [await algebra.one('one', ['G1']), await algebra.one('one', ['G2'])];
    const product = await algebra.one('pairing', ['G1', 'G2', 'Gt'], g1, g2);
    expect(await algebra.hex('Gt', 'FormatGt', product)).toBe(TARGETS[curve]);
    const generator = await algebra.one('one', ['Gt']);
    expect(await algebra.all('eq', ['Gt'], product, generator)).toEqual([true]);
    const [isRead, again] = await algebra.all(
      'deserialize',
      ['Gt', 'FormatGt'],
      reference(bytes(Buffer.from(TARGETS[curve], 'hex'))),
    );
    expect([isRead, await algebra.all('eq', ['Gt'], again, product)]).toEqual([true, [true]]);
    const [five, seven] = [
      await algebra.one('from_u64', ['Fr'], 5n),
      await algebra.one('from_u64', ['Fr'], 7n),
    ];
    const left = await algebra.one('scalar_mul', ['G1', 'Fr'], g1, five);
    const right = await algebra.one('scalar_mul', ['G2', 'Fr'], g2, seven);
    const both = await algebra.one('pairing', ['G1', 'G2', 'Gt'], left, right);
    const scalars = await algebra.one('mul', ['Fr'], five, seven);
    const power = await algebra.one('scalar_mul', ['Gt', 'Fr'], product, scalars);
    expect(await algebra.all('eq', ['Gt'], both, power)).toEqual([true]);
    const minus = await algebra.one('neg', ['G1'], left);
    const none = await algebra.one(
      'multi_pairing',
      ['G1', 'G2', 'Gt'],
      [left, minus, await algebra.one('zero', ['G1'])],
      [right, right, g2],
    );
    const identity = await algebra.one('zero', ['Gt']);
    expect(await algebra.all('eq', ['Gt'], none, identity)).toEqual([true]);
    const cast = await algebra.all('downcast', ['Fq12', 'Gt'], product);
    expect(cast).toEqual([true, product]);
    const two = await algebra.one('from_u64', ['Fq12'], 2n);
    expect(await algebra.all('downcast', ['Fq12', 'Gt'], two)).toEqual([false, two]);
  });

  it('computes in fields', async () => {
    const algebra = new Algebra(curve);
    for (const field of ['Fr', 'Fq12']) {
      const [three, four] = [
        await algebra.one('from_u64', [field], 3n),
        await algebra.one('from_u64', [field], 4n),
      ];
      const sum = await algebra.one('add', [field], three, four);
      const seven = await algebra.one('from_u64', [field], 7n);
      expect(await algebra.all('eq', [field], sum, seven)).toEqual([true]);
      const [isThere, quotient] = await algebra.all('div', [field], seven, four);
      const back = await algebra.one('mul', [field], quotient as bigint, four);
      expect([isThere, await algebra.all('eq', [field], back, seven)]).toEqual([true, [true]]);
      const zero = await algebra.one('sub', [field], three, three);
      expect(await algebra.all('inv', [field], zero)).toEqual([false, 0n]);
      expect(await algebra.all('div', [field], three, zero)).toEqual([false, 0n]);
      const square = await algebra.one('sqr', [field], three);
      const nine = await algebra.one('from_u64', [field], 9n);
      expect(await algebra.all('eq', [field], square, nine)).toEqual([true]);
    }
    const five = await algebra.one('from_u64', ['Fr'], 5n);
    expect(await algebra.hex('Fr', 'FormatFrLsb', five)).toBe(`05${'00'.repeat(31)}`);
    expect(await algebra.hex('Fr', 'FormatFrMsb', five)).toBe(`${'00'.repeat(31)}05`);
    const [order] = await algebra.all('order', ['Fr']);
    const scalar = (content: Uint8Array) =>
      algebra.all('deserialize', ['Fr', 'FormatFrLsb'], reference(bytes(content)));
    expect(await scalar((order as ByteVector).bytes)).toEqual([false, 0n]);
    expect((await scalar(Buffer.alloc(32)))[0]).toBe(true);
    expect(await scalar(Buffer.alloc(31))).toEqual([false, 0n]);
  });

  it('reads and writes points', async () => {
    const algebra = new Algebra(curve);
    for (const group of ['G1', 'G2']) {
      const three = await algebra.one('from_u64', ['Fr'], 3n);
      const base = await algebra.one('one', [group]);
      const double = await algebra.one('double', [group], base);
      const point = await algebra.one('add', [group], double, base);
      const product = await algebra.one('multi_scalar_mul', [group, 'Fr'], [base], [three]);
      expect(await algebra.all('eq', [group], point, product)).toEqual([true]);
      const zero = await algebra.one('zero', [group]);
      const minus = await algebra.one('neg', [group], point);
      for (const form of ['Compr', 'Uncompr']) {
        const format = `Format${group}${form}`;
        for (const handle of [point, minus, zero]) {
          const written = Buffer.from(await algebra.hex(group, format, handle), 'hex');
          const read = (content: Uint8Array) =>
            algebra.all('deserialize', [group, format], reference(bytes(content)));
          const [isRead, again] = await read(written);
          expect(isRead).toBe(true);
          expect(await algebra.all('eq', [group], again, handle)).toEqual([true]);
          expect(await read(written.subarray(1))).toEqual([false, 0n]);
          const changed = Buffer.from(written);
          changed[10]! ^= 1;
          if (form === 'Uncompr') expect(await read(changed)).toEqual([false, 0n]);
        }
      }
      const sizes = await algebra.all('multi_scalar_mul', [group, 'Fr'], [base], []);
      expect(sizes).toBe('abort 0x10002');
    }
  });

  it('refuses what is not defined, and more elements than have room', async () => {
    const algebra = new Algebra(curve);
    const base = await algebra.one('one', ['G1']);
    expect(await algebra.all('mul', ['G1'], base, base)).toBe('abort 0xc0001');
    expect(await algebra.all('serialize', ['G1', 'FormatGt'], base)).toBe('abort 0xc0001');
    expect(await algebra.all('zero', ['Nope'])).toBe('abort 0xc0001');
    const other = algebra.all('eq', ['G2'], base, base);
    await expect(other).rejects.toMatchObject({ status: 'UNKNOWN_INVARIANT_VIOLATION_ERROR' });
    let last: readonly Value[] | string = [];
    while (typeof last !== 'string') last = await algebra.all('one', ['Fq12']);
    expect(last).toMatch(/^abort 0x90003: Algebra context memory 1048576-byte limit exceeded/);
  });
});

describe('gas', () => {
  it.each([
    ['bls12381_algebra', 'bls12_381'],
    ['bn254_algebra', 'bn254'],
  ] as const)('of %s has the names of the schedule', async (curve, priced) => {
    const algebra = new Algebra(curve);
    const fields = curve === 'bn254_algebra' ? ['Fr', 'Fq', 'Fq12'] : ['Fr', 'Fq12'];
    for (const field of fields) {
      const two = await algebra.one('from_u64', [field], 2n);
      for (const name of ['zero', 'one']) await algebra.all(name, [field]);
      for (const name of ['add', 'sub', 'mul', 'eq']) await algebra.all(name, [field], two, two);
      for (const name of ['neg', 'sqr', 'inv']) await algebra.all(name, [field], two);
      const kind = `${priced}_${field.toLowerCase()}`;
      const one = field === 'Fr' ? 'bls12_381_fr_one' : `${kind}_one`;
      const names = ['from_u64', 'zero', 'add', 'sub', 'mul', 'eq', 'neg', 'square', 'inv'];
      const each = names.map((name) => [`${kind}_${name}`, 1] as const);
      expect(algebra.takeCharges()).toEqual(Object.fromEntries([...each, [one, 1]]));
      const zero = await algebra.one('zero', [field]);
      algebra.takeCharges();
      await algebra.all('div', [field], two, zero);
      expect(algebra.takeCharges()).toEqual({ [`${kind}_eq`]: 1 });
      await algebra.all('div', [field], two, two);
      expect(algebra.takeCharges()).toEqual({ [`${kind}_eq`]: 1, [`${kind}_div`]: 1 });
    }
    const three = await algebra.one('from_u64', ['Fr'], 3n);
    algebra.takeCharges();
    for (const group of ['G1', 'G2']) {
      const kind = `${priced}_${group.toLowerCase()}_proj`;
      const affine = `${priced}_${group.toLowerCase()}_affine`;
      const base = await algebra.one('one', [group]);
      await algebra.all('zero', [group]);
      for (const name of ['add', 'sub', 'eq']) await algebra.all(name, [group], base, base);
      for (const name of ['neg', 'double']) await algebra.all(name, [group], base);
      await algebra.all('scalar_mul', [group, 'Fr'], base, three);
      const names = ['generator', 'infinity', 'add', 'sub', 'eq', 'neg', 'double', 'scalar_mul'];
      expect(algebra.takeCharges()).toEqual(
        Object.fromEntries(names.map((name) => [`${kind}_${name}`, 1])),
      );
      await algebra.all('multi_scalar_mul', [group, 'Fr'], [base, base], [three, three]);
      // Windows of three bits: 85 of them, with eight buckets each.
      expect(algebra.takeCharges()).toEqual({
        [`${kind}_to_affine`]: 2,
        [`${kind}_add`]: (2 + 8 + 1) * 85,
        [`${kind}_double`]: 8 * 85,
      });
      for (const form of ['Compr', 'Uncompr']) {
        const format = `Format${group}${form}`;
        const written = await algebra.hex(group, format, base);
        const suffix = form === 'Compr' ? '_comp' : '_uncomp';
        expect(algebra.takeCharges()).toEqual({
          [`${kind}_to_affine`]: 1,
          [`${affine}_serialize${suffix}`]: 1,
        });
        const read = (content: Buffer) =>
          algebra.all('deserialize', [group, format], reference(bytes(content)));
        await read(Buffer.from(written, 'hex'));
        expect(algebra.takeCharges()).toEqual({ [`${affine}_deser${suffix}`]: 1 });
        await read(Buffer.alloc(1));
        expect(algebra.takeCharges()).toEqual({});
      }
    }
  });

  it('of the target group is that of its field', async () => {
    const algebra = new Algebra('bn254_algebra');
    const [g1, g2] = [await algebra.one('one', ['G1']), await algebra.one('one', ['G2'])];
    const three = await algebra.one('from_u64', ['Fr'], 3n);
    algebra.takeCharges();
    const affine = (count: number) => ({
      bn254_g1_proj_to_affine: count,
      bn254_g2_proj_to_affine: count,
    });
    const product = await algebra.one('pairing', ['G1', 'G2', 'Gt'], g1, g2);
    expect(algebra.takeCharges()).toEqual({ ...affine(1), bn254_pairing: 1 });
    await algebra.all('multi_pairing', ['G1', 'G2', 'Gt'], [g1, g1], [g2, g2]);
    expect(algebra.takeCharges()).toEqual({
      ...affine(2),
      bn254_multi_pairing_base: 1,
      bn254_multi_pairing_per_pair: 2,
    });
    for (const name of ['zero', 'one']) await algebra.all(name, ['Gt']);
    for (const name of ['add', 'sub', 'eq']) await algebra.all(name, ['Gt'], product, product);
    for (const name of ['neg', 'double']) await algebra.all(name, ['Gt'], product);
    await algebra.all('scalar_mul', ['Gt', 'Fr'], product, three);
    const names = ['one', 'clone', 'mul', 'div', 'eq', 'inv', 'square', 'pow_u256'];
    expect(algebra.takeCharges()).toEqual(
      Object.fromEntries(names.map((name) => [`bn254_fq12_${name}`, 1])),
    );
    const written = Buffer.from(await algebra.hex('Gt', 'FormatGt', product), 'hex');
    expect(algebra.takeCharges()).toEqual({ bn254_fq12_serialize: 1 });
    await algebra.all('deserialize', ['Gt', 'FormatGt'], reference(bytes(written)));
    const membership = { bn254_fq12_pow_u256: 1, bn254_fq12_eq: 1 };
    expect(algebra.takeCharges()).toEqual({ bn254_fq12_deser: 1, ...membership });
    await algebra.all('downcast', ['Fq12', 'Gt'], product);
    expect(algebra.takeCharges()).toEqual({ bn254_fq12_pow_u256: 1 });
  });

  it('of hashing counts a domain above 255 bytes', async () => {
    const algebra = new Algebra('bls12381_algebra');
    for (const [domainBytes, hashed] of [
      [255, {}],
      [256, { 'move_stdlib.hash.sha2_256.base': 1, 'move_stdlib.hash.sha2_256.per_byte': 273 }],
    ] as const) {
      const args = [reference(bytes(Buffer.alloc(domainBytes, 1))), reference(bytes('abc'))];
      await algebra.all('hash_to', ['G2', 'HashG2XmdSha256SswuRo'], ...args);
      expect(algebra.takeCharges()).toEqual({
        h2c_bls12381g2_xmd_sha256_sswu_base: 1,
        h2c_bls12381g2_xmd_sha256_sswu_per_msg_byte: 3,
        ...hashed,
      });
    }
  });
});

describe('encodings', () => {
  it('of points of BLS12-381 are those of Zcash, of BN254 lowest byte first', async () => {
    const bls = new Algebra('bls12381_algebra');
    const base = await bls.one('one', ['G1']);
    const expected = Buffer.from(bls12_381.G1.Point.BASE.toBytes(true)).toString('hex');
    expect(await bls.hex('G1', 'FormatG1Compr', base)).toBe(expected);
    const bn = new Algebra('bn254_algebra');
    const one = await bn.one('one', ['G1']);
    const [first, second] = [`01${'00'.repeat(31)}`, `02${'00'.repeat(31)}`];
    expect(bn254.G1.Point.BASE.toAffine()).toEqual({ x: 1n, y: 2n });
    expect(await bn.hex('G1', 'FormatG1Uncompr', one)).toBe(first + second);
    expect(await bn.hex('G1', 'FormatG1Compr', one)).toBe(first);
    const minus = await bn.one('neg', ['G1'], one);
    expect(await bn.hex('G1', 'FormatG1Compr', minus)).toBe(`01${'00'.repeat(30)}80`);
  });

  it('hash to the groups of BLS12-381', async () => {
    const bls = new Algebra('bls12381_algebra');
    const domain = 'QUUX-V01-CS02-with-BLS12381G1_XMD:SHA-256_SSWU_RO_';
    const args = [reference(bytes(domain)), reference(bytes('abc'))];
    const hashed = await bls.one('hash_to', ['G1', 'HashG1XmdSha256SswuRo'], ...args);
    // RFC 9380 §J.9.1.
    expect(await bls.hex('G1', 'FormatG1Uncompr', hashed)).toBe(
      '03567bc5ef9c690c2ab2ecdf6a96ef1c139cc0b2f284dca0a9a7943388a49a3aee664ba5379a7655d3c68900be2f6903' +
        '0b9c15f3fe6e5cf4211f346271d7b01c8f3b28be689c8429c85b67af215533311f0b8dfaaa154fa6b88176c229f2885d',
    );
  });
});
