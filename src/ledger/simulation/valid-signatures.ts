/**
 * Whether a transaction is properly signed, which one that is only simulated must not be: whoever gets it could submit
 * it (docs/spec/vm.md §8.5).
 */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import type { AccountAuthenticator } from '../../move/crypto/authenticator.ts';
import { domainSeed, sha3 } from '../../move/crypto/hash.ts';
import type { AnyPublicKey, AnySignature } from '../../move/crypto/public-key.ts';
import type { SignedTransaction } from '../../move/transactions/user-transaction.ts';
import { type Address, padAddress } from '../../move/types/address.ts';
import { isEd25519Signature } from '../../vm/natives/crypto/ed25519.ts';
import { isSecp256k1Signature } from '../../vm/natives/crypto/secp256k1.ts';
import { nextTurn } from '../pace.ts';

/** Signatures of all signers together; with more the reference takes none for valid. */
export const MAX_SIGNATURES = 32;
/** Variants of RawTransactionWithData. */
const MULTI_AGENT = 0;
const FEE_PAYER = 1;
const NO_ADDRESS = padAddress('0');

/** A signature, and the key that is to have made it. */
type SignaturePair = readonly [key: AnyPublicKey, signature: AnySignature];

/** Who signed, and messages of which each must be signed by one of their signatures. */
interface Signer {
  readonly authenticator: AccountAuthenticator;
  readonly messages: readonly Buffer[];
}

/** @param rawBytes BCS of the raw transaction */
export async function isSigned(
  { authenticator }: SignedTransaction,
  rawBytes: Buffer,
): Promise<boolean> {
  const signers: {
    readonly pairs: readonly SignaturePair[];
    readonly messages: readonly Buffer[];
  }[] = [];
  let count = 0;
  for (const { authenticator: one, messages } of signersOf(authenticator, rawBytes)) {
    const pairs = pairsOf(one);
    if (pairs === undefined) return false;
    count += pairs.length;
    signers.push({ pairs, messages });
  }
  if (count > MAX_SIGNATURES) return false;
  for (const { pairs, messages } of signers) {
    if (!(await areValid(pairs, messages))) return false;
  }
  return true;
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
  // Who signed before the fee payer was known has signed for no address.
  const { feePayer, feePayerAddress } = authenticator;
  const message = messageOf(rawBytes, others, feePayerAddress);
  const messages = [message, messageOf(rawBytes, others, NO_ADDRESS)];
  return [
    ...signers.map((one) => ({ authenticator: one, messages })),
    { authenticator: feePayer, messages: [message] },
  ];
}

function messageOf(rawBytes: Buffer, others?: readonly Address[], feePayer?: Address): Buffer {
  if (others === undefined) return Buffer.concat([domainSeed('RawTransaction'), rawBytes]);
  return encodeBcs((writer) => {
    writer.fixed(domainSeed('RawTransactionWithData'));
    writer.uleb32(feePayer === undefined ? MULTI_AGENT : FEE_PAYER).fixed(rawBytes);
    writer.vector(others, (to, address) => to.address(address));
    if (feePayer !== undefined) writer.address(feePayer);
  });
}

/** The signatures of one signer; `undefined` where they are not enough, or none can be looked at. */
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
      return pairsBySigner(bitmap, signatures, publicKeys, (key, made) => [key, made]);
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

/** The bits of a bitmap, the highest first, say which keys signed. */
function pairsBySigner<K, S>(
  bitmap: Buffer,
  signatures: readonly S[],
  keys: readonly K[],
  pair: (key: K, signature: S) => SignaturePair,
): readonly SignaturePair[] | undefined {
  const pairs: SignaturePair[] = [];
  for (const [index, key] of keys.entries()) {
    if (((bitmap[index >> 3] ?? 0) & (0x80 >> (index & 7))) === 0) continue;
    const signature = signatures[pairs.length];
    if (signature === undefined) return undefined;
    pairs.push(pair(key, signature));
  }
  return pairs.length === signatures.length ? pairs : undefined;
}

async function areValid(
  pairs: readonly SignaturePair[],
  messages: readonly Buffer[],
): Promise<boolean> {
  for (const pair of pairs) {
    let isValid = false;
    for (const message of messages) {
      if (isValid) break;
      isValid = isMadeBy(pair, message);
      await nextTurn();
    }
    if (!isValid) return false;
  }
  return true;
}

function isMadeBy([key, signature]: SignaturePair, message: Buffer): boolean {
  if (key.kind === 'ed25519' && signature.kind === 'ed25519') {
    return isEd25519Signature(signature.bytes, key.bytes, message);
  }
  if (key.kind === 'secp256k1' && signature.kind === 'secp256k1') {
    return isSecp256k1Signature(signature.bytes, key.bytes, sha3(message));
  }
  return false;
}
