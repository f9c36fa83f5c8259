/** Writes authenticators, keys and signatures as src/move/crypto reads them (docs/spec/ledger.md §3.4). */
import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import type {
  AccountAuthenticator,
  MultiEd25519PublicKey,
  MultiEd25519Signature,
  TransactionAuthenticator,
} from '../../../src/move/crypto/authenticator.ts';
import {
  type AnySignature,
  type KeylessSignature,
  writeAnyPublicKey,
} from '../../../src/move/crypto/public-key.ts';

type WebAuthnAssertion = Extract<AnySignature, { kind: 'webAuthn' }>['assertion'];
type KeylessCertificate = KeylessSignature['certificate'];
type Groth16Proof = Extract<KeylessCertificate, { kind: 'zeroKnowledge' }>['proof'];
type EphemeralPublicKey = KeylessSignature['ephemeralPublicKey'];
type EphemeralSignature = KeylessSignature['ephemeralSignature'];
type Ed25519Authenticator = Extract<AccountAuthenticator, { kind: 'ed25519' }>;
type MultiEd25519Authenticator = Extract<AccountAuthenticator, { kind: 'multiEd25519' }>;
type AbstractAuthenticationData = Extract<AccountAuthenticator, { kind: 'abstract' }>['data'];
type SecondarySigners = Extract<TransactionAuthenticator, { kind: 'multiAgent' | 'feePayer' }>;

const SIGNATURE_KINDS = ['ed25519', 'secp256k1', 'webAuthn', 'keyless', 'slhDsa'];

export function writeTransactionAuthenticator(
  writer: BcsWriter,
  authenticator: TransactionAuthenticator,
): void {
  switch (authenticator.kind) {
    case 'ed25519':
      writeEd25519(writer, authenticator);
      return;
    case 'multiEd25519':
      writeMultiEd25519(writer, authenticator);
      return;
    case 'multiAgent':
      writer.uleb32(2);
      writeSecondarySigners(writer, authenticator);
      return;
    case 'feePayer':
      writer.uleb32(3);
      writeSecondarySigners(writer, authenticator);
      writer.address(authenticator.feePayerAddress);
      writeAccountAuthenticator(writer, authenticator.feePayer);
      return;
    case 'singleSender':
      writer.uleb32(4);
      writeAccountAuthenticator(writer, authenticator.sender);
  }
}

function writeSecondarySigners(writer: BcsWriter, signers: SecondarySigners): void {
  writeAccountAuthenticator(writer, signers.sender);
  writer.vector(signers.secondarySignerAddresses, (inner, address) => inner.address(address));
  writer.vector(signers.secondarySigners, writeAccountAuthenticator);
}

export function writeAccountAuthenticator(
  writer: BcsWriter,
  authenticator: AccountAuthenticator,
): void {
  switch (authenticator.kind) {
    case 'ed25519':
      writeEd25519(writer, authenticator);
      return;
    case 'multiEd25519':
      writeMultiEd25519(writer, authenticator);
      return;
    case 'singleKey':
      writer.uleb32(2);
      writeAnyPublicKey(writer, authenticator.publicKey);
      writeAnySignature(writer, authenticator.signature);
      return;
    case 'multiKey':
      writer.uleb32(3);
      writer.vector(authenticator.publicKeys, writeAnyPublicKey);
      writer.u8(authenticator.signaturesRequired);
      writer.vector(authenticator.signatures, writeAnySignature);
      writer.bytes(authenticator.bitmap);
      return;
    case 'noAccount':
      writer.uleb32(4);
      return;
    case 'abstract':
      writer.uleb32(5).address(authenticator.moduleAddress);
      writer.string(authenticator.moduleName).string(authenticator.functionName);
      writeAbstractData(writer, authenticator.data);
  }
}

// Both kinds of authenticator number the two plain schemes alike.
function writeEd25519(writer: BcsWriter, { publicKey, signature }: Ed25519Authenticator): void {
  writer.uleb32(0);
  writer.bytes(publicKey);
  writer.bytes(signature);
}

