/** Every limit of the compiled format: one below, exactly at, and one above it (docs/spec/move.md §1.3, §1.6). */
import { describe, expect, it } from 'vitest';
import { BinaryFormatError } from '../../../src/move/modules/format.ts';
import { readModule } from '../../../src/move/modules/read.ts';
import { rawFunction, rawModule, times, uleb } from './module-samples.ts';

function codeOf(read: () => unknown): string {
  try {
    read();
    return 'loads';
  } catch (error) {
    if (!(error instanceof BinaryFormatError)) throw error;
    return error.code;
  }
}

const V = 10;
const blob = (count: number, byte = 0x61) => [...uleb(count), ...times(count, byte)];
const U8 = 2;
const NOP = 0x28;
const LEGACY = { maxVersion: 10, maxIdentifierBytes: 65_535 };

/** A struct definition table of one enum of `count` variants without fields. */
const variants = (count: number) => [0, 3, ...uleb(count), ...times(count, [1, 0]).flat()];
const structHandle = [0, 1, 0, 0];
const functionHandle = (middle: number[], attributes = [0]) => [
  ...[0, 1, 0, 0],
  ...middle,
  ...attributes,
];

interface Limit {
  readonly what: string;
  readonly limit: number;
  readonly bytes: (value: number) => Buffer;
  /** Unless they are the default ones. */
  readonly limits?: typeof LEGACY;
  /** The result for a value at or below the limit, if it has no target. */
  readonly below?: string;
  readonly above?: string;
}

const LIMITS: readonly Limit[] = [
  {
    what: 'identifier bytes',
    limit: 255,
    bytes: (n) => rawModule(V, [[7, [...blob(n), 1, 0x66]]]),
  },
  {
    what: 'identifier bytes of old chains',
    limit: 65_535,
    limits: LEGACY,
    bytes: (n) => rawModule(V, [[7, [...blob(n), 1, 0x66]]]),
  },
  { what: 'constant bytes', limit: 65_535, bytes: (n) => rawModule(V, [[6, [U8, ...blob(n)]]]) },
  {
    what: 'metadata key bytes',
    limit: 1023,
    bytes: (n) => rawModule(V, [[0x10, [...blob(n), 0]]]),
  },
  {
    what: 'metadata value bytes',
    limit: 65_535,
    bytes: (n) => rawModule(V, [[0x10, [0, ...blob(n)]]]),
  },
  {
    what: 'tokens of a signature',
    limit: 255,
    bytes: (n) => rawModule(V, [[5, [0, ...blob(n, U8)]]]),
  },
  {
    what: 'acquired structs',
    limit: 255,
    bytes: (n) =>
      rawModule(V, [
        [0x02, structHandle],
        [0x0a, [0, 1]],
        [0x0c, [0, 0, 0, ...blob(n, 0), 0, 0]],
      ]),
  },
  {
    what: 'fields',
    limit: 255,
    bytes: (n) =>
      rawModule(V, [
        [0x02, structHandle],
        [0x0a, [0, 2, ...uleb(n), ...times(n, [1, U8]).flat()]],
      ]),
  },
  {
    what: 'field offset',
    limit: 255,
    below: 'out_of_bounds',
    bytes: (n) =>
      rawModule(V, [
        [0x02, structHandle],
        [0x0a, [0, 1]],
        [0x0d, [0, ...uleb(n)]],
      ]),
  },
  {
    what: 'variants',
    limit: 127,
    bytes: (n) =>
      rawModule(V, [
        [0x02, structHandle],
        [0x0a, variants(n)],
      ]),
  },
  {
    what: 'variant index',
    limit: 127,
    below: 'out_of_bounds',
    bytes: (n) =>
      rawModule(V, [
        [0x02, structHandle],
        [0x0a, variants(2)],
        [0x13, [0, ...uleb(n)]],
      ]),
  },
  {
    what: 'variants of a variant field',
    limit: 127,
    bytes: (n) =>
      rawModule(V, [
        [0x02, structHandle],
        [0x0a, [0, 3, 1, 1, 1, 1, U8]],
        [0x11, [0, 0, ...blob(n, 0)]],
      ]),
  },
  {
    what: 'type parameters of a function',
    limit: 255,
    bytes: (n) => rawModule(V, [[3, functionHandle([...blob(n, 0), 1])]]),
  },
  {
    what: 'type parameters of a struct',
    limit: 255,
    bytes: (n) => rawModule(V, [[2, [0, 1, 0, ...uleb(n), ...times(2 * n, 0)]]]),
  },
  {
    what: 'type arguments',
    limit: 255,
    below: 'bad_arity',
    bytes: (n) =>
      rawModule(V, [
        [2, structHandle],
        [5, [0, 1, 0x0b, 0, ...blob(n, U8)]],
      ]),
  },
  {
    what: 'arguments of a function type',
    limit: 255,
    bytes: (n) => rawModule(V, [[5, [0, 1, 0x10, 0, ...uleb(n), 0, ...times(n, U8)]]]),
  },
  {
    what: 'results of a function type',
    limit: 255,
    bytes: (n) => rawModule(V, [[5, [0, 1, 0x10, 0, 0, ...uleb(n), ...times(n, U8)]]]),
  },
  {
    what: 'type parameter index',
    limit: 65_535,
    bytes: (n) => rawModule(V, [[5, [0, 1, 9, ...uleb(n)]]]),
  },
  {
    what: 'access specifiers',
    limit: 64,
    bytes: (n) => rawModule(V, [[3, functionHandle([0, 2, ...uleb(n), ...times(4 * n, 1)])]]),
  },
  {
    what: 'attributes',
    limit: 16,
    bytes: (n) => rawModule(V, [[3, functionHandle([0, 1], blob(n, 1))]]),
  },
  { what: 'ability set', limit: 15, bytes: (n) => rawModule(V, [[2, [0, 1, ...uleb(n), 0]]]) },
  {
    what: 'instructions',
    limit: 65_535,
    bytes: (n) => rawModule(V, [[0x0c, rawFunction(V, n, times(n, NOP))]]),
  },
  {
    what: 'branch target',
    limit: 65_535,
    below: 'out_of_bounds',
    bytes: (n) => rawModule(V, [[0x0c, rawFunction(V, 1, [5, ...uleb(n)])]]),
  },
  {
    what: 'local index',
    limit: 255,
    below: 'out_of_bounds',
    bytes: (n) => rawModule(V, [[0x0c, rawFunction(V, 1, [0x0a, ...uleb(n)])]]),
  },
  {
    what: 'locals of a function with 100 parameters',
    limit: 155,
    above: 'too_many_locals',
    bytes: (n) =>
      rawModule(V, [
        [3, [0, 1, 1, 0, 0, 1, 0]],
        [5, [0, ...blob(100, U8), ...blob(n, U8)]],
        [0x0c, [0, 0, 0, 0, 2, 0]],
      ]),
  },
  {
    what: 'table index',
    limit: 65_535,
    below: 'out_of_bounds',
    bytes: (n) => rawModule(V, [[0x0c, rawFunction(V, 1, [0x11, ...uleb(n)])]]),
  },
];

