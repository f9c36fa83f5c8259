/** Every wire type: random values of it, its reader and its writer. */
import type { Arbitrary } from 'fast-check';
import type { BcsReader } from '../../../src/move/bcs/bcs-reader.ts';
import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { AccountAuthenticator } from '../../../src/move/crypto/authenticator.ts';
import { ContractEvent, EventKey } from '../../../src/move/transactions/event.ts';
import { TransactionPayload } from '../../../src/move/transactions/payload.ts';
import {
  readOnChainData,
  Transaction,
  TransactionOnChainData,
} from '../../../src/move/transactions/transaction.ts';
import { TransactionArgument } from '../../../src/move/transactions/transaction-argument.ts';
import { TransactionInfo } from '../../../src/move/transactions/transaction-info.ts';
import { SignedTransaction } from '../../../src/move/transactions/user-transaction.ts';
import { WriteSet } from '../../../src/move/transactions/write-set.ts';
import { StateKey } from '../../../src/move/types/state-key.ts';
import { readTypeTag, writeTypeTag } from '../../../src/move/types/type-tag.ts';
import { typeTag } from '../values/scalar-arbitraries.ts';
import * as user from './user-transaction-arbitraries.ts';
import * as wire from './wire-arbitraries.ts';

export interface WireType<T> {
  readonly value: Arbitrary<T>;
  readonly read: (reader: BcsReader) => T;
  readonly write: (writer: BcsWriter, value: T) => unknown;
}

function wireType<T>(
  value: Arbitrary<T>,
  read: (reader: BcsReader) => T,
  write: (writer: BcsWriter, value: T) => unknown,
): WireType<unknown> {
  return { value, read, write: write as (writer: BcsWriter, value: unknown) => unknown };
}

export const WIRE_TYPES: Readonly<Record<string, WireType<unknown>>> = {
  TypeTag: wireType(
    typeTag,
    (reader) => readTypeTag(reader),
    (writer, tag) => writeTypeTag(writer, tag),
  ),
  StateKey: wireType(wire.stateKey, StateKey.read, StateKey.write),
  WriteSet: wireType(wire.writeSet.map(sorted), WriteSet.read, WriteSet.write),
  EventKey: wireType(wire.eventKey, EventKey.read, EventKey.write),
  ContractEvent: wireType(wire.contractEvent, ContractEvent.read, ContractEvent.write),
  TransactionArgument: wireType(
    user.transactionArgument,
    TransactionArgument.read,
    TransactionArgument.write,
  ),
  TransactionPayload: wireType(user.payload, TransactionPayload.read, TransactionPayload.write),
  AccountAuthenticator: wireType(
    user.accountAuthenticator,
    AccountAuthenticator.read,
    AccountAuthenticator.write,
  ),
  SignedTransaction: wireType(
    user.signedTransaction,
    SignedTransaction.read,
    SignedTransaction.write,
  ),
  Transaction: wireType(wire.transaction, Transaction.read, Transaction.write),
  TransactionInfo: wireType(wire.transactionInfo, TransactionInfo.read, TransactionInfo.write),
  TransactionOnChainData: wireType(
    wire.onChainData,
    (reader) => readOnChainData(reader).data,
    TransactionOnChainData.write,
  ),
};

/** Entries in a reader's order: by the serialized bytes of their keys. */
function sorted(writeSet: WriteSet): WriteSet {
  const keyBytes = (key: WriteSet['writes'][number]['key']) => StateKey.encode(key);
  const sort = (writes: WriteSet['writes']) =>
    [...writes].sort((left, right) => Buffer.compare(keyBytes(left.key), keyBytes(right.key)));
  if (writeSet.kind === 'v0') return { ...writeSet, writes: sort(writeSet.writes) };
  const extensions = writeSet.extensions.map((extension) => ({
    ...extension,
    writes: sort(extension.writes),
  }));
  return { ...writeSet, writes: sort(writeSet.writes), extensions };
}
