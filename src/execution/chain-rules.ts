/** What a chain asks of new code (docs/spec/verifier.md §2). */
import type { Machine } from '../vm/machine/machine.ts';
import { type VerifierConfig, verifierConfigOf } from '../vm/verifier/model/verifier-config.ts';

const MAINNET = 1;

/** Code that its compiler calls unstable is not for this network. */
export function isMainnet({ session }: Machine): boolean {
  return session?.transaction?.chainId === MAINNET;
}

/** For the bounds on declarations, those since May 2026, whatever the time of the state is. */
export function verifierConfigIn({ world, gas }: Machine): VerifierConfig {
  return verifierConfigOf({
    isFeatureEnabled: (flag) => world.isFeatureEnabled(flag),
    gasFeatureVersion: gas.prices.featureVersion,
    bounds: 'revised',
  });
}
