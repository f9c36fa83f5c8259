// Values for the codec benchmark, and how each library encodes and decodes them.
import {
  AccountAddress,
  ChainId,
  Deserializer,
  EntryFunction,
  parseTypeTag,
  RawTransaction,
  Serializer,
  TransactionPayloadEntryFunction,
  U64,
} from '@aptos-labs/ts-sdk';
import { bcs } from '@mysten/bcs';
import { decodeBcs } from '../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../src/move/bcs/bcs-writer.ts';
import { RawTransaction as OurRawTransaction } from '../src/move/transactions/user-transaction.ts';

/**
 * @typedef {{encode: () => Uint8Array, decode: (bytes: Uint8Array) => any, encodeDecoded: (value: any) => Uint8Array}} Side
 * @returns {Promise<{value: string, sides: {daybook: Side, mysten: Side, sdk: Side}}[]>}
 */
export async function codecValues() {
  return [numbers(), record(), transaction()];
}

/** A side that encodes one value. */
function side(value, encode, decode) {
  return { encode: () => encode(value), decode, encodeDecoded: encode };
}

function mysten(type, value) {
  return side(
    value,
    (given) => type.serialize(given).toBytes(),
    (bytes) => type.parse(bytes),
  );
}

function sdk(value, write, read) {
  const encode = (given) => {
    const serializer = new Serializer();
    write(serializer, given);
    return serializer.toUint8Array();
  };
  return side(value, encode, (bytes) => read(new Deserializer(bytes)));
}

function daybook(value, write, read) {
  const encode = (given) => encodeBcs((writer) => write(writer, given));
  return side(value, encode, (bytes) => decodeBcs(bytes, read));
}

const NUMBERS = 1_000;
const U64_BYTES = 8;

function numbers() {
  const items = Array.from({ length: NUMBERS }, (_, index) => BigInt(index) ** 6n);
  return {
    value: `vector of ${NUMBERS} u64`,
    sides: {
      daybook: daybook(
        items,
        (writer, given) => writer.vector(given, (to, item) => to.u64(item)),
        (reader) => reader.vector(U64_BYTES, (from) => from.u64()),
      ),
      mysten: mysten(bcs.vector(bcs.u64()), items),
      sdk: sdk(
        items,
        (to, given) => {
          to.serializeU32AsUleb128(given.length);
          for (const item of given) to.serializeU64(item);
        },
        (from) =>
          Array.from({ length: from.deserializeUleb128AsU32() }, () => from.deserializeU64()),
      ),
    },
  };
}

const OWNER = 'cafe'.repeat(16);
const MEMBERS = ['1', '2', '3'].map((digit) => digit.repeat(64));

function record() {
  const plain = {
    id: 7,
    amount: 1_234_567_890_123n,
    supply: 2n ** 100n,
    frozen: false,
    name: 'Daybook sample coin',
    data: new Uint8Array(100).fill(9),
    limit: 5_000n,
  };
  const ours = { ...plain, owner: OWNER, members: MEMBERS };
  const theirs = {
    ...plain,
    owner: Buffer.from(OWNER, 'hex'),
    members: MEMBERS.map((text) => Buffer.from(text, 'hex')),
  };
  const sdks = {
    ...plain,
    owner: AccountAddress.from(OWNER),
    members: MEMBERS.map((text) => AccountAddress.from(text)),
  };
  return {
    value: 'struct of nine fields',
    sides: {
      daybook: daybook(ours, writeRecord, readRecord),
      mysten: mysten(mystenRecord(), theirs),
      sdk: sdk(sdks, writeSdkRecord, readSdkRecord),
    },
  };
}

function writeRecord(writer, given) {
  writer.u8(given.id).u64(given.amount).u128(given.supply).bool(given.frozen);
  writer.string(given.name).bytes(given.data);
  writer.option(given.limit, (to, limit) => to.u64(limit));
  writer.address(given.owner).vector(given.members, (to, member) => to.address(member));
}

const ADDRESS_BYTES = 32;

function readRecord(reader) {
  return {
    id: reader.u8(),
    amount: reader.u64(),
    supply: reader.u128(),
    frozen: reader.bool(),
    name: reader.string(),
    data: reader.bytes(),
    limit: reader.option((from) => from.u64()),
    owner: reader.address(),
    members: reader.vector(ADDRESS_BYTES, (from) => from.address()),
  };
}

