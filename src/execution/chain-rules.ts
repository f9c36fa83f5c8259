/** What a chain requires of new code (docs/spec/verifier.md §2). */
import type { Machine } from '../vm/machine/machine.ts';
import { type VerifierConfig, verifierConfigOf } from '../vm/verifier/model/verifier-config.ts';

const MAINNET = 1;

/** Mainnet does not accept code that its compiler marks as unstable. */
export function isMainnet({ session }: Machine): boolean {
  return session?.transaction?.chainId === MAINNET;
}

/** The bounds on declarations are those since May 2026, whatever the time of the state. */
export function verifierConfigIn({ world, gas }: Machine): VerifierConfig {
  return verifierConfigOf({
    isFeatureEnabled: (flag) => world.isFeatureEnabled(flag),
    gasFeatureVersion: gas.prices.featureVersion,
    bounds: 'revised',
  });
}
