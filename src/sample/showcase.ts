/** The functions of `cafe::showcase`, and how their arguments are drawn. */
import type { BcsWriter } from '../move/bcs/bcs-writer.ts';
import { type Argument, callsOf, type FunctionCall, type ValueWriter } from './calls.ts';
import { CAFE_HEX } from './publishers.ts';
import type { Random } from './random.ts';
import { ASSETS, addressOf, pickReceiver, type World } from './world.ts';

const MODULE = `${CAFE_HEX}::showcase`;

/** @template T the source that arguments are drawn from */
interface ShowcaseFunction<T> {
  readonly call: FunctionCall;
  readonly draw: (from: T) => readonly Argument[];
}

function showcaseFunction<T>(
  name: string,
  draw: ShowcaseFunction<T>['draw'],
  typeArguments: readonly string[] = [],
): ShowcaseFunction<T> {
  return { call: callsOf(`${MODULE}::${name}`, typeArguments), draw };
}

export function randomBigint(random: Random, bits: number): bigint {
  let value = 0n;
  for (let done = 0; done < bits; done += 32) value = (value << 32n) | BigInt(random.u32());
  return BigInt.asUintN(bits, value);
}

function signed(random: Random, bits: 8 | 16 | 32 | 64 | 128 | 256): ValueWriter {
  const value = BigInt.asIntN(bits, randomBigint(random, bits));
  return (to) => to.signed(value, bits);
}

/** Functions whose arguments are drawn from random numbers alone. The large ledgers of benchmarks call them too. */
export const DRAWN = {
  unsignedNumbers: showcaseFunction('unsigned_numbers', ({ random }: Pick<World, 'random'>) => {
    const small = random.below(256);
    const [u64, u128, u256] = [
      randomBigint(random, 64),
      randomBigint(random, 128),
      randomBigint(random, 256),
    ];
    return [
      (to) => to.u8(small),
      (to) => to.u16(small * 255),
      (to) => to.u32(small * 65_535),
      u64,
      (to) => to.u128(u128),
      (to) => to.u256(u256),
    ];
  }),
  signedNumbers: showcaseFunction('signed_numbers', ({ random }: Pick<World, 'random'>) =>
    ([8, 16, 32, 64, 128, 256] as const).map((bits) => signed(random, bits)),
  ),
  vectors: showcaseFunction('vectors', ({ random }: Pick<World, 'random'>) => {
    const numbers = Array.from({ length: random.below(8) }, () => randomBigint(random, 64));
    const rows = Array.from({ length: random.below(4) }, (_, row) =>
      Array.from({ length: row }, () => random.perMille(500)),
    );
    return [
      (to) => to.vector(numbers, (inner, value) => inner.u64(value)),
      (to) => to.vector(numbers, (inner, value) => inner.string(`no. ${value}`)),
      (to) => to.vector(rows, (inner, row) => inner.vector(row, (cell, bit) => cell.bool(bit))),
    ];
  }),
  texts: showcaseFunction('texts', ({ random }: Pick<World, 'random'>) => {
    const text = random.pick(['hello', 'grüß dich', 'こんにちは', '']);
    const small = random.perMille(500) ? random.below(256) : undefined;
    const nested = random.perMille(500) ? [undefined, randomBigint(random, 64)] : undefined;
    return [
      text,
      (to) => to.option(small === undefined ? undefined : text, (inner, t) => inner.string(t)),
      (to) => to.option(small, (inner, value) => inner.u8(value)),
      (to) =>
        to.option(nested, (inner, values) =>
          inner.vector(values, (item, value) => item.option(value, (last, v) => last.u64(v))),
        ),
    ];
  }),
};

export const SHOWN_FUNCTIONS: readonly ShowcaseFunction<World>[] = [
  showcaseFunction('show', ({ random }) => {
    const number = random.u32();
    return [(to) => to.u32(number)];
  }),
  DRAWN.unsignedNumbers,
  DRAWN.signedNumbers,
  showcaseFunction('plain_values', (world) => {
    const { random } = world;
    const yes = random.perMille(500);
    const raw = Buffer.alloc(random.below(64), random.below(256));
    return [(to) => to.bool(yes), addressOf(world, pickReceiver(world)), (to) => to.bytes(raw)];
  }),
  DRAWN.vectors,
  DRAWN.texts,
  showcaseFunction('objects', () => [
    ASSETS.gold,
    (to: BcsWriter) =>
      to.vector([ASSETS.moon, ASSETS.native], (inner, asset) => inner.fixed(asset)),
    (to: BcsWriter) => to.option(ASSETS.gold, (inner, asset) => inner.fixed(asset)),
  ]),
  showcaseFunction('generic', ({ random }) => [random.u32()], ['u64', `${MODULE}::Point`]),
];
