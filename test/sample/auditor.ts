/**
 * Follows a sample ledger chunk by chunk and asserts what a ledger must hold to: every byte decodes, every hash
 * recomputes, every signature verifies, streams have no gaps, writes fit the state they meet. It uses the wire
 * readers only and knows nothing of the generator.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { inspect, isDeepStrictEqual } from 'node:util';
import { decodeBcs } from '../../src/move/bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { accumulatorRoot, MerkleAccumulator } from '../../src/move/crypto/accumulator.ts';
import type { AccountAuthenticator } from '../../src/move/crypto/authenticator.ts';
import { domainSeed, sha3 } from '../../src/move/crypto/hash.ts';
import type { AnyPublicKey, AnySignature } from '../../src/move/crypto/public-key.ts';
import { contractEventHash } from '../../src/move/transactions/event.ts';
import {
  type EncodedOnChainData,
  readOnChainData,
  TransactionOnChainData,
  transactionHash,
} from '../../src/move/transactions/transaction.ts';
import {
  TransactionInfo,
  transactionInfoHash,
} from '../../src/move/transactions/transaction-info.ts';
import {
  ORDERLESS_SEQUENCE_NUMBER,
  RawTransaction,
  type SignedTransaction,
} from '../../src/move/transactions/user-transaction.ts';
import { writeSetHash } from '../../src/move/transactions/write-set.ts';
import type { Address } from '../../src/move/types/address.ts';
import { ACCOUNT_TAG } from '../../src/move/types/framework-tag.ts';
import { physicalStateKey, resourceStateKey } from '../../src/move/types/state-key.ts';
import type { StateValueMetadata } from '../../src/move/types/state-value.ts';
import { TypeTag } from '../../src/move/types/type-tag.ts';
import { accountCodec } from '../../src/move/values/framework-resource.ts';
import type { Chunk, ChunkTransaction } from '../../src/store/write/chunk.ts';

/** Plain comparison: `expect` would take most of the time of a hundred thousand of them. */
function assertSame(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Error(`${what}: ${inspect(actual)} instead of ${inspect(expected)}`);
}

function assertSameBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  if (Buffer.compare(actual, expected) !== 0) throw new Error(`${what} differ`);
}

/** A value in the state, and how it was written. */
export interface AuditedValue {
  readonly bytes: Buffer;
  readonly metadata: StateValueMetadata | undefined;
}

/** A transaction that has been checked. */
export interface AuditedTransaction {
  readonly version: bigint;
  readonly item: EncodedOnChainData;
  readonly chunk: ChunkTransaction;
}

export class Auditor {
  /** By physical state key in hex. */
  readonly state = new Map<string, AuditedValue>();
  /** Next sequence number by `address/creation number`. */
  readonly streams = new Map<string, bigint>();
  readonly accumulator = new MerkleAccumulator('TransactionAccumulator');
  readonly authenticators = new Set<string>();
  readonly accountAuthenticators = new Set<string>();
  readonly payloads = new Set<string>();
  readonly transactionKinds = new Set<string>();
  readonly operations = new Set<string>();
  readonly #keys = new Map<string, KeyObject>();
  signatures = 0;
  height = -1n;

  /** Checks a chunk; gives its transactions. */
  audit(chunk: Chunk): AuditedTransaction[] {
    assertSame(chunk.firstVersion, this.accumulator.leafCount, 'first version');
    const audited = chunk.transactions.map((transaction) => this.#transaction(transaction));
    assertSame(chunk.frozenRoots, this.accumulator.frozenSubtreeRoots, 'frozen roots');
    for (const block of chunk.blocks) {
      this.height += 1n;
      assertSame(block.height, this.height, 'block height');
    }
    return audited;
  }

  #transaction(chunk: ChunkTransaction): AuditedTransaction {
    const version = this.accumulator.leafCount;
    const bytes = Buffer.from(chunk.transaction!);
    const item = decodeBcs(bytes, readOnChainData);
    assertSame(item.data.version, version, 'version');
    const again = TransactionOnChainData.encode(item.data);
    assertSameBytes(again, bytes, 'written again, the bytes');
    this.transactionKinds.add(item.data.transaction.kind);
    this.#hashes(chunk, item);
    this.#sameContent(chunk, item);
    if (item.data.transaction.kind === 'user') this.#user(item.data.transaction.transaction);
    for (const event of item.data.events) {
      if (event.kind === 'v2') continue;
      const stream = `${event.key.address}/${event.key.creationNumber}`;
      assertSame(event.sequenceNumber, this.streams.get(stream) ?? 0n, `place in ${stream}`);
      this.streams.set(stream, event.sequenceNumber + 1n);
    }
    this.#apply(item);
    return { version, item, chunk };
  }

