/** The bytes to sign: the hash of a domain, then the BCS of a raw transaction (docs/spec/encode.md §A5, A6). */
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { domainSeed } from '../../move/crypto/hash.ts';
import { Executable, ExtraConfig } from '../../move/transactions/executable.ts';
import { TransactionPayload } from '../../move/transactions/payload.ts';
import { ORDERLESS_SEQUENCE_NUMBER } from '../../move/transactions/user-transaction.ts';
import type { Address } from '../../move/types/address.ts';
import { ModuleId } from '../../move/types/module-id.ts';
import { type PreparedEntryFunction, writeEntryFunction } from './entry-function.ts';
import type { EncryptedRequest } from './payload.ts';
import type { EncodeRequest } from './request.ts';
import { type PreparedScript, writeScript } from './script.ts';

/** The executable of a payload. `empty` runs the payload that a multisig account has stored. */
export type PreparedExecutable =
  | PreparedEntryFunction
  | PreparedScript
  | { readonly kind: 'empty' };

interface PlainPayload {
  readonly kind: 'plain';
  readonly executable: PreparedExecutable;
  readonly multisigAddress: Address | undefined;
}

/** A payload that needs no more lookups. */
export type PreparedPayload = PlainPayload | EncryptedRequest;

/** Variants of the content of a multisig payload, which are numbered separately. */
const MULTISIG_INDEX = { entryFunction: 0, script: 1 };

const MULTI_AGENT_INDEX = 0;
const MAX_CHAIN_ID = 255;

export const DOMAIN_HASHES = {
  singleAgent: domainSeed('RawTransaction'),
  multiAgent: domainSeed('RawTransactionWithData'),
};

/**
 * Writes the signing message to a new buffer. If secondary signers are given, even an empty list, it is the message of
 * a transaction with several signers. @throws EncodeError of stage `convert`; RangeError if the chain id is not a u8
 */
export function signingMessage(
  request: EncodeRequest,
  payload: PreparedPayload,
  chainId: number,
): Buffer {
  if (!Number.isInteger(chainId) || chainId < 0 || chainId > MAX_CHAIN_ID) {
    throw new RangeError(`chain id ${chainId} is not a u8`);
  }
  const { secondarySigners, replayProtectionNonce } = request;
  const writer = new BcsWriter(512);
  if (secondarySigners === undefined) writer.fixed(DOMAIN_HASHES.singleAgent);
  else writer.fixed(DOMAIN_HASHES.multiAgent).uleb32(MULTI_AGENT_INDEX);
  writer.address(request.sender);
  writer.u64(
    replayProtectionNonce === undefined ? request.sequenceNumber : ORDERLESS_SEQUENCE_NUMBER,
  );
  if (payload.kind === 'encrypted') writeEncrypted(writer, payload, replayProtectionNonce);
  else if (replayProtectionNonce === undefined) writePlain(writer, payload);
  else {
    writer.uleb32(TransactionPayload.kinds.indexOf('payload')).uleb32(0);
    writer.uleb32(Executable.kinds.indexOf(payload.executable.kind));
    writeExecutable(writer, payload.executable);
    const { multisigAddress } = payload;
    ExtraConfig.write(writer, { kind: 'v1', multisigAddress, replayProtectionNonce });
  }
  writer.u64(request.maxGasAmount).u64(request.gasUnitPrice);
  writer.u64(request.expirationTimestampSecs).u8(chainId);
  if (secondarySigners !== undefined) {
    writer.vector(secondarySigners, (inner, signer) => inner.address(signer));
  }
  return writer.view();
}

/** Writes the forms without a nonce. */
function writePlain(writer: BcsWriter, { executable, multisigAddress }: PlainPayload): void {
  if (multisigAddress === undefined) {
    if (executable.kind === 'empty') throw new TypeError('only a multisig account runs nothing');
    writer.uleb32(TransactionPayload.kinds.indexOf(executable.kind));
  } else {
    writer.uleb32(TransactionPayload.kinds.indexOf('multisig')).address(multisigAddress);
    if (executable.kind === 'empty') {
      writer.u8(0);
      return;
    }
    writer.u8(1).uleb32(MULTISIG_INDEX[executable.kind]);
  }
  writeExecutable(writer, executable);
}

function writeExecutable(writer: BcsWriter, executable: PreparedExecutable): void {
  if (executable.kind === 'script') writeScript(writer, executable);
  else if (executable.kind === 'entryFunction') writeEntryFunction(writer, executable);
}

function writeEncrypted(
  writer: BcsWriter,
  payload: EncryptedRequest,
  replayProtectionNonce: bigint | undefined,
): void {
  writer.uleb32(TransactionPayload.kinds.indexOf('encrypted')).uleb32(0).fixed(payload.ciphertext);
  ExtraConfig.write(writer, { kind: 'v1', multisigAddress: undefined, replayProtectionNonce });
  writer.fixed(payload.payloadHash).u64(payload.encryptionEpoch);
  writer.option(payload.claimedFunction, (inner, claimed) => {
    ModuleId.write(inner, claimed.module);
    inner.option(claimed.name, (one, name) => one.string(name));
  });
}