describe('limits of the loader', () => {
  it.each(LIMITS)('$what: $limit', ({ limit, bytes, limits, below = 'loads', above }) => {
    expect(codeOf(() => readModule(bytes(limit - 1), limits))).toBe(below);
    expect(codeOf(() => readModule(bytes(limit), limits))).toBe(below);
    expect(codeOf(() => readModule(bytes(limit + 1), limits))).toBe(above ?? 'limit_exceeded');
  });

  const WRAPPERS: readonly (readonly [string, readonly number[], readonly number[]])[] = [
    ['vector', [0x0a], []],
    ['reference', [0x06], []],
    ['mutable reference', [0x07], []],
    ['struct instantiation', [0x0b, 0, 1], []],
    ['function argument', [0x10, 0, 1, 0], []],
    ['function result', [0x10, 0, 0, 1], []],
    ['function with a second part', [0x10, 0, 1, 1], [U8]],
  ];

  it.each(WRAPPERS)('nesting of %s: 255 levels around a leaf', (_, open, close) => {
    const nested = (depth: number, leaf: readonly number[]) =>
      rawModule(V, [
        [0x02, [0, 1, 0, 1, 0, 0]],
        [0x05, [0, 1, ...times(depth, open).flat(), ...leaf, ...times(depth, close).flat()]],
      ]);
    for (const leaf of [[U8], [0x10, 0, 0, 0]]) {
      expect(codeOf(() => readModule(nested(254, leaf)))).toBe('loads');
      expect(codeOf(() => readModule(nested(255, leaf)))).toBe('loads');
      expect(codeOf(() => readModule(nested(256, leaf)))).toBe('too_deep');
      expect(codeOf(() => readModule(nested(257, leaf)))).toBe('too_deep');
    }
  });

  it('asks for the type parameters of a long signature once, not per instruction', () => {
    const code = times(65_535, [0x41, 1]).flat();
    const bytes = rawModule(V, [
      [5, [0, ...blob(255, U8)]],
      [0x0c, [...rawFunction(V, 65_535, code), ...rawFunction(V, 65_535, code)]],
    ]);
    expect(readModule(bytes).functionDefinitions[1]!.code!.code.length).toBe(65_535);
  });

  it('more entries than an index can name do no harm', () => {
    const module = readModule(rawModule(V, [[5, times(70_000, 0)]]));
    expect(module.signatures.length).toBe(70_000);
  });
});