  #hashes(chunk: ChunkTransaction, { data, bytes }: EncodedOnChainData): void {
    const info = TransactionInfo.decode(chunk.info);
    assertSameBytes(bytes.info, chunk.info, 'infos');
    assertSameBytes(info.transactionHash, transactionHash(bytes.transaction), 'transaction hashes');
    assertSameBytes(info.stateChangeHash, writeSetHash(bytes.changes), 'state change hashes');
    const leaves = bytes.events.map((event) => contractEventHash(event));
    assertSameBytes(info.eventRootHash, accumulatorRoot('EventAccumulator', leaves), 'event roots');
    this.accumulator.append(transactionInfoHash(chunk.info));
    assertSameBytes(data.accumulatorRootHash, this.accumulator.rootHash(), 'accumulator roots');
  }

  /** What the store is given is what the wire bytes say. */
  #sameContent(chunk: ChunkTransaction, { data }: EncodedOnChainData): void {
    const writes = data.changes.writes.map(({ key, op }) => ({
      key: physicalStateKey(key).toString('hex'),
      value: op.kind === 'deletion' ? undefined : op.bytes.toString('hex'),
      metadata: op.metadata,
    }));
    const given = chunk.writes.map(({ key, value, metadata }) => ({
      key: key.toString('hex'),
      value: value === undefined ? undefined : Buffer.from(value).toString('hex'),
      metadata,
    }));
    assertSame(given, writes, 'writes');
    const events = data.events.map((event) => ({
      ...(event.kind === 'v1'
        ? {
            kind: 'stream',
            address: event.key.address,
            creationNumber: event.key.creationNumber,
            sequenceNumber: event.sequenceNumber,
          }
        : { kind: 'module' }),
      typeTag: TypeTag.encode(event.typeTag).toString('hex'),
      data: event.data.toString('hex'),
    }));
    const emitted = chunk.events.map((event) => ({
      ...event,
      typeTag: Buffer.from(event.typeTag).toString('hex'),
      data: Buffer.from(event.data).toString('hex'),
    }));
    assertSame(emitted, events, 'events');
  }

  #user({ raw, authenticator }: SignedTransaction): void {
    this.payloads.add(raw.payload.kind);
    this.authenticators.add(authenticator.kind);
    const plain = Buffer.concat([domainSeed('RawTransaction'), RawTransaction.encode(raw)]);
    const withData = (variant: number, addresses: readonly Address[], payer?: Address): Buffer =>
      encodeBcs((writer) => {
        writer.fixed(domainSeed('RawTransactionWithData')).uleb32(variant);
        RawTransaction.write(writer, raw);
        writer.vector(addresses, (to, address) => to.address(address));
        if (payer !== undefined) writer.address(payer);
      });
    switch (authenticator.kind) {
      case 'ed25519':
      case 'multiEd25519':
        this.#signer(raw.sender, authenticator, plain);
        break;
      case 'singleSender':
        this.#signer(raw.sender, authenticator.sender, plain);
        break;
      case 'multiAgent':
      case 'feePayer': {
        const addresses = authenticator.secondarySignerAddresses;
        const message =
          authenticator.kind === 'multiAgent'
            ? withData(0, addresses)
            : withData(1, addresses, authenticator.feePayerAddress);
        this.#signer(raw.sender, authenticator.sender, message);
        for (const [index, address] of addresses.entries()) {
          this.#signer(address, authenticator.secondarySigners[index]!, message);
        }
        if (authenticator.kind === 'feePayer') {
          this.#signer(authenticator.feePayerAddress, authenticator.feePayer, message);
        }
        break;
      }
    }
    if (raw.sequenceNumber !== ORDERLESS_SEQUENCE_NUMBER) {
      const { sequenceNumber } = this.#account(raw.sender);
      assertSame(raw.sequenceNumber, sequenceNumber, `sequence number of ${raw.sender}`);
    }
  }

  /** The signatures verify, with the keys that the account has at this version. */
  #signer(address: Address, authenticator: AccountAuthenticator, message: Buffer): void {
    this.accountAuthenticators.add(authenticator.kind);
    const { scheme, hashed, signed } = signaturesOf(authenticator);
    for (const [publicKey, signature] of signed) {
      if (!verify(null, message, this.#key(publicKey), signature)) {
        throw new Error(`the signature of ${address} does not verify`);
      }
      this.signatures += 1;
    }
    const { authenticationKey } = this.#account(address);
    const expected = sha3(Buffer.concat([hashed, Buffer.of(scheme)])).toString('hex');
    assertSame(authenticationKey.toString('hex'), expected, `authentication key of ${address}`);
  }

  #key(publicKey: Buffer): KeyObject {
    const x = publicKey.toString('base64url');
    let key = this.#keys.get(x);
    if (key === undefined) {
      key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
      this.#keys.set(x, key);
    }
    return key;
  }

  #account(address: Address): ReturnType<typeof accountCodec.decode> {
    const key = physicalStateKey(resourceStateKey(address, ACCOUNT_TAG)).toString('hex');
    return accountCodec.decode(this.state.get(key)!.bytes);
  }

  /** Creations meet nothing; modifications and deletions meet something, and keep its metadata. */
  #apply({ data }: EncodedOnChainData): void {
    for (const { key, op } of data.changes.writes) {
      const name = physicalStateKey(key).toString('hex');
      const before = this.state.get(name);
      this.operations.add(op.metadata === undefined ? op.kind : `${op.kind}WithMetadata`);
      assertSame(op.kind === 'creation', before === undefined, `a ${op.kind} of ${name}`);
      if (before !== undefined) assertSame(op.metadata, before.metadata, `metadata of ${name}`);
      if (op.kind === 'deletion') this.state.delete(name);
      else this.state.set(name, { bytes: Buffer.from(op.bytes), metadata: op.metadata });
    }
  }
}

