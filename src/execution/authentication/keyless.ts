/**
 * Keyless accounts: checks what their signatures are based on against the state of a chain. An issuer has signed a
 * token about a user and an ephemeral key, or a zero-knowledge proof shows that such a token exists
 * (docs/spec/vm.md §9.1). The signature of the ephemeral key is verified earlier (valid-signatures.ts).
 */
import { BcsError, type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { domainSeed } from '../../move/crypto/hash.ts';
import type { KeylessPublicKey, KeylessSignature } from '../../move/crypto/public-key.ts';
import { ADDRESS_ONE, type Address } from '../../move/types/address.ts';
import { frameworkTag } from '../../move/types/framework-tag.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import { isEd25519Point } from '../../vm/natives/crypto/ed25519.ts';
import { VmError } from '../../vm/status/status.ts';
import type { World } from '../../vm/world.ts';
import { type Configuration, readConfiguration } from './configuration.ts';
import { isProofOf, readVerificationKey, type VerificationKey } from './groth16.ts';
import { findKey, type IssuerKeys, invalid, type RsaKey, readIssuers, tryDecode } from './jwks.ts';
import { checkOpenIdToken } from './openid.ts';
import { hashScalars, scalarBytes } from './poseidon.ts';
import { publicInputs } from './public-inputs.ts';
import { isSignatureOf, type SignaturePair } from './valid-signatures.ts';

const FLAGS = { keyless: 46, withoutProof: 47, withPassKeys: 54, federated: 77 };
const CONFIGURATION_TAG = frameworkTag('keyless_account', 'Configuration');
const KEY_TAG = frameworkTag('keyless_account', 'Groth16VerificationKey');
const PATCHED_TAG = frameworkTag('jwks', 'PatchedJWKs');
const FEDERATED_TAG = frameworkTag('jwks', 'FederatedJWKs');
const TIME_TAG = frameworkTag('timestamp', 'CurrentTimeMicroseconds');
const MICROSECONDS = 1_000_000n;
const NO_BYTES = new Uint8Array();
/** The last second since 1970 that the reference knows. */
const MAX_SECONDS = (1n << 63n) - 1n;

export interface KeylessProof {
  readonly key: KeylessPublicKey;
  /** Who publishes the issuer's keys; set only for a federated account. */
  readonly publisher: Address | undefined;
  readonly signature: KeylessSignature;
}

export function keylessProofs(pairs: readonly SignaturePair[]): readonly KeylessProof[] {
  return pairs.flatMap(([account, signature]) => {
    if (signature.kind !== 'keyless' || !('key' in account)) return [];
    const publisher = account.kind === 'federatedKeyless' ? account.key.jwkAddress : undefined;
    return [{ key: account.key, publisher, signature: signature.signature }];
  });
}

/** Rejects with VmError: INVALID_SIGNATURE, FEATURE_UNDER_GATING, VALUE_DESERIALIZATION_ERROR. */
export async function checkKeylessProofs(
  proofs: readonly KeylessProof[],
  world: World,
): Promise<void> {
  if (proofs.length === 0) return;
  for (const proof of proofs) {
    const isGated = flagsOf(proof).some((flag) => !world.isFeatureEnabled(flag));
    if (isGated) throw new VmError('FEATURE_UNDER_GATING');
  }
  let verificationKey: VerificationKey | undefined;
  if (proofs.some(({ signature }) => signature.certificate.kind === 'zeroKnowledge')) {
    const bytes = await world.resource(ADDRESS_ONE, KEY_TAG);
    verificationKey = bytes && readVerificationKey(bytes);
    if (verificationKey === undefined) throw invalid('Groth16 VK has not been set on-chain');
  }
  const configuration = await resourceOf(world, CONFIGURATION_TAG, readConfiguration);
  if (proofs.length > configuration.maxSignatures) {
    throw invalid('Too many keyless authenticators');
  }
  const timeUsecs = await resourceOf(world, TIME_TAG, (reader) => reader.u64());
  for (const { signature } of proofs) {
    const end = signature.expirationSecs;
    if (end > MAX_SECONDS || timeUsecs > end * MICROSECONDS) {
      throw invalid('The ephemeral keypair has expired');
    }
  }
  const issuers = await resourceOf(world, PATCHED_TAG, readIssuers);
  const { trainingWheelsKey: trained } = configuration;
  if (trained !== undefined && !isEd25519Point(trained)) {
    throw invalid('The training wheels PK set on chain is not a valid PK');
  }
  for (const proof of proofs) {
    const issuerKey = await issuerKeyOf(proof, issuers, world);
    await checkProof(proof, issuerKey, { configuration, verificationKey, world });
  }
}

function flagsOf({ publisher, signature }: KeylessProof): number[] {
  const { certificate, ephemeralSignature } = signature;
  return [
    certificate.kind === 'zeroKnowledge' ? FLAGS.keyless : FLAGS.withoutProof,
    ...(ephemeralSignature.kind === 'webAuthn' ? [FLAGS.withPassKeys] : []),
    ...(publisher === undefined ? [] : [FLAGS.federated]),
  ];
}

/** A resource at 0x1. Rejects with VmError VALUE_DESERIALIZATION_ERROR. */
async function resourceOf<T>(
  world: World,
  tag: StructTag,
  read: (reader: BcsReader) => T,
): Promise<T> {
  try {
    return decodeBcs((await world.resource(ADDRESS_ONE, tag)) ?? NO_BYTES, read);
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    throw new VmError('VALUE_DESERIALIZATION_ERROR');
  }
}

/** The key that the token names, from the chain's keys or those of the account's publisher. */
async function issuerKeyOf(
  { key, publisher, signature }: KeylessProof,
  issuers: readonly IssuerKeys[],
  world: World,
): Promise<RsaKey> {
  try {
    return findKey(issuers, key.issuer, signature.jwtHeaderJson);
  } catch (error) {
    if (publisher === undefined) throw error;
  }
  const bytes = (await world.resource(publisher, FEDERATED_TAG)) ?? NO_BYTES;
  const federated = tryDecode(() => decodeBcs(bytes, readIssuers));
  return findKey(federated ?? [], key.issuer, signature.jwtHeaderJson);
}

interface ProofTerms {
  readonly configuration: Configuration;
  readonly verificationKey: VerificationKey | undefined;
  readonly world: World;
}

async function checkProof(
  { key, signature }: KeylessProof,
  issuerKey: RsaKey,
  { configuration, verificationKey, world }: ProofTerms,
): Promise<void> {
  const { certificate } = signature;
  if (certificate.kind === 'openId') {
    checkOpenIdToken({ certificate, signature, key, issuerKey, configuration });
    return;
  }
  if (certificate.expirationHorizonSecs > configuration.maxHorizonSecs) {
    throw invalid('The expiration horizon is too long');
  }
  const { overrideAudience, proof, trainingWheelsSignature } = certificate;
  const { overrideAudiences, trainingWheelsKey } = configuration;
  if (overrideAudience !== undefined && !overrideAudiences.includes(overrideAudience)) {
    throw invalid('override aud is not allow-listed in 0x1::keyless_account');
  }
  const yieldTurn = () => world.nextTurn();
  const scalars: bigint[] = [];
  for (const part of publicInputs({ key, signature, certificate, issuerKey, configuration })) {
    scalars.push(...part());
    await yieldTurn();
  }
  const input = hashScalars(scalars);
  if (trainingWheelsKey !== undefined) {
    const signed = encodeBcs((writer) => {
      writer.fixed(domainSeed('Groth16ProofAndStatement'));
      writer.fixed(proof.a).fixed(proof.b).fixed(proof.c).fixed(scalarBytes(input));
    });
    const trainingWheels = { kind: 'ed25519', bytes: trainingWheelsKey } as const;
    if (trainingWheelsSignature === undefined) {
      throw invalid('Training wheels signature expected but it is missing');
    }
    if (!isSignatureOf(trainingWheelsSignature, trainingWheels, signed)) {
      throw invalid('Could not verify training wheels signature');
    }
  }
  if (!(await isProofOf(proof, input, verificationKey!, yieldTurn))) {
    throw invalid('Proof verification failed');
  }
}
