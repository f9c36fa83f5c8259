/**
 * Edge cases of translation: missing resources, pending chunks, both forms at once, and data that does not match its
 * type.
 */
import { describe, expect, it } from 'vitest';
import { ChunkTranslator } from '../../src/ingest/translate/chunk-translator.ts';
import { TRANSLATIONS } from '../../src/ingest/translate/translation-table.ts';
import { type BcsWriter, encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { ADDRESS_ONE, type Address, padAddress } from '../../src/move/types/address.ts';
import { OBJECT_CORE_TAG, OBJECT_GROUP_TAG } from '../../src/move/types/framework-tag.ts';
import { encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { parseStructTag, parseTypeTag } from '../../src/move/types/type-parser.ts';
import { TypeTag } from '../../src/move/types/type-tag.ts';
import { coinStoreCodec, objectCoreCodec } from '../../src/move/values/framework-resource.ts';
import { EVENTS } from '../../src/store/columns/columns.ts';
import type { StoreReader } from '../../src/store/store.ts';
import type {
  Chunk,
  ChunkModuleEvent,
  ChunkStreamEvent,
  ChunkTransaction,
  StateWrite,
} from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { MemoryStore } from '../store/memory-store.ts';

const ACCOUNT = padAddress('5');
const COIN = '0x1::aptos_coin::AptosCoin';
const FIRST_OBJECT_NUMBER = 1_125_899_906_842_624n;

function moduleEvent(type: string, write: (writer: BcsWriter) => void): ChunkModuleEvent {
  return { kind: 'module', typeTag: TypeTag.encode(parseTypeTag(type)), data: encodeBcs(write) };
}

function coinDeposit(amount: bigint, coinType = COIN): ChunkModuleEvent {
  return moduleEvent('0x1::coin::CoinDeposit', (writer) =>
    writer.string(coinType).address(ACCOUNT).u64(amount),
  );
}

function depositEvent(creationNumber: bigint, sequenceNumber: bigint): ChunkStreamEvent {
  return {
    kind: 'stream',
    address: ACCOUNT,
    creationNumber,
    sequenceNumber,
    typeTag: TypeTag.encode(parseTypeTag('0x1::coin::DepositEvent')),
    data: Buffer.alloc(8),
  };
}

function transfer(object: Address): ChunkModuleEvent {
  return moduleEvent('0x1::object::Transfer', (writer) =>
    writer.address(object).address(ACCOUNT).address(ACCOUNT),
  );
}

function handle(counter: bigint, creationNumber: bigint) {
  return { counter, key: { creationNumber, address: ACCOUNT } };
}

/** A write of the account's coin store; without a handle a deletion. */
function coinStore(deposits: ReturnType<typeof handle> | undefined): StateWrite {
  const key = physicalStateKey(
    resourceStateKey(ACCOUNT, parseStructTag(`0x1::coin::CoinStore<${COIN}>`)),
  );
  if (deposits === undefined) return { key, value: undefined };
  const withdrawEvents = handle(0n, 9n);
  const store = { amount: 0n, frozen: false, depositEvents: deposits, withdrawEvents };
  return { key, value: coinStoreCodec.encode(store) };
}

function group(object: Address, members: Parameters<typeof encodeResourceGroup>[0]): StateWrite {
  const key = physicalStateKey(resourceGroupStateKey(object, OBJECT_GROUP_TAG));
  return { key, value: encodeResourceGroup(members) };
}

/** One transaction of these writes and events. */
function transaction(
  writes: readonly StateWrite[],
  events: readonly (ChunkModuleEvent | ChunkStreamEvent)[],
): ChunkTransaction {
  return { writes, events, info: Buffer.of(0), transaction: Buffer.of(0) };
}

/** A chunk with an arbitrary accumulator, which translation does not read. */
function chunkAt(firstVersion: bigint, transactions: readonly ChunkTransaction[]): Chunk {
  const leaves = (firstVersion + BigInt(transactions.length)).toString(2).replaceAll('0', '');
  const isFirst = firstVersion === 0n;
  const block = {
    height: 0n,
    firstVersion: 0n,
    epoch: 0n,
    round: 0n,
    timestampUsecs: 0n,
    id: Buffer.alloc(32),
  };
  const identity = { chainId: 4, genesisWaypointHash: Buffer.alloc(32), keepsTransactions: false };
  return {
    firstVersion,
    transactions,
    blocks: isFirst ? [block] : [],
    epochEnds: [],
    frozenRoots: Array.from(leaves, () => Buffer.alloc(32)),
    identity: isFirst ? identity : undefined,
  };
}

/** The reads of a store as separate functions. */
function readsOf(store: MemoryStore): StoreReader {
  return {
    get: (...asked) => store.get(...asked),
    getMany: (...asked) => store.getMany(...asked),
    seekLast: (...asked) => store.seekLast(...asked),
    seekLastMany: (...asked) => store.seekLastMany(...asked),
    range: (...asked) => store.range(...asked),
    rangeMany: (...asked) => store.rangeMany(...asked),
    scan: (...asked) => store.scan(...asked),
    statistics: () => store.statistics(),
    close: () => store.close(),
  };
}

/** The positions that the events of a chunk get: creation number and sequence number. */
function places(chunk: Chunk): string[] {
  return chunk.transactions.flatMap(({ translatedEvents = [] }) =>
    translatedEvents.map(
      ({ address, creationNumber, sequenceNumber }) =>
        `${address === ACCOUNT ? 'account' : BigInt(`0x${address}`)}/${creationNumber}/${sequenceNumber}`,
    ),
  );
}

async function translated(...transactions: readonly ChunkTransaction[]): Promise<string[]> {
  const translator = new ChunkTranslator(await LedgerWriter.open(new MemoryStore()));
  return places(await translator.translate(chunkAt(0n, transactions)));
}

describe('the table', () => {
  it('has 28 types, each once, and handles that their resources have', () => {
    expect(new Set(TRANSLATIONS.map(({ moduleEvent: type }) => type)).size).toBe(28);
    for (const { fields, handleFields, owner, resources, handle: name } of TRANSLATIONS) {
      expect(Object.keys(fields)).toEqual(expect.arrayContaining([...handleFields, owner]));
      for (const { handles } of resources) expect(handles).toContain(name);
    }
  });
});

describe('a place in a stream', () => {
  it('is what the handle counts, then one after the other', async () => {
    const first = transaction([coinStore(handle(7n, 12n))], [coinDeposit(1n), coinDeposit(2n)]);
    expect(await translated(first, transaction([], [coinDeposit(3n)]))).toEqual([
      'account/12/7',
      'account/12/8',
      'account/12/9',
    ]);
  });

  it('follows handle events of the stream, wherever those are', async () => {
    const store = new MemoryStore();
    const writer = await LedgerWriter.open(store);
    const translator = new ChunkTranslator(writer);
    const genesis = transaction(
      [coinStore(handle(2n, 12n))],
      [depositEvent(12n, 0n), depositEvent(12n, 1n)],
    );
    await writer.append(await translator.translate(chunkAt(0n, [genesis])));
    translator.onCommitted(0n);
    // The previous event is in the store, then in a pending chunk, then in the chunk itself.
    const second = await translator.translate(chunkAt(1n, [transaction([], [coinDeposit(1n)])]));
    expect(places(second)).toEqual(['account/12/2']);
    const third = await translator.translate(chunkAt(2n, [transaction([], [coinDeposit(1n)])]));
    expect(places(third)).toEqual(['account/12/3']);
    await writer.append(second);
    translator.onCommitted(1n);
    await writer.append(third);
    translator.onCommitted(2n);
    const later = [transaction([], [depositEvent(12n, 4n)]), transaction([], [coinDeposit(1n)])];
    expect(places(await translator.translate(chunkAt(3n, later)))).toEqual(['account/12/5']);
  });

  it('follows what was committed while the store was being read', async () => {
    const store = new MemoryStore();
    const writer = await LedgerWriter.open(store);
    let meanwhile = async (): Promise<void> => undefined;
    const reader: StoreReader = {
      ...readsOf(store),
      seekLastMany: async (column, keys) => {
        const rows = await store.seekLastMany(column, keys);
        if (column === EVENTS) await meanwhile();
        return rows;
      },
    };
    const translator = new ChunkTranslator({
      reader,
      get head() {
        return writer.head;
      },
    });
    const depositInto = (stream: bigint) =>
      transaction([coinStore(handle(7n, stream))], [coinDeposit(1n)]);
    await writer.append(await translator.translate(chunkAt(0n, [depositInto(11n)])));
    translator.onCommitted(0n);
    const first = await translator.translate(chunkAt(1n, [depositInto(12n)]));
    translator.onCommitted(0n);
    meanwhile = async () => {
      meanwhile = async () => undefined;
      await writer.append(first);
      translator.onCommitted(1n);
    };
    const other = await translator.translate(chunkAt(2n, [depositInto(13n)]));
    const again = await translator.translate(chunkAt(3n, [depositInto(12n)]));
    expect([first, other, again].map(places)).toEqual([
      ['account/12/7'],
      ['account/13/7'],
      ['account/12/8'],
    ]);
  });

  it('is that of the handle after the transaction itself, in pending chunks too', async () => {
    const translator = new ChunkTranslator(await LedgerWriter.open(new MemoryStore()));
    await translator.translate(chunkAt(0n, [transaction([coinStore(handle(0n, 12n))], [])]));
    const moved = transaction([coinStore(handle(0n, 20n))], [coinDeposit(1n)]);
    const chunk = chunkAt(1n, [transaction([], [coinDeposit(1n)]), moved]);
    expect(places(await translator.translate(chunk))).toEqual(['account/12/0', 'account/20/0']);
  });

  it('is not given when the transaction emits the handle event itself', async () => {
    const both = transaction(
      [coinStore(handle(1n, 12n))],
      [coinDeposit(1n), depositEvent(12n, 0n)],
    );
    expect(await translated(both, transaction([], [coinDeposit(1n)]))).toEqual(['account/12/1']);
  });
});

describe('without a resource', () => {
  it('coins and accounts have streams of known numbers', async () => {
    const withdraw = moduleEvent('0x1::coin::CoinWithdraw', (writer) =>
      writer.string(COIN).address(ACCOUNT).u64(1n),
    );
    const register = moduleEvent('0x1::account::CoinRegister', (writer) =>
      writer.address(ACCOUNT).address(ADDRESS_ONE).string('aptos_coin').string('AptosCoin'),
    );
    const rotate = moduleEvent('0x1::account::KeyRotation', (writer) =>
      writer.address(ACCOUNT).bytes(Buffer.alloc(32)).bytes(Buffer.alloc(32, 1)),
    );
    const events = [coinDeposit(1n), withdraw, register, rotate, coinDeposit(2n)];
    // The reference gives each of them number 0; here no position is used twice.
    expect(await translated(transaction([], events))).toEqual([
      'account/2/0',
      'account/3/0',
      'account/0/0',
      'account/1/0',
      'account/2/1',
    ]);
  });

  it('a deleted one counts as none', async () => {
    const there = transaction([coinStore(handle(3n, 12n))], [coinDeposit(1n)]);
    const gone = transaction([coinStore(undefined)], [coinDeposit(1n)]);
    expect(await translated(there, gone)).toEqual(['account/12/3', 'account/2/0']);
  });

  it('objects have theirs if the group is there, and none if it is not', async () => {
    const object = padAddress('77');
    const core = objectCoreCodec.encode({
      guidCreationNumber: 0n,
      owner: ACCOUNT,
      allowUngatedTransfer: true,
      transferEvents: { counter: 4n, key: { creationNumber: 15n, address: object } },
    });
    expect(await translated(transaction([], [transfer(object)]))).toEqual([]);
    expect(await translated(transaction([group(object, [])], [transfer(object)]))).toEqual([
      `119/${FIRST_OBJECT_NUMBER}/0`,
    ]);
    const members = [{ tag: OBJECT_CORE_TAG, data: core }];
    expect(await translated(transaction([group(object, members)], [transfer(object)]))).toEqual([
      '119/15/4',
    ]);
  });

  it('tokens have none', async () => {
    const mint = moduleEvent('0x4::collection::Mint', (writer) =>
      writer.address(ACCOUNT).u64(1n).address(ACCOUNT),
    );
    const offer = moduleEvent('0x3::token_event_store::OptInTransfer', (writer) =>
      writer.address(ACCOUNT).bool(true),
    );
    expect(await translated(transaction([group(ACCOUNT, [])], [mint, offer]))).toEqual([]);
  });
});

describe('events that are not what their type says', () => {
  it('stay module events', async () => {
    const store = coinStore(handle(0n, 12n));
    const short: ChunkModuleEvent = { ...coinDeposit(1n), data: Buffer.of(0) };
    const long: ChunkModuleEvent = {
      ...coinDeposit(1n),
      data: Buffer.concat([coinDeposit(1n).data, Buffer.of(0)]),
    };
    const nested = (depth: number) => 'vector<'.repeat(depth) + 'u8' + '>'.repeat(depth);
    const odd = ['', 'u8', '0x1::a', 'x'.repeat(9_000)].map((type) => coinDeposit(1n, type));
    const events = [short, long, ...odd];
    expect(await translated(transaction([store], events))).toEqual([]);
    // A type that is nested too deeply cannot be that of a coin with a store.
    for (let depth = 1; depth < 12; depth += 1) {
      const deep = coinDeposit(1n, `0x1::a::B<${nested(depth)}>`);
      await expect(translated(transaction([store], [deep]))).resolves.toHaveLength(
        depth < 8 ? 1 : 0,
      );
    }
  });

  it('and so do events whose resource does not decode', async () => {
    const { key } = coinStore(handle(0n, 12n));
    const broken = { key, value: Buffer.of(1, 2, 3) };
    expect(await translated(transaction([broken], [coinDeposit(1n)]))).toEqual([]);
  });
});