interface Signatures {
  /** Byte behind the keys in the authentication key (docs/spec/ledger.md §6.1). */
  readonly scheme: number;
  /** The keys as the authentication key hashes them. */
  readonly hashed: Buffer;
  readonly signed: readonly (readonly [publicKey: Buffer, signature: Buffer])[];
}

function signaturesOf(authenticator: AccountAuthenticator): Signatures {
  switch (authenticator.kind) {
    case 'ed25519': {
      const { publicKey, signature } = authenticator;
      return { scheme: 0, hashed: publicKey, signed: [[publicKey, signature]] };
    }
    case 'multiEd25519': {
      const { keys, threshold } = authenticator.publicKey;
      const { signatures, bitmap } = authenticator.signature;
      const signed = signers(keys, bitmap, threshold).map((key, at) => pair(key, signatures[at]!));
      return { scheme: 1, hashed: Buffer.concat([...keys, Buffer.of(threshold)]), signed };
    }
    case 'singleKey': {
      const { publicKey, signature } = authenticator;
      const hashed = encodeBcs((writer) => writeAnyPublicKey(writer, publicKey));
      return { scheme: 2, hashed, signed: [pair(ed25519Of(publicKey), ed25519Of(signature))] };
    }
    case 'multiKey': {
      const { publicKeys, signaturesRequired, signatures, bitmap } = authenticator;
      const hashed = encodeBcs((writer) =>
        writer.vector(publicKeys, writeAnyPublicKey).u8(signaturesRequired),
      );
      const signed = signers(publicKeys, bitmap, signaturesRequired).map((key, at) =>
        pair(ed25519Of(key), ed25519Of(signatures[at]!)),
      );
      return { scheme: 3, hashed, signed };
    }
    default:
      throw new Error(`a signer of ${authenticator.kind}`);
  }
}

function pair(publicKey: Buffer, signature: Buffer): readonly [Buffer, Buffer] {
  return [publicKey, signature];
}

function ed25519Of(part: AnyPublicKey | AnySignature): Buffer {
  if (part.kind !== 'ed25519') throw new Error(`a ${part.kind} part`);
  return part.bytes;
}

function writeAnyPublicKey(writer: BcsWriter, key: AnyPublicKey): void {
  writer.uleb32(0).bytes(ed25519Of(key));
}

/** The keys whose bits are set: at least as many as must sign. */
function signers<Key>(keys: readonly Key[], bitmap: Buffer, threshold: number): Key[] {
  const signing = keys.filter((_, at) => (bitmap[at >> 3]! & (0x80 >> (at & 7))) !== 0);
  if (signing.length < threshold) throw new Error(`${signing.length} of ${threshold} signatures`);
  return signing;
}
