/** A struct's value field by field: the same bytes in the same order as rendering, and the same refusals. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BcsError } from '../../../src/move/bcs/bcs-reader.ts';
import { readMoveType } from '../../../src/move/types/type-parser.ts';
import type { TypeTag } from '../../../src/move/types/type-tag.ts';
import type { Layout } from '../../../src/move/values/layout.ts';
import { resolveLayout } from '../../../src/move/values/layout-resolver.ts';
import { renderValue, splitFields } from '../../../src/move/values/value-json.ts';
import { propertySeed } from '../../random.ts';
import { moduleLookup, OLD_FRAMEWORK } from './layout-modules.ts';

const lookup = moduleLookup({
  ...OLD_FRAMEWORK,
  '0x2::m::Inner': { fields: [['z', 'bool']] },
  '0x2::m::Outer': {
    fields: [
      ['b', 'u16'],
      ['a', { vector: { is: '0x2::m::Inner' } }],
      ['text', { is: '0x1::string::String' }],
      ['choice', { is: '0x2::m::Choice' }],
    ],
  },
  '0x2::m::Choice': {
    variants: [
      ['None', []],
      [
        'Some',
        [
          ['x', 'u8'],
          ['y', { is: '0x2::m::Inner' }],
        ],
      ],
    ],
  },
});

function layoutOf(type: string): Promise<Layout> {
  return resolveLayout(readMoveType(type) as TypeTag, lookup);
}

const OUTER = Buffer.from('0102' + '020100' + '026869' + '010701', 'hex');

describe('the fields of a value', () => {
  it('of a struct stand in declared order', async () => {
    const split = splitFields(await layoutOf('0x2::m::Outer'), OUTER)!;
    expect(split.variant).toBe(0);
    expect(split.fields.map((field) => field.toString('hex'))).toEqual([
      '0102',
      '020100',
      '026869',
      '010701',
    ]);
  });

  it('of an enum are those of its variant', async () => {
    const layout = await layoutOf('0x2::m::Choice');
    expect(splitFields(layout, Buffer.of(0))).toEqual({ variant: 0, fields: [] });
    expect(splitFields(layout, Buffer.of(1, 9, 1))).toEqual({
      variant: 1,
      fields: [Buffer.of(9), Buffer.of(1)],
    });
  });

  it('are none where there is no struct', async () => {
    for (const type of ['u8', 'vector<0x2::m::Inner>', '0x1::string::String']) {
      expect(splitFields(await layoutOf(type), Buffer.of(0))).toBeUndefined();
    }
  });

  it('are refused exactly as the value is', async () => {
    const layouts = [await layoutOf('0x2::m::Outer'), await layoutOf('0x2::m::Choice')];
    const refusal = (read: () => unknown) => {
      try {
        read();
        return undefined;
      } catch (error) {
        if (!(error instanceof BcsError)) throw error;
        return [error.code, error.detail, error.offset];
      }
    };
    const { seed } = propertySeed();
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 16 }),
      fc.tuple(fc.nat(OUTER.length - 1), fc.nat(255)).map(([at, byte]) => {
        const changed = Buffer.from(OUTER);
        changed[at] = byte;
        return changed;
      }),
      fc.nat(OUTER.length).map((length) => OUTER.subarray(0, length)),
    );
    let refused = 0;
    fc.assert(
      fc.property(fc.constantFrom(...layouts), bytes, (layout, value) => {
        const expected = refusal(() => renderValue(layout, value));
        expect(refusal(() => splitFields(layout, value))).toEqual(expected);
        if (expected !== undefined) refused += 1;
        else {
          const { fields } = splitFields(layout, value)!;
          const whole = layout.kind === 'enum' ? value.subarray(1) : value;
          expect(Buffer.concat(fields).equals(whole)).toBe(true);
        }
      }),
      { seed, numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(50);
  });
});