function writeMultiEd25519(writer: BcsWriter, authenticator: MultiEd25519Authenticator): void {
  writer.uleb32(1);
  writeMultiEd25519PublicKey(writer, authenticator.publicKey);
  writeMultiEd25519Signature(writer, authenticator.signature);
}

function writeAbstractData(writer: BcsWriter, data: AbstractAuthenticationData): void {
  writer.uleb32(data.kind === 'v1' ? 0 : 1);
  writer.bytes(data.signingMessageDigest).bytes(data.signature);
  if (data.kind === 'derivableV1') writer.bytes(data.publicKey);
}

export function writeMultiEd25519PublicKey(writer: BcsWriter, key: MultiEd25519PublicKey): void {
  writer.bytes(Buffer.concat([...key.keys, Buffer.of(key.threshold)]));
}

export function writeMultiEd25519Signature(
  writer: BcsWriter,
  { signatures, bitmap }: MultiEd25519Signature,
): void {
  writer.bytes(Buffer.concat([...signatures, bitmap]));
}

export function writeAnySignature(writer: BcsWriter, signature: AnySignature): void {
  writer.uleb32(SIGNATURE_KINDS.indexOf(signature.kind));
  if (signature.kind === 'webAuthn') {
    writeWebAuthnAssertion(writer, signature.assertion);
    return;
  }
  if (signature.kind === 'keyless') {
    writeKeylessSignature(writer, signature.signature);
    return;
  }
  writer.bytes(signature.bytes);
}

function writeKeylessSignature(writer: BcsWriter, signature: KeylessSignature): void {
  writeCertificate(writer, signature.certificate);
  writer.string(signature.jwtHeaderJson).u64(signature.expirationSecs);
  writeEphemeralPublicKey(writer, signature.ephemeralPublicKey);
  writeEphemeralSignature(writer, signature.ephemeralSignature);
}

function writeCertificate(writer: BcsWriter, certificate: KeylessCertificate): void {
  if (certificate.kind === 'zeroKnowledge') {
    writer.uleb32(0);
    writeProof(writer, certificate.proof);
    writer.u64(certificate.expirationHorizonSecs);
    writer.option(certificate.extraField, (inner, text) => inner.string(text));
    writer.option(certificate.overrideAudience, (inner, text) => inner.string(text));
    writer.option(certificate.trainingWheelsSignature, writeEphemeralSignature);
  } else {
    writer.uleb32(1).bytes(certificate.jwtSignature);
    writer.string(certificate.jwtPayloadJson).string(certificate.uidKey);
    writer.bytes(certificate.ephemeralKeyBlinder);
    writer.fixed(certificate.pepper);
    writer.option(certificate.identityAudience, (inner, text) => inner.string(text));
  }
}

function writeProof(writer: BcsWriter, proof: Groth16Proof): void {
  writer.uleb32(0);
  writer.fixed(proof.a);
  writer.fixed(proof.b);
  writer.fixed(proof.c);
}

function writeEphemeralPublicKey(writer: BcsWriter, key: EphemeralPublicKey): void {
  if (key.kind === 'ed25519') {
    writer.uleb32(0);
    writer.bytes(key.bytes);
  } else {
    writer.uleb32(1);
    writer.bytes(key.bytes);
  }
}

function writeEphemeralSignature(writer: BcsWriter, signature: EphemeralSignature): void {
  if (signature.kind === 'ed25519') {
    writer.uleb32(0);
    writer.bytes(signature.bytes);
  } else {
    writer.uleb32(1);
    writeWebAuthnAssertion(writer, signature.assertion);
  }
}

function writeWebAuthnAssertion(writer: BcsWriter, assertion: WebAuthnAssertion): void {
  writer.uleb32(0);
  writer.bytes(assertion.signature);
  writer.bytes(assertion.authenticatorData).bytes(assertion.clientDataJson);
}
