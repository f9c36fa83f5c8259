/**
 * Random types and values compared with a model that knows nothing of layouts: it walks the source of the types and
 * writes bytes, argument JSON and rendered JSON side by side.
 */

import { describe, expect, it } from 'vitest';
import { BcsError } from '../../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { parseJson } from '../../../src/move/json/json-text.ts';
import { formatJson } from '../../../src/move/json/json-text-print.ts';
import { parseAddress } from '../../../src/move/types/address.ts';
import type { TypeTag } from '../../../src/move/types/type-tag.ts';
import { type Layout, LayoutError, objectTemplate } from '../../../src/move/values/layout.ts';
import {
  resolveInnerArgumentLayout,
  resolveLayout,
} from '../../../src/move/values/layout-resolver.ts';
import { decodeArgument } from '../../../src/move/values/value-decode.ts';
import { ValueEncodeError } from '../../../src/move/values/value-encode.ts';
import {
  JSON_PIECE_BYTES,
  renderInTurns,
  renderValue,
} from '../../../src/move/values/value-json.ts';
import { Random, roundsOf, testSeed } from '../../random.ts';
import {
  encodeValueBytes,
  moduleLookup,
  NEW_FRAMEWORK,
  OLD_FRAMEWORK,
  type Source,
  type SourceFields,
  type SourceStruct,
  type SourceType,
} from './layout-modules.ts';

/** One value in three formats. */
interface Modelled {
  readonly bytes: Buffer;
  readonly argument: string;
  readonly shown: string;
}

const INTEGER_BITS = [8, 16, 32, 64, 128, 256] as const;
const NAMES = ['__proto__', 'constructor', '_0', '_1', '_10', 'Z', 'a', 'a$b', 'aa', 'z_'];
const TEXTS = ['', 'plain', '"\\\n\u0001', 'é 😀 \u2028', '</script>'];
const OBJECT: Source = {
  '0x1::object::Object': { parameters: 1, fields: [['inner', 'address']] },
};

class World {
  readonly source: Record<string, SourceStruct>;
  readonly isNew: boolean;
  readonly #random: Random;
  /** Structs that later ones may use, so that none contains itself. */
  readonly #paths: string[];

  constructor(random: Random) {
    this.#random = random;
    this.isNew = random.below(2) === 0;
    this.source = { ...(this.isNew ? NEW_FRAMEWORK : OLD_FRAMEWORK), ...OBJECT };
    this.#paths = Object.keys(this.source);
    for (let count = 1 + random.below(5); count > 0; count -= 1) this.#define(count);
  }

  #define(count: number): void {
    const random = this.#random;
    const parameters = random.below(3);
    const struct: SourceStruct =
      random.below(2) === 0
        ? { parameters, fields: this.#fields(parameters) }
        : {
            parameters,
            variants: NAMES.slice(0, 1 + random.below(3)).map((name) => {
              return [`V${name}`, this.#fields(parameters)] as const;
            }),
          };
    const path = `0x${1 + random.below(3)}::m${random.below(2)}::S${count}`;
    this.source[path] = struct;
    this.#paths.push(path);
  }

  #fields(parameters: number): SourceFields {
    const names = NAMES.filter(() => this.#random.below(3) === 0);
    return names.map((name) => [name, this.type(3, parameters)]);
  }

  type(depth: number, parameters: number): SourceType {
    const random = this.#random;
    const choice = random.below(depth > 0 ? 10 : 5);
    if (choice === 4 && parameters > 0) return { parameter: random.below(parameters) };
    if (choice < 4 || choice === 4) {
      const kinds = INTEGER_BITS.flatMap((bits) => [`u${bits}`, `i${bits}`] as const);
      return random.pick([...kinds, 'bool', 'address', 'u8'] as const);
    }
    if (choice < 7) return { vector: this.type(depth - 1, parameters) };
    const is = random.pick(this.#paths);
    const count = this.source[is]?.parameters ?? 0;
    return { is, of: Array.from({ length: count }, () => this.type(depth - 1, parameters)) };
  }

  value(type: SourceType, given: readonly SourceType[]): Modelled {
    const random = this.#random;
    if (type === 'bool') {
      const value = random.below(2) === 1;
      const text = String(value);
      return { bytes: Buffer.from([Number(value)]), argument: text, shown: text };
    }
    if (type === 'address') {
      const text = random.pick(['0x0', '0xa', `0x1${'f'.repeat(63)}`]);
      const bytes = Buffer.from(parseAddress(text), 'hex');
      return { bytes, argument: `"${text}"`, shown: `"${text}"` };
    }
    if (typeof type === 'string') return this.#integer(type);
    if ('parameter' in type) return this.value(given[type.parameter]!, []);
    if ('vector' in type) return this.#vector(substitute(type.vector, given));
    if (!('is' in type)) throw new Error('not modelled');
    return this.#struct(
      type.is,
      (type.of ?? []).map((argument) => substitute(argument, given)),
    );
  }

  #integer(kind: string): Modelled {
    const bits = Number(kind.slice(1)) as (typeof INTEGER_BITS)[number];
    const raw = this.#random.bytes(bits / 8).fill(0, this.#random.below(bits / 8 + 1));
    const unsigned = BigInt(`0x${Buffer.from(raw).reverse().toString('hex')}`);
    const value = kind.startsWith('i') ? BigInt.asIntN(bits, unsigned) : unsigned;
    const text = bits > 32 ? `"${value}"` : String(value);
    return { bytes: raw, argument: text, shown: text };
  }

