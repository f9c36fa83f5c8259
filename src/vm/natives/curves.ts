/**
 * Natives that compute with curves. The library of curves takes a tenth of a second to load, so it is loaded by the
 * first call of one of them.
 */
import { missingNative, type Native } from '../native.ts';
import { giveWay } from './crypto/turns.ts';

type Natives = Readonly<Record<string, Native>>;

const signatures = async (): Promise<Natives> =>
  (await import('./signatures.ts')).SIGNATURE_NATIVES;
const bls12381 = async (): Promise<Natives> => (await import('./bls12381.ts')).BLS_NATIVES;
const ristretto = async (): Promise<Natives> => (await import('./ristretto.ts')).RISTRETTO_NATIVES;
const rangeProofs = async (): Promise<Natives> =>
  (await import('./range-proofs.ts')).RANGE_PROOF_NATIVES;
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

/** The native of a module of 0x1; undefined where the module has none that computes with curves. */
export function curveNative(module: string, name: string): Native | undefined {
  const load = LOADERS.get(module);
  if (load === undefined) return undefined;
  return async (context, args) => {
    const native = (await load())[`${module}::${name}`];
    if (native === undefined) throw missingNative(module, name);
    await giveWay(context);
    return await native(context, args);
  };
}
