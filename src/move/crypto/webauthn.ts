/** WebAuthn assertions: signatures of pass keys (docs/spec/ledger.md §3.4). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readSizedBytes, writeSizedBytes } from '../bcs/fixed-bytes.ts';

const SECP256R1_SIGNATURE_BYTES = 64;

export interface WebAuthnAssertion {
  /** Secp256r1, 64 bytes. */
  readonly signature: Buffer;
  readonly authenticatorData: Buffer;
  readonly clientDataJson: Buffer;
}

/** Reads an assertion. @throws BcsError */
export function readWebAuthnAssertion(reader: BcsReader): WebAuthnAssertion {
  reader.variant(1, 'AssertionSignature');
  const signature = readSizedBytes(reader, SECP256R1_SIGNATURE_BYTES, 'Secp256r1 signature');
  const authenticatorData = reader.bytes();
  return { signature, authenticatorData, clientDataJson: reader.bytes() };
}

/** Writes an assertion. */
export function writeWebAuthnAssertion(writer: BcsWriter, assertion: WebAuthnAssertion): void {
  writer.uleb32(0);
  writeSizedBytes(writer, assertion.signature, SECP256R1_SIGNATURE_BYTES, 'Secp256r1 signature');
  writer.bytes(assertion.authenticatorData).bytes(assertion.clientDataJson);
}
