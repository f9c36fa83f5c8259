/** Names of parameters in Move source. */
import { describe, expect, it } from 'vitest';
import { argumentNames, parameterNames } from '../../web/src/modules/parameter-names.ts';

const SOURCE = `
module 0x1::m {
    // fun commented(wrong: u8) {}
    /* public fun transfer(also_wrong: u8) */
    public entry fun transfer<T: key + store>(
        from: &signer, // who pays
        to: address, table: Table<address, vector<u64>>, mut amount: u64
    ): (u64, bool) acquires Store { }
    fun transfers(other: u8) {}
    inline fun apply<T>(value: T, visit: |T, u64| bool) {}
    fun nothing() {}
}`;

describe('parameters', () => {
  it.each([
    ['transfer', ['from', 'to', 'table', 'amount']],
    ['transfers', ['other']],
    ['nothing', []],
    ['commented', []],
    ['absent', []],
  ])('of %s are %j', (name, names) => {
    expect(parameterNames(SOURCE, name)).toEqual(names);
  });

  it.each([
    ['/* a */fun f(x: u8)', ['x']],
    ['fun f(/* a */ x: u8, // b, c: u8\n y: u8)', ['x', 'y']],
    ['// fun f(x: u8) /*\nfun f(y: u8) // */', ['y']],
    ['/**/fun f(x: u8)', ['x']],
    ['/*/ fun f(x: u8) */ fun f(y: u8)', ['y']],
    ['/* fun f(x: u8)', []],
    [`fun f(x: u8)${' /*'.repeat(200_000)}`, ['x']],
  ])('beside comments in %.40s are %j', (source, names) => {
    expect(parameterNames(source, 'f')).toEqual(names);
  });

  it('that callers give are all but the signers', () => {
    const names = ['from', 'to', 'amount'];
    expect(argumentNames(['&signer', 'address', 'u64'], names)).toEqual(['to', 'amount']);
    expect(argumentNames(['address'], names)).toEqual([]);
    expect(argumentNames([], [])).toEqual([]);
  });
});
