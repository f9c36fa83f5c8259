/** The natives of this machine, all in the framework's modules at 0x1 (docs/spec/vm.md §6). */

import { ADDRESS_ONE } from '../../move/types/address.ts';
import { missingNative, type Native, type NativeLookup } from '../native.ts';
import { ACCOUNT_NATIVES } from './accounts.ts';
import { AGGREGATOR_NATIVES } from './aggregators.ts';
import { yieldTurn } from './crypto/turns.ts';
import { DISPATCH_NATIVES, PUBLISHING_NATIVES } from './dispatch.ts';
import { EFFECT_NATIVES } from './effects.ts';
import { HASH_NATIVES } from './hashes.ts';
import { SERIALIZATION_NATIVES } from './serialization.ts';
import { TABLE_NATIVES } from './tables.ts';
import { FORMAT_NATIVES, STRING_NATIVES, TYPE_NATIVES } from './texts.ts';
import { CHAIN_NATIVES, TRANSACTION_NATIVES } from './transactions.ts';
import { COMPARISON_NATIVES, VECTOR_NATIVES } from './vectors.ts';

type Natives = Readonly<Record<string, Native>>;

const signatures = async (): Promise<Natives> =>
  (await import('./signatures.ts')).SIGNATURE_NATIVES;
const bls12381 = async (): Promise<Natives> => (await import('./bls12381.ts')).BLS_NATIVES;
const ristretto = async (): Promise<Natives> => (await import('./ristretto.ts')).RISTRETTO_NATIVES;
const rangeProofs = async (): Promise<Natives> =>
  (await import('./ristretto.ts')).RANGE_PROOF_NATIVES;
const algebra = async (): Promise<Natives> => (await import('./algebra.ts')).ALGEBRA_NATIVES;

const LOADERS: ReadonlyMap<string, () => Promise<Natives>> = new Map([
  ['ed25519', signatures],
  ['multi_ed25519', signatures],
  ['secp256k1', signatures],
  ['bls12381', bls12381],
  ['ristretto255', ristretto],
  ['ristretto255_bulletproofs', rangeProofs],
  ['confidential_range_proofs', rangeProofs],
  ['crypto_algebra', algebra],
]);

/** A native of a module of 0x1; undefined unless it is one that computes with curves. */
function curveNative(module: string, name: string): Native | undefined {
  const load = LOADERS.get(module);
  if (load === undefined) return undefined;
  return async (context, args) => {
    const native = (await load())[`${module}::${name}`];
    if (native === undefined) throw missingNative(module, name);
    await yieldTurn(context);
    return await native(context, args);
  };
}

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
