/** Every wire type: random values of it, its reader and its writer. */
import type { Arbitrary } from 'fast-check';
import type { BcsReader } from '../../../src/move/bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { readAccountAuthenticator } from '../../../src/move/crypto/authenticator.ts';
import {
  readContractEvent,
  readEventKey,
  writeContractEvent,
  writeEventKey,
} from '../../../src/move/transactions/event.ts';
import {
  readTransactionPayload,
  writeTransactionPayload,
} from '../../../src/move/transactions/payload.ts';
import { readOnChainData, readTransaction } from '../../../src/move/transactions/transaction.ts';
import {
  readTransactionArgument,
  writeTransactionArgument,
} from '../../../src/move/transactions/transaction-argument.ts';
import {
  readTransactionInfo,
  writeTransactionInfo,
} from '../../../src/move/transactions/transaction-info.ts';
import { readSignedTransaction } from '../../../src/move/transactions/user-transaction.ts';
import { readWriteSet, type WriteSet } from '../../../src/move/transactions/write-set.ts';
import { readStateKey, writeStateKey } from '../../../src/move/types/state-key.ts';
import { readTypeTag, writeTypeTag } from '../../../src/move/types/type-tag.ts';
import { writeAccountAuthenticator } from '../crypto/authenticator-writers.ts';
import { typeTag } from '../values/scalar-arbitraries.ts';
import * as user from './user-transaction-arbitraries.ts';
import * as wire from './wire-arbitraries.ts';
import {
  writeOnChainData,
  writeSignedTransaction,
  writeTransaction,
  writeWriteSet,
} from './wire-writers.ts';

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
  StateKey: wireType(wire.stateKey, readStateKey, writeStateKey),
  WriteSet: wireType(wire.writeSet.map(sorted), readWriteSet, writeWriteSet),
  EventKey: wireType(wire.eventKey, readEventKey, writeEventKey),
  ContractEvent: wireType(wire.contractEvent, readContractEvent, writeContractEvent),
  TransactionArgument: wireType(
    user.transactionArgument,
    readTransactionArgument,
    writeTransactionArgument,
  ),
  TransactionPayload: wireType(user.payload, readTransactionPayload, writeTransactionPayload),
  AccountAuthenticator: wireType(
    user.accountAuthenticator,
    readAccountAuthenticator,
    writeAccountAuthenticator,
  ),
  SignedTransaction: wireType(
    user.signedTransaction,
    readSignedTransaction,
    writeSignedTransaction,
  ),
  Transaction: wireType(wire.transaction, readTransaction, writeTransaction),
  TransactionInfo: wireType(wire.transactionInfo, readTransactionInfo, writeTransactionInfo),
  TransactionOnChainData: wireType(
    wire.onChainData,
    (reader) => readOnChainData(reader).data,
    writeOnChainData,
  ),
};

/** Entries as a reader gives them: by the serialized bytes of their keys. */
function sorted(writeSet: WriteSet): WriteSet {
  const keyBytes = (key: WriteSet['writes'][number]['key']) =>
    encodeBcs((writer) => writeStateKey(writer, key));
  const sort = (writes: WriteSet['writes']) =>
    [...writes].sort((left, right) => Buffer.compare(keyBytes(left.key), keyBytes(right.key)));
  if (writeSet.kind === 'v0') return { ...writeSet, writes: sort(writeSet.writes) };
  const extensions = writeSet.extensions.map((extension) => ({
    ...extension,
    writes: sort(extension.writes),
  }));
  return { ...writeSet, writes: sort(writeSet.writes), extensions };
}
