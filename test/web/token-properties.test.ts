/** Properties of tokens, which are BCS with a type number. */
import { expect, it } from 'vitest';
import { propertiesOf } from '../../web/src/tokens/token-properties.ts';

type Held = readonly [type: number, value: string];

const map = (...held: readonly Held[]) => ({
  inner: { data: held.map(([type, value], at) => ({ key: `p${at}`, value: { type, value } })) },
});
const values = (...held: readonly Held[]) =>
  propertiesOf(map(...held)).map(({ type, value }) => `${type} ${value}`);

it('have their types', () => {
  expect(propertiesOf(map([4, '0xd007000000000000']))).toEqual([
    { name: 'p0', type: 'u64', value: '2,000' },
  ]);
  expect(values([0, '0x01'], [1, '0x07'], [2, '0xe803'], [3, '0x01000000'])).toEqual([
    ...['bool true', 'u8 7', 'u16 1,000', 'u32 1'],
  ]);
  expect(values([5, `0x02${'00'.repeat(15)}`], [6, `0x03${'00'.repeat(31)}`])).toEqual([
    ...['u128 2', 'u256 3'],
  ]);
  expect(values([7, `0x${'00'.repeat(31)}0a`], [8, '0x02beef'], [9, '0x0477696e67'])).toEqual([
    ...['address 0xa', 'bytes 0xbeef', 'text wing'],
  ]);
});

it('stay bytes where they are not of their type', () => {
  expect(values([4, '0x01'], [0, '0x02'], [9, '0xzz'])).toEqual([
    ...['u64 0x01', 'bool 0x02', 'text 0xzz'],
  ]);
  expect(values([77, '0x01'])).toEqual([' 0x01']);
  expect(propertiesOf(undefined)).toEqual([]);
});
