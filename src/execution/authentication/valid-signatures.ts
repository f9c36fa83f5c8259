/**
 * Checks whether a transaction is properly signed. One that is committed must be; one that is only simulated must not
 * be, since whoever gets it could submit it (docs/spec/vm.md §8.5, §9). For a keyless account only the signature of
 * its ephemeral key is checked here, and for an abstract account the digest of what is signed: the rest depends on
 * state (keyless.ts, abstract-accounts.ts).
 */
import { createHash } from 'node:crypto';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { isBitSet, setBits } from '../../move/bcs/bits.ts';
import type { AccountAuthenticator } from '../../move/crypto/authenticator.ts';
import { domainHash, domainSeed, sha3 } from '../../move/crypto/hash.ts';
import type {
  AnyPublicKey,
  AnySignature,
  EphemeralPublicKey,
  EphemeralSignature,
  KeylessSignature,
} from '../../move/crypto/public-key.ts';
import type { SignedTransaction } from '../../move/transactions/user-transaction.ts';
import { type Address, padAddress } from '../../move/types/address.ts';
import { isEd25519Signature } from '../../vm/natives/crypto/ed25519.ts';
import { isSecp256k1Signature } from '../../vm/natives/crypto/secp256k1.ts';
import { isSecp256r1Signature } from '../../vm/natives/crypto/secp256r1.ts';
import { nextTurn } from '../../yield-budget.ts';
import { isSlhDsaSignature } from './slh-dsa.ts';

/** Limit for the signatures of all signers together; the reference treats more as invalid. */
export const MAX_SIGNATURES = 32;
/** Variants of RawTransactionWithData. */
const MULTI_AGENT = 0;
const FEE_PAYER = 1;
/** The variant of AASigningData. */
const ABSTRACT_V1 = 0;
const GROTH16 = 0;
const NO_ADDRESS = padAddress('0');

export type SignaturePair = readonly [key: AnyPublicKey, signature: AnySignature];

interface Message {
  readonly domain: string;
  readonly bytes: Buffer;
}

type AbstractAuthenticator = Extract<AccountAuthenticator, { kind: 'abstract' }>;

interface Signer {
  readonly authenticator: AccountAuthenticator;
  readonly messages: readonly Message[];
}

/**
 * `unknown` means either the first form of an abstract account's digest, which does not include the function, or an
 * account for which nobody has to sign.
 */
export type SignatureState = 'valid' | 'invalid' | 'unknown';

/**
 * @param rawBytes BCS of the raw transaction
 * @param unsigned the state of an account for which nobody signs: only a local network commits its transactions
 */
export async function signatureState(
  { authenticator }: SignedTransaction,
  rawBytes: Buffer,
  unsigned: 'invalid' | 'unknown' = 'invalid',
): Promise<SignatureState> {
  const signers = signersOf(authenticator, rawBytes);
  // The reference does not count those of the fee payer.
  const counted = authenticator.kind === 'feePayer' ? signers.slice(0, -1) : signers;
  const count = counted.reduce(
    (sum, signer) => sum + (pairsOf(signer.authenticator)?.length ?? 0),
    0,
  );
  if (count > MAX_SIGNATURES) return 'invalid';
  let isKnown = true;
  for (const { authenticator: one, messages } of signers) {
    if (one.kind === 'abstract') {
      const state = stateOfDigest(one, messages);
      if (state === 'invalid') return state;
      isKnown &&= state === 'valid';
    } else if (one.kind === 'noAccount' && unsigned === 'unknown') {
      isKnown = false;
    } else if (!(await areSigned(pairsOf(one), messages))) return 'invalid';
  }
  return isKnown ? 'valid' : 'unknown';
}

/** The signatures of all signers, in their order; `undefined` if one signer's are not enough. */
export function signaturePairs({
  authenticator,
}: SignedTransaction): readonly SignaturePair[] | undefined {
  const pairs: SignaturePair[] = [];
  for (const { authenticator: one } of signersOf(authenticator, Buffer.alloc(0))) {
    if (one.kind === 'noAccount' || one.kind === 'abstract') continue;
    const ofSigner = pairsOf(one);
    if (ofSigner === undefined) return undefined;
    pairs.push(...ofSigner);
  }
  return pairs;
}

