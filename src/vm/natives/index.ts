/** The natives that this machine has, all of the framework's modules at 0x1 (docs/spec/vm.md §6). */
import { ADDRESS_ONE } from '../../move/types/address.ts';
import type { Native, NativeLookup } from '../native.ts';
import { ACCOUNT_NATIVES } from './accounts.ts';
import { AGGREGATOR_NATIVES } from './aggregators.ts';
import { CHAIN_NATIVES } from './chain-configuration.ts';
import { COMPARISON_NATIVES } from './comparisons.ts';
import { curveNative } from './curves.ts';
import { DISPATCH_NATIVES } from './dispatch.ts';
import { EFFECT_NATIVES } from './effects.ts';
import { FORMAT_NATIVES } from './format.ts';
import { HASH_NATIVES } from './hashes.ts';
import { PUBLISHING_NATIVES } from './publishing.ts';
import { SERIALIZATION_NATIVES } from './serialization.ts';
import { STRING_NATIVES } from './strings.ts';
import { TABLE_NATIVES } from './tables.ts';
import { TRANSACTION_NATIVES } from './transactions.ts';
import { TYPE_NATIVES } from './type-names.ts';
import { VECTOR_NATIVES } from './vectors.ts';

const NATIVES: ReadonlyMap<string, Native> = new Map(
  [
    ACCOUNT_NATIVES,
    AGGREGATOR_NATIVES,
    CHAIN_NATIVES,
    COMPARISON_NATIVES,
    DISPATCH_NATIVES,
    EFFECT_NATIVES,
    FORMAT_NATIVES,
    HASH_NATIVES,
    PUBLISHING_NATIVES,
    SERIALIZATION_NATIVES,
    STRING_NATIVES,
    TABLE_NATIVES,
    TRANSACTION_NATIVES,
    TYPE_NATIVES,
    VECTOR_NATIVES,
  ].flatMap((natives) => Object.entries(natives)),
);

export const frameworkNative: NativeLookup = ({ address, name: module }, name) =>
  address === ADDRESS_ONE
    ? (NATIVES.get(`${module}::${name}`) ?? curveNative(module, name))
    : undefined;
