/** What signature schemes require besides a valid signature: features, state, gas (docs/spec/vm.md §9). */
import { VmError } from '../../vm/status/status.ts';
import type { World } from '../../vm/world.ts';
import { checkKeylessProofs, keylessProofs } from './keyless.ts';
import type { SignaturePair } from './valid-signatures.ts';

const SLH_DSA_FLAG = 107;

const hasSlhDsa = (pairs: readonly SignaturePair[]): boolean =>
  pairs.some(([, { kind }]) => kind === 'slhDsa');

/** Rejects with VmError for signatures that a chain does not accept. */
export async function checkSchemes(pairs: readonly SignaturePair[], world: World): Promise<void> {
  if (hasSlhDsa(pairs) && !world.isFeatureEnabled(SLH_DSA_FLAG)) {
    throw new VmError('FEATURE_UNDER_GATING');
  }
  await checkKeylessProofs(keylessProofs(pairs), world);
}

/** Schemes that cost extra, by their names in the gas schedule. */
export function pricedSchemes(pairs: readonly SignaturePair[]): readonly string[] {
  const schemes: string[] = keylessProofs(pairs).length > 0 ? ['keyless'] : [];
  return hasSlhDsa(pairs) ? [...schemes, 'slh_dsa_sha2_128s'] : schemes;
}