/**
 * Whether the function of an abstract account gets the digest of one of the messages. Before September 2025 the digest
 * was the hash of the message alone, which gives `unknown`.
 */
function stateOfDigest(
  { moduleAddress, moduleName, functionName, data }: AbstractAuthenticator,
  messages: readonly Message[],
): SignatureState {
  for (const message of messages) {
    const original = signedBytes(message);
    const signed = encodeBcs((writer) => {
      writer.uleb32(ABSTRACT_V1).bytes(original);
      writer.address(moduleAddress).string(moduleName).string(functionName);
    });
    if (domainHash('AASigningData', signed).equals(data.signingMessageDigest)) return 'valid';
    if (sha3(original).equals(data.signingMessageDigest)) return 'unknown';
  }
  return 'invalid';
}

function signersOf(
  authenticator: SignedTransaction['authenticator'],
  rawBytes: Buffer,
): readonly Signer[] {
  if (authenticator.kind === 'singleSender') {
    return [{ authenticator: authenticator.sender, messages: [messageOf(rawBytes)] }];
  }
  if (authenticator.kind !== 'multiAgent' && authenticator.kind !== 'feePayer') {
    return [{ authenticator, messages: [messageOf(rawBytes)] }];
  }
  const { sender, secondarySigners, secondarySignerAddresses: others } = authenticator;
  const signers = [sender, ...secondarySigners];
  if (authenticator.kind === 'multiAgent') {
    const messages = [messageOf(rawBytes, others)];
    return signers.map((one) => ({ authenticator: one, messages }));
  }
  // Whoever signed before the fee payer was known signed without its address.
  const { feePayer, feePayerAddress } = authenticator;
  const message = messageOf(rawBytes, others, feePayerAddress);
  const messages = [message, messageOf(rawBytes, others, NO_ADDRESS)];
  return [
    ...signers.map((one) => ({ authenticator: one, messages })),
    { authenticator: feePayer, messages: [message] },
  ];
}

function messageOf(rawBytes: Buffer, others?: readonly Address[], feePayer?: Address): Message {
  if (others === undefined) return { domain: 'RawTransaction', bytes: rawBytes };
  const bytes = encodeBcs((writer) => {
    writer.uleb32(feePayer === undefined ? MULTI_AGENT : FEE_PAYER).fixed(rawBytes);
    writer.vector(others, (to, address) => to.address(address));
    if (feePayer !== undefined) writer.address(feePayer);
  });
  return { domain: 'RawTransactionWithData', bytes };
}

function signedBytes({ domain, bytes }: Message): Buffer {
  return Buffer.concat([domainSeed(domain), bytes]);
}

/** The signatures of one signer; `undefined` if they are not enough. */
function pairsOf(authenticator: AccountAuthenticator): readonly SignaturePair[] | undefined {
  switch (authenticator.kind) {
    case 'ed25519':
      return [ed25519Pair(authenticator.publicKey, authenticator.signature)];
    case 'multiEd25519': {
      const { publicKey, signature } = authenticator;
      if (signature.signatures.length < publicKey.threshold) return undefined;
      return pairsBySigner(signature.bitmap, signature.signatures, publicKey.keys, ed25519Pair);
    }
    case 'singleKey':
      return [[authenticator.publicKey, authenticator.signature]];
    case 'multiKey': {
      const { bitmap, signatures, signaturesRequired, publicKeys } = authenticator;
      if (signatures.length < signaturesRequired) return undefined;
      return pairsBySigner(bitmap, signatures, publicKeys, (key, signature) => [key, signature]);
    }
    default:
      return undefined;
  }
}

function ed25519Pair(key: Buffer, signature: Buffer): SignaturePair {
  return [
    { kind: 'ed25519', bytes: key },
    { kind: 'ed25519', bytes: signature },
  ];
}

/** The bits of a bitmap, most significant first, say which keys signed. */
function pairsBySigner<K, S>(
  bitmap: Buffer,
  signatures: readonly S[],
  keys: readonly K[],
  pair: (key: K, signature: S) => SignaturePair,
): readonly SignaturePair[] | undefined {
  if (setBits(bitmap).some((index) => index >= keys.length)) return undefined;
  const pairs: SignaturePair[] = [];
  for (const [index, key] of keys.entries()) {
    if (!isBitSet(bitmap, index)) continue;
    const signature = signatures[pairs.length];
    if (signature === undefined) return undefined;
    pairs.push(pair(key, signature));
  }
  return pairs.length === signatures.length ? pairs : undefined;
}