function mystenRecord() {
  return bcs.struct('Record', {
    id: bcs.u8(),
    amount: bcs.u64(),
    supply: bcs.u128(),
    frozen: bcs.bool(),
    name: bcs.string(),
    data: bcs.byteVector(),
    limit: bcs.option(bcs.u64()),
    owner: bcs.bytes(ADDRESS_BYTES),
    members: bcs.vector(bcs.bytes(ADDRESS_BYTES)),
  });
}

function writeSdkRecord(to, given) {
  to.serializeU8(given.id);
  to.serializeU64(given.amount);
  to.serializeU128(given.supply);
  to.serializeBool(given.frozen);
  to.serializeStr(given.name);
  to.serializeBytes(given.data);
  to.serializeBool(true);
  to.serializeU64(given.limit);
  given.owner.serialize(to);
  to.serializeVector(given.members);
}

function readSdkRecord(from) {
  return {
    id: from.deserializeU8(),
    amount: from.deserializeU64(),
    supply: from.deserializeU128(),
    frozen: from.deserializeBool(),
    name: from.deserializeStr(),
    data: from.deserializeBytes(),
    limit: from.deserializeBool() ? from.deserializeU64() : undefined,
    owner: from.deserialize(AccountAddress),
    members: from.deserializeVector(AccountAddress),
  };
}

const COIN = '0x1::aptos_coin::AptosCoin';
const GAS = { maxGasAmount: 2_000n, gasUnitPrice: 100n, expirationTimestampSecs: 1_893_456_000n };
const SEQUENCE_NUMBER = 12n;
const AMOUNT = 1_000_000n;
const CHAIN_ID = 4;

function transaction() {
  const made = new RawTransaction(
    AccountAddress.from(OWNER),
    SEQUENCE_NUMBER,
    new TransactionPayloadEntryFunction(
      EntryFunction.build(
        '0x1::coin',
        'transfer',
        [parseTypeTag(COIN)],
        [AccountAddress.from(MEMBERS[0]), new U64(AMOUNT)],
      ),
    ),
    GAS.maxGasAmount,
    GAS.gasUnitPrice,
    GAS.expirationTimestampSecs,
    new ChainId(CHAIN_ID),
  );
  const bytes = made.bcsToBytes();
  const theirs = mystenTransaction();
  return {
    value: 'RawTransaction',
    sides: {
      daybook: daybook(
        decodeBcs(bytes, OurRawTransaction.read),
        OurRawTransaction.write,
        OurRawTransaction.read,
      ),
      mysten: mysten(theirs, theirs.parse(bytes)),
      sdk: sdk(
        made,
        (to, given) => given.serialize(to),
        (from) => RawTransaction.deserialize(from),
      ),
    },
  };
}

/**
 * The parts of a RawTransaction's schema that an entry function with struct type arguments needs, and the tags before
 * them.
 */
function mystenTransaction() {
  const address = bcs.bytes(ADDRESS_BYTES);
  const typeTag = bcs.enum('TypeTag', {
    bool: null,
    u8: null,
    u64: null,
    u128: null,
    address: null,
    signer: null,
    vector: bcs.lazy(() => typeTag),
    struct: bcs.lazy(() => structTag),
  });
  const structTag = bcs.struct('StructTag', {
    address,
    module: bcs.string(),
    name: bcs.string(),
    typeArguments: bcs.vector(typeTag),
  });
  const entryFunction = bcs.struct('EntryFunction', {
    address,
    module: bcs.string(),
    name: bcs.string(),
    typeArguments: bcs.vector(typeTag),
    arguments: bcs.vector(bcs.byteVector()),
  });
  return bcs.struct('RawTransaction', {
    sender: address,
    sequenceNumber: bcs.u64(),
    payload: bcs.enum('TransactionPayload', { script: null, moduleBundle: null, entryFunction }),
    maxGasAmount: bcs.u64(),
    gasUnitPrice: bcs.u64(),
    expirationTimestampSecs: bcs.u64(),
    chainId: bcs.u8(),
  });
}