  #vector(element: SourceType): Modelled {
    if (element === 'u8') {
      const raw = this.#random.bytes(this.#random.below(4));
      const text = `"0x${raw.toString('hex')}"`;
      return { bytes: encodeBcs((writer) => writer.bytes(raw)), argument: text, shown: text };
    }
    const items = Array.from({ length: this.#random.below(3) }, () => this.value(element, []));
    return {
      bytes: Buffer.concat([Buffer.from([items.length]), ...items.map((item) => item.bytes)]),
      argument: `[${items.map((item) => item.argument).join(',')}]`,
      shown: `[${items.map((item) => item.shown).join(',')}]`,
    };
  }

  #struct(path: string, given: readonly SourceType[]): Modelled {
    if (path === '0x1::string::String') {
      const text = this.#random.pick(TEXTS);
      const json = JSON.stringify(text);
      return { bytes: encodeBcs((writer) => writer.string(text)), argument: json, shown: json };
    }
    if (path === '0x1::option::Option') return this.#option(given[0]!);
    const struct = this.source[path]!;
    if ('fields' in struct) return this.#members(struct.fields, given);
    if (!('variants' in struct)) throw new Error('not modelled');
    const index = this.#random.below(struct.variants.length);
    const [name, fields] = struct.variants[index]!;
    const body = this.#members(fields, given, name);
    return {
      bytes: Buffer.concat([Buffer.from([index]), body.bytes]),
      argument: `{${JSON.stringify(name)}:${body.argument}}`,
      shown: body.shown,
    };
  }

  #option(element: SourceType): Modelled {
    const none = this.#random.below(2) === 0;
    if (none) {
      const argument = element === 'u8' ? '{"vec":"0x"}' : '{"vec":[]}';
      return { bytes: Buffer.from([0]), argument, shown: this.isNew ? '{"vec":[]}' : argument };
    }
    const { bytes, argument, shown } = this.value(element, []);
    const hex = `{"vec":"0x${bytes.toString('hex')}"}`;
    const isByte = element === 'u8';
    return {
      bytes: Buffer.concat([Buffer.from([1]), bytes]),
      argument: isByte ? hex : `{"vec":[${argument}]}`,
      shown: isByte && !this.isNew ? hex : `{"vec":[${shown}]}`,
    };
  }

  #members(fields: SourceFields, given: readonly SourceType[], variant?: string): Modelled {
    const values = fields.map(([name, type]) => ({ name, value: this.value(type, given) }));
    const shown = values.map(({ name, value }) => ({ name, text: value.shown }));
    if (variant !== undefined) shown.push({ name: '__variant__', text: JSON.stringify(variant) });
    shown.sort((left, right) => Buffer.compare(Buffer.from(left.name), Buffer.from(right.name)));
    return {
      bytes: Buffer.concat(values.map(({ value }) => value.bytes)),
      argument: `{${values.map(({ name, value }) => `"${name}":${value.argument}`).join(',')}}`,
      shown: `{${shown.map(({ name, text }) => `"${name}":${text}`).join(',')}}`,
    };
  }
}

function substitute(type: SourceType, given: readonly SourceType[]): SourceType {
  if (typeof type === 'string') return type;
  if ('parameter' in type) return given[type.parameter]!;
  if ('vector' in type) return { vector: substitute(type.vector, given) };
  if ('is' in type) {
    return { is: type.is, of: (type.of ?? []).map((argument) => substitute(argument, given)) };
  }
  throw new Error('not modelled');
}

function tagOf(type: SourceType): TypeTag {
  if (typeof type === 'string') return { kind: type };
  if ('vector' in type) return { kind: 'vector', element: tagOf(type.vector) };
  if (!('is' in type)) throw new Error('not modelled');
  const [address = '', module = '', name = ''] = type.is.split('::');
  const typeArguments = (type.of ?? []).map(tagOf);
  return {
    kind: 'struct',
    struct: { address: parseAddress(address), module, name, typeArguments },
  };
}

/** Runs a function that may only fail with a value error; returns whether it failed. */
function refused(run: () => void): boolean {
  try {
    run();
    return false;
  } catch (error) {
    if (error instanceof BcsError || error instanceof ValueEncodeError) return true;
    throw error;
  }
}

/** The pieces of `renderInTurns` as texts. */
function piecesOf(layout: Layout, bytes: Uint8Array): string[] {
  const pieces: string[] = [];
  const steps = renderInTurns(layout, bytes, '');
  for (let step = steps.next(); ; step = steps.next()) {
    pieces.push(step.value.toString());
    if (step.done) return pieces;
  }
}

/** Whether no piece is much longer than allowed, and the complete text. */
function lengthsAndText(pieces: readonly string[]): [boolean, string] {
  return [
    pieces.length > 1 && pieces.every((one) => one.length < 3 * JSON_PIECE_BYTES),
    pieces.join(''),
  ];
}