async function areSigned(
  pairs: readonly SignaturePair[] | undefined,
  messages: readonly Message[],
): Promise<boolean> {
  for (const pair of pairs ?? []) {
    let isValid = false;
    for (const message of messages) {
      isValid ||= isSigned(pair, message);
      await nextTurn();
    }
    if (!isValid) return false;
  }
  return pairs !== undefined;
}

function isSigned([key, signature]: SignaturePair, message: Message): boolean {
  const isKeyless = key.kind === 'keyless' || key.kind === 'federatedKeyless';
  if (isKeyless && signature.kind === 'keyless') {
    return isEphemeralSignature(signature.signature, message);
  }
  const signed = signedBytes(message);
  if (key.kind === 'ed25519' && signature.kind === 'ed25519') {
    return isEd25519Signature(signature.bytes, key.bytes, signed);
  }
  if (key.kind === 'secp256k1' && signature.kind === 'secp256k1') {
    return isSecp256k1Signature(signature.bytes, key.bytes, sha3(signed));
  }
  if (key.kind === 'secp256r1' && signature.kind === 'webAuthn') {
    return isPassKeySignature(signature.assertion, key.bytes, signed);
  }
  if (key.kind === 'slhDsa' && signature.kind === 'slhDsa') {
    return isSlhDsaSignature(signature.bytes, key.bytes, signed);
  }
  return false;
}

/** The ephemeral key of a keyless account signs the message and the proof that is sent with it. */
function isEphemeralSignature(
  { certificate, ephemeralPublicKey, ephemeralSignature }: KeylessSignature,
  { bytes }: Message,
): boolean {
  const proof = certificate.kind === 'zeroKnowledge' ? certificate.proof : undefined;
  const signed = encodeBcs((writer) => {
    writer.fixed(domainSeed('TransactionAndProof')).fixed(bytes);
    writer.option(proof, (to, { a, b, c }) => to.uleb32(GROTH16).fixed(a).fixed(b).fixed(c));
  });
  return isSignatureOf(ephemeralSignature, ephemeralPublicKey, signed);
}

/** Whether an Ed25519 key or a passkey has signed some bytes. */
export function isSignatureOf(
  signature: EphemeralSignature,
  key: EphemeralPublicKey,
  signed: Buffer,
): boolean {
  if (key.kind === 'ed25519') {
    return signature.kind === 'ed25519' && isEd25519Signature(signature.bytes, key.bytes, signed);
  }
  return (
    signature.kind === 'webAuthn' && isPassKeySignature(signature.assertion, key.bytes, signed)
  );
}

type Assertion = Extract<AnySignature, { kind: 'webAuthn' }>['assertion'];

/** Types of client data that the reference accepts. */
const CLIENT_DATA_TYPES = ['webauthn.create', 'webauthn.get', 'payment.get'];

/** A passkey signs the collected client data, whose challenge is the hash of the signed bytes. */
function isPassKeySignature(
  { signature, authenticatorData, clientDataJson }: Assertion,
  key: Uint8Array,
  signed: Buffer,
): boolean {
  if (!hasChallenge(clientDataJson, sha3(signed))) return false;
  const collected = createHash('sha256').update(clientDataJson).digest();
  return isSecp256r1Signature(signature, key, Buffer.concat([authenticatorData, collected]));
}

function hasChallenge(clientDataJson: Buffer, expected: Buffer): boolean {
  let data: { type?: unknown; challenge?: unknown; origin?: unknown } | null;
  try {
    data = JSON.parse(clientDataJson.toString('utf8'));
  } catch {
    return false;
  }
  const { type, challenge, origin } = data ?? {};
  if (typeof challenge !== 'string' || typeof origin !== 'string') return false;
  if (!CLIENT_DATA_TYPES.includes(type as string)) return false;
  return Buffer.from(challenge, 'base64').equals(expected);
}
