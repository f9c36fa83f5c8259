/** Sessions of the reference are parts of transactions, each with its own hash (docs/spec/vm.md §8.1). */
import { type BcsWriter, encodeBcs } from '../move/bcs/bcs-writer.ts';
import { writeHash } from '../move/bcs/fixed-bytes.ts';
import { domainHash } from '../move/crypto/hash.ts';
import type { RawTransaction } from '../move/transactions/user-transaction.ts';
import type { Session, TransactionFacts } from '../vm/world.ts';

/** The parts of a user's transaction: their variants of SessionId and their numbers. */
const PARTS = {
  prologue: { variant: 3, counter: 25, orderlessVariant: 10, orderlessCounter: 30 },
  transaction: { variant: 0, counter: 35, orderlessVariant: 9, orderlessCounter: 40 },
  failed: { variant: 6, counter: 45, orderlessVariant: 12, orderlessCounter: 50 },
  epilogue: { variant: 4, counter: 55, orderlessVariant: 11, orderlessCounter: 60 },
} as const;

export type UserPart = keyof typeof PARTS;

/** Transactions that no user sent: their variants of SessionId and their numbers. */
const SYSTEM = {
  genesis: { variant: 2, counter: 0 },
  blockMetadata: { variant: 1, counter: 10 },
  blockMetadataExt: { variant: 7, counter: 15 },
  validator: { variant: 8, counter: 20 },
  blockEpilogue: { variant: 13, counter: 65 },
} as const;

/** Its hash is computed when code requests it: most code does not. */
class LazySession implements Session {
  readonly scriptHash: Uint8Array;
  readonly counter: number;
  readonly transaction: TransactionFacts | undefined;
  readonly #write: (writer: BcsWriter) => void;
  #hash: Buffer | undefined;

  constructor(
    { scriptHash, counter, transaction }: Omit<Session, 'hash'>,
    write: (writer: BcsWriter) => void,
  ) {
    this.scriptHash = scriptHash;
    this.counter = counter;
    this.transaction = transaction;
    this.#write = write;
  }

  get hash(): Buffer {
    this.#hash ??= domainHash('SessionId', encodeBcs(this.#write));
    return this.#hash;
  }
}

const NO_BYTES = new Uint8Array();

/** @param script the SHA3-256 of a script; empty for other transactions */
export function userSession(
  part: UserPart,
  { sender, sequenceNumber, expirationTimestampSecs }: RawTransaction,
  nonce: bigint | undefined,
  script: Uint8Array,
  transaction: TransactionFacts,
): Session {
  const { variant, counter, orderlessVariant, orderlessCounter } = PARTS[part];
  if (nonce !== undefined) {
    const facts = { scriptHash: NO_BYTES, counter: orderlessCounter, transaction };
    return new LazySession(facts, (writer) =>
      writer.uleb32(orderlessVariant).address(sender).u64(nonce).u64(expirationTimestampSecs),
    );
  }
  return new LazySession({ scriptHash: script, counter, transaction }, (writer) =>
    writer.uleb32(variant).address(sender).u64(sequenceNumber).bytes(script),
  );
}

/** @param hash of the block, or of the validator's transaction, or the id of a part of genesis */
export function systemSession(kind: keyof typeof SYSTEM, hash: Buffer): Session {
  const { variant, counter } = SYSTEM[kind];
  const isValidator = kind === 'validator';
  const scriptHash = isValidator ? hash : NO_BYTES;
  return new LazySession({ scriptHash, counter, transaction: undefined }, (writer) => {
    writer.uleb32(variant);
    if (isValidator) writer.bytes(hash);
    else writeHash(writer, hash);
  });
}