function outcome(render: () => string): unknown {
  try {
    return render();
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    return [error.code, error.detail];
  }
}

const WORLDS = 800;
const VALUES = 5;
const LONG_VALUES = roundsOf('LONG_VALUES', 4, 200);
/** Far more than needed, because other tests run at the same time. */
const TIMEOUT_MS = 120_000;

describe('random types and values', () => {
  it(
    'encode, decode and render as the model says',
    async () => {
      const random = new Random(testSeed('random types and values'));
      let encoded = 0;
      let tooLarge = 0;
      for (let round = 0; round < WORLDS; round += 1) {
        const world = new World(random);
        const type = world.type(4, 0);
        const lookup = moduleLookup(world.source);
        const decodeLayout = await resolveLayout(tagOf(type), lookup);
        const encodeLayout = await resolveInnerArgumentLayout(tagOf(type), lookup).catch(
          (error) => {
            if (!(error instanceof LayoutError) || error.code !== 'too_large') throw error;
            tooLarge += 1;
            return undefined;
          },
        );
        for (let count = 0; count < VALUES; count += 1) {
          const { bytes, argument, shown } = world.value(type, []);
          expect(renderValue(decodeLayout, bytes)).toBe(shown);
          expect(piecesOf(decodeLayout, bytes).join('')).toBe(shown);
          if (encodeLayout === undefined) continue;
          const written = encodeValueBytes(encodeLayout, parseJson(Buffer.from(argument)));
          expect(written.toString('hex')).toBe(bytes.toString('hex'));
          expect(formatJson(decodeArgument(encodeLayout, bytes))).toBe(argument);
          encoded += 1;
        }
      }
      expect(encoded).toBeGreaterThan(WORLDS);
      expect(tooLarge).toBeLessThan(WORLDS / 10);
    },
    TIMEOUT_MS,
  );

  it(
    'come in pieces where they are long',
    async () => {
      const random = new Random(testSeed('long values'));
      for (let round = 0; round < LONG_VALUES; round += 1) {
        const world = new World(random);
        const type = world.type(3, 0);
        const element = await resolveLayout(tagOf(type), moduleLookup(world.source));
        const { bytes, shown } = world.value(type, []);
        const count = Math.ceil((3 * JSON_PIECE_BYTES) / shown.length);
        const list: Layout = { kind: 'vector', element, tagBytes: 0 };
        const value = encodeBcs((writer) => {
          writer.uleb32(count);
          for (let index = 0; index < count; index += 1) writer.fixed(bytes);
        });
        const items = `[${Array.from({ length: count }, () => shown).join(',')}]`;
        expect(lengthsAndText(piecesOf(list, value))).toEqual([true, items]);
        const fields = ['b', 'a'].map((name) => ({ name, layout: list }));
        const template = objectTemplate(fields, undefined, 0);
        const pair = piecesOf(
          { kind: 'struct', fields, template, tagBytes: 0 },
          Buffer.concat([value, value]),
        );
        expect(lengthsAndText(pair)).toEqual([true, `{"a":${items},"b":${items}}`]);
      }
      const digits = JSON_PIECE_BYTES * 3;
      const value = encodeBcs((writer) => writer.bytes(Buffer.alloc(digits / 2, 0xab)));
      const pieces = piecesOf({ kind: 'bytes' }, value);
      expect(lengthsAndText(pieces)).toEqual([true, `"0x${'ab'.repeat(digits / 2)}"`]);
    },
    TIMEOUT_MS,
  );

  it(
    'damaged bytes and JSON of other types are refused or valid, never worse',
    async () => {
      const random = new Random(testSeed('damaged values'));
      let refusals = 0;
      for (let round = 0; round < WORLDS; round += 1) {
        const world = new World(random);
        const type = world.type(4, 0);
        const lookup = moduleLookup(world.source);
        const decodeLayout = await resolveLayout(tagOf(type), lookup);
        const encodeLayout = await resolveInnerArgumentLayout(tagOf(type), lookup).catch(
          () => undefined,
        );
        if (encodeLayout === undefined) continue;
        for (let count = 0; count < VALUES; count += 1) {
          const noise = random.bytes(random.below(40));
          if (random.below(2) === 0) noise.fill(random.pick([0, 1, 0xff]), random.below(40));
          const other = world.value(world.type(3, 0), []).argument;
          expect(outcome(() => piecesOf(decodeLayout, noise).join(''))).toEqual(
            outcome(() => renderValue(decodeLayout, noise)),
          );
          const runs = [
            () => JSON.parse(renderValue(decodeLayout, noise)),
            () => {
              const again = encodeValueBytes(encodeLayout, decodeArgument(encodeLayout, noise));
              expect(again.equals(noise)).toBe(true);
            },
            () => encodeValueBytes(encodeLayout, parseJson(Buffer.from(other))),
          ];
          refusals += runs.filter(refused).length;
        }
      }
      expect(refusals).toBeGreaterThan(WORLDS);
    },
    TIMEOUT_MS,
  );
});
