/** Modules with functions for every kind of parameter, as bytes, for malicious requests. */

import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import { parseAddress } from '../../src/move/types/address.ts';
import { type Functions, ledgerOf } from '../ledger/encode-modules.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { NEW_FRAMEWORK, type Source } from '../move/values/layout-modules.ts';

const STRUCTS: Source = {
  ...NEW_FRAMEWORK,
  '0x2::m::Empty': { fields: [['dummy_field', 'bool']] },
  '0x2::m::Pair': {
    parameters: 2,
    fields: [
      ['__proto__', { parameter: 0 }],
      ['constructor', { vector: { parameter: 1 } }],
    ],
  },
  '0x2::m::Colour': {
    variants: [
      ['Red', []],
      ['toString', [['hasOwnProperty', 'u64']]],
    ],
  },
};

const FUNCTIONS: Functions = {
  '0x2::m::integers': { parameters: ['&signer', 'u8', 'u64', 'u256', 'bool', 'address'] },
  '0x2::m::bytes': { parameters: ['vector<u8>', 'vector<vector<u8>>'] },
  '0x2::m::lists': { parameters: ['vector<u64>', 'vector<vector<bool>>', 'vector<u16>'] },
  '0x2::m::texts': { parameters: ['0x1::string::String', 'vector<0x1::string::String>'] },
  '0x2::m::options': {
    parameters: ['0x1::option::Option<u8>', 'vector<0x1::option::Option<u64>>'],
  },
  '0x2::m::structs': {
    parameters: ['0x2::m::Pair<u8, 0x2::m::Colour>', 'vector<0x2::m::Empty>', '0x2::m::Colour'],
  },
  '0x2::m::generic': {
    parameters: ['T0', 'vector<T0>', '0x2::m::Pair<T0, T0>'],
    typeParameters: 1,
  },
  '0x2::m::many': {
    parameters: Array.from({ length: 200 }, () => 'vector<T0>'),
    typeParameters: 1,
  },
};

/** Full names of the functions, and their number of arguments. */
export const HOSTILE_CALLS: readonly (readonly [name: string, count: number])[] = Object.entries(
  FUNCTIONS,
).map(([name, source]) => {
  const { parameters } = source as { parameters: readonly string[] };
  return [name, parameters.filter((type) => !type.endsWith('signer')).length];
});

/** Bytes of the modules. */
export function hostileModules(): Buffer[] {
  const lookup = ledgerOf(FUNCTIONS, STRUCTS);
  return ['0x1::string', '0x1::option', '0x2::m'].map((path) => {
    const [address = '', name = ''] = path.split('::');
    return writeModule(lookup({ address: parseAddress(address), name }) as CompiledModule);
  });
}
