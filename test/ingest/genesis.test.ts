/** Reading real genesis files: counts, hashes and waypoints of docs/spec/ledger.md §1.4 and §2.7. */

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Genesis, readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { checkWaypoint, computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { type BcsWriter, encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { sha3 } from '../../src/move/crypto/hash.ts';
import { ContractEvent, contractEventHash } from '../../src/move/transactions/event.ts';
import { Transaction } from '../../src/move/transactions/transaction.ts';
import {
  formatWaypoint,
  parseWaypoint,
  validatorSetCodec,
} from '../../src/move/transactions/waypoint.ts';
import { writes as writesCodec } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';
import {
  NATIVE_METADATA_ADDRESS,
  primaryStoreAddress,
} from '../../src/move/types/derived-address.ts';
import {
  APTOS_COIN_TAG,
  coinStoreTag,
  FEATURES_TAG,
  FUNGIBLE_STORE_TAG,
  OBJECT_CORE_TAG,
  OBJECT_GROUP_TAG,
} from '../../src/move/types/framework-tag.ts';
import {
  decodeResourceGroup,
  encodeResourceGroup,
  findGroupMember,
} from '../../src/move/types/resource-group.ts';
import {
  parsePhysicalStateKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { formatStructTag, formatTypeTag, type StructTag } from '../../src/move/types/type-tag.ts';
import {
  coinStoreCodec,
  featuresCodec,
  fungibleStoreCodec,
  isFeatureEnabled,
  newBlockEventCodec,
  newEpochEventCodec,
  objectCoreCodec,
} from '../../src/move/values/framework-resource.ts';
import {
  BLOCK_RESOURCE_TAG,
  blockResourceCodec,
  CONFIGURATION_TAG,
  configurationCodec,
} from '../move/values/framework-codecs.ts';

const shared = new URL('../../../shared/genesis/', import.meta.url);
const isPresent = existsSync(shared);

interface Network {
  readonly name: string;
  readonly chainId: number;
  readonly counts: Record<string, number>;
  readonly waypointFile: string;
}

const NETWORKS: readonly Network[] = [
  {
    name: 'mainnet',
    chainId: 1,
    counts: {
      modules: 70,
      resources: 1323,
      resourceGroups: 0,
      tableItems: 1,
      events: 1499,
    },
    waypointFile: 'mainnet.genesis_waypoint.txt',
  },
  {
    name: 'testnet',
    chainId: 2,
    counts: {
      modules: 63,
      resources: 64,
      resourceGroups: 0,
      tableItems: 1,
      events: 33,
    },
    waypointFile: 'testnet.genesis_waypoint.txt',
  },
  {
    name: 'devnet',
    chainId: 243,
    counts: {
      modules: 190,
      resources: 99,
      resourceGroups: 9,
      tableItems: 4,
      events: 37,
    },
    waypointFile: 'devnet.waypoint.txt',
  },
];

function digest<T>(write: (writer: BcsWriter, value: T) => unknown, value: T): string {
  return sha3(encodeBcs((writer) => write(writer, value))).toString('hex');
}

function writeEvents(writer: BcsWriter, events: readonly ContractEvent[]): void {
  writer.vector(events, ContractEvent.write);
}

function eventsOf(genesis: Genesis): ContractEvent[] {
  return Array.from(genesis.eventBytes(), (bytes) => ContractEvent.decode(bytes));
}

const blobs = new Map<string, Buffer>();
function blobOf(name: string): Buffer {
  let blob = blobs.get(name);
  if (blob === undefined) {
    blob = readFileSync(new URL(`${name}.blob`, shared));
    blobs.set(name, blob);
  }
  return blob;
}

function waypointText(file: string): string {
  return readFileSync(new URL(file, shared), 'utf8');
}

/** The written value of a key of the genesis, by its physical encoding. */
function valueAt(name: string, physical: Buffer): Buffer {
  for (const { physicalKey, op } of readGenesis(blobOf(name)).writes()) {
    if (physicalKey.equals(physical) && op.kind !== 'deletion') return op.bytes;
  }
  throw new Error(`${name} holds no ${physical.toString('hex')}`);
}

function resourceAt(name: string, tag: StructTag): Buffer {
  return valueAt(name, physicalStateKey(resourceStateKey(ADDRESS_ONE, tag)));
}

describe.skipIf(!isPresent)('real genesis files (needs ../shared/genesis)', () => {
  for (const network of NETWORKS) {
    const { name } = network;

    test(`${name}: chain id and counts`, () => {
      const genesis = readGenesis(blobOf(name));
      expect(genesis.chainId).toBe(network.chainId);
      expect(genesis.counts).toEqual(network.counts);
    });

    test(`${name}: waypoint equals the published one`, () => {
      const genesis = readGenesis(blobOf(name));
      const published = waypointText(network.waypointFile);
      expect(formatWaypoint(computeGenesisHashes(genesis).waypoint)).toBe(published.trim());
      expect(checkWaypoint(genesis, parseWaypoint(published)).waypoint.version).toBe(0n);
    });

    test(`${name}: re-encodes byte for byte`, () => {
      const genesis = readGenesis(blobOf(name));
      const transaction = Transaction.decode(genesis.bytes);
      expect(Transaction.encode(transaction).equals(blobOf(name))).toBe(true);
    });

    test(`${name}: lazily and eagerly decoded parts agree; keys round trip physically`, () => {
      const genesis = readGenesis(blobOf(name));
      const { payload } = Transaction.decode(genesis.bytes) as Extract<
        Transaction,
        { kind: 'genesis' }
      >;
      if (payload.kind !== 'direct') throw new Error('not direct');
      const writes = [...genesis.writes()];
      // Digests, because comparing a megabyte of buffers member by member takes seconds.
      expect(digest(writesCodec.write, writes)).toBe(
        digest(writesCodec.write, payload.writeSet.writes),
      );
      const lazyEvents = eventsOf(genesis);
      expect(digest(writeEvents, lazyEvents)).toBe(digest(writeEvents, payload.events));
      for (const { key, physicalKey } of writes) {
        expect(physicalStateKey(parsePhysicalStateKey(physicalKey)).equals(physicalKey)).toBe(true);
        if (key.kind === 'accessPath' && key.parsed?.kind === 'code') {
          expect(key.parsed.module.address).toBe(key.address);
        }
      }
    });

    test(`${name}: a resource group re-encodes byte for byte`, () => {
      for (const { key, op } of readGenesis(blobOf(name)).writes()) {
        if (key.kind !== 'accessPath' || key.parsed?.kind !== 'resourceGroup') continue;
        if (op.kind === 'deletion') continue;
        const members = decodeResourceGroup(op.bytes);
        expect(encodeResourceGroup([...members].reverse()).equals(op.bytes)).toBe(true);
      }
    });

    test(`${name}: block, epoch and validators as the framework wrote them`, () => {
      const genesis = readGenesis(blobOf(name));
      const configuration = configurationCodec.decode(resourceAt(name, CONFIGURATION_TAG));
      expect(configuration.epoch).toBe(1n);
      expect(configuration.events.key).toEqual({ creationNumber: 2n, address: ADDRESS_ONE });
      const block = blockResourceCodec.decode(resourceAt(name, BLOCK_RESOURCE_TAG));
      expect(block.height).toBe(0n);
      expect(block.newBlockEvents).toEqual({
        counter: 1n,
        key: { creationNumber: 3n, address: ADDRESS_ONE },
      });
      expect(block.epochIntervalUsecs).toBe(name === 'devnet' ? 600_000_000n : 7_200_000_000n);
      const encoded = validatorSetCodec.encode(genesis.validatorSet);
      expect(validatorSetCodec.decode(encoded)).toEqual(genesis.validatorSet);
      const blocks = eventsOf(genesis).filter((event) =>
        formatTypeTag(event.typeTag).endsWith('::NewBlockEvent'),
      );
      expect(blocks).toHaveLength(1);
      expect(newBlockEventCodec.decode(blocks[0]!.data)).toMatchObject({
        height: 0n,
        epoch: 0n,
        timestampUsecs: 0n,
      });
      const epochs = eventsOf(genesis).filter((event) =>
        formatTypeTag(event.typeTag).endsWith('::NewEpochEvent'),
      );
      expect(epochs.map((event) => newEpochEventCodec.decode(event.data))).toEqual([1n]);
    });
  }

  test.each([
    ['mainnet', '0d08659868360de4cf1d395d1e87c9e0bed31c5f3aab9636eec3ce30aaae6d47'],
    ['testnet', '6e9c67140e4e2ae27e6b1b2b1f6f7b9f07d89fc89068632fa937ea46de9e0153'],
    ['devnet', '06ca5c3cbc198f24903294d4b5a4cb6731aa626704847db810442f72d095a432'],
  ])('%s: the root of its state', (name, root) => {
    const { stateCheckpointHash } = computeGenesisHashes(readGenesis(blobOf(name)));
    expect(stateCheckpointHash.toString('hex')).toBe(root);
  });

  test('testnet: every intermediate hash', () => {
    const computed = computeGenesisHashes(readGenesis(blobOf('testnet')));
    const hashes = {
      transaction: computed.transactionHash.toString('hex'),
      writeSet: computed.stateChangeHash.toString('hex'),
      events: computed.eventRootHash.toString('hex'),
      state: computed.stateCheckpointHash.toString('hex'),
      info: computed.infoHash.toString('hex'),
      accumulator: computed.accumulatorRootHash.toString('hex'),
      validators: computed.nextEpochState.validators.length,
      waypoint: formatWaypoint(computed.waypoint),
    };
    const info = 'a82b8b8e40e61e83cd284071ff179ce9b79458768e9e4feca8b892425b18b2f0';
    expect(hashes).toEqual({
      transaction: '879da88b8dcf588c6e80541cc400faadab853952492982b9cdd0af55dd1b407a',
      writeSet: 'dc426933f5f058c9687616ce9ab9df4c3eb7a22d6293e0414c8b23067b7fa72f',
      events: 'cc633b0ff1d36f730e9686a16b701963e09bf01e484db695aa90fd63b7698215',
      state: '6e9c67140e4e2ae27e6b1b2b1f6f7b9f07d89fc89068632fa937ea46de9e0153',
      info,
      accumulator: info,
      validators: 4,
      waypoint: '0:4b56f15c1dcef7f9f3eb4b4798c0cba0f1caacc0d35f1c80ad9b7a21f1f8b454',
    });
    const [first] = readGenesis(blobOf('testnet')).eventBytes();
    expect(contractEventHash(first!)).toHaveLength(32);
  });

  test.each([
    ['mainnet', 424, 18062791321240000n],
    ['testnet', 5, 18446744073709551615n],
    ['devnet', 0, 0n],
  ] as const)('%s: coin stores of the native coin', (name, count, sum) => {
    const wanted = formatStructTag(coinStoreTag(APTOS_COIN_TAG));
    let found = 0;
    let total = 0n;
    for (const { key, op } of readGenesis(blobOf(name)).writes()) {
      if (key.kind !== 'accessPath' || key.parsed?.kind !== 'resource') continue;
      if (formatStructTag(key.parsed.tag) !== wanted || op.kind === 'deletion') continue;
      const store = coinStoreCodec.decode(op.bytes);
      expect(coinStoreCodec.encode(store).equals(op.bytes)).toBe(true);
      found += 1;
      total += store.amount;
    }
    expect({ found, total }).toEqual({ found: count, total: sum });
  });

  test('devnet: stores lie where their owners and asset say', () => {
    let stores = 0;
    for (const { key, op } of readGenesis(blobOf('devnet')).writes()) {
      if (key.kind !== 'accessPath' || key.parsed?.kind !== 'resourceGroup') continue;
      if (formatStructTag(key.parsed.tag) !== formatStructTag(OBJECT_GROUP_TAG)) continue;
      const members = decodeResourceGroup((op as { bytes: Buffer }).bytes);
      const storeBytes = findGroupMember(members, FUNGIBLE_STORE_TAG);
      if (storeBytes === undefined) continue;
      const store = fungibleStoreCodec.decode(storeBytes);
      const core = objectCoreCodec.decode(findGroupMember(members, OBJECT_CORE_TAG)!);
      expect(primaryStoreAddress(core.owner, store.metadata)).toBe(key.address);
      expect(store.metadata).toBe(NATIVE_METADATA_ADDRESS);
      stores += 1;
    }
    expect(stores).toBe(6);
    const rich = 'b26af11b4f332a7794398554b6313a38c6a102c74c5ba9a12629ae3a492acb2f';
    const group = valueAt(
      'devnet',
      physicalStateKey(resourceGroupStateKey(rich, OBJECT_GROUP_TAG)),
    );
    const richStore = findGroupMember(decodeResourceGroup(group), FUNGIBLE_STORE_TAG)!;
    expect(fungibleStoreCodec.decode(richStore).balance).toBe(2n ** 64n - 1n);
  });

  test('devnet: map order is that of serialized bytes (docs/spec/ledger.md §0)', () => {
    const group = valueAt(
      'devnet',
      physicalStateKey(resourceGroupStateKey(NATIVE_METADATA_ADDRESS, OBJECT_GROUP_TAG)),
    );
    expect(decodeResourceGroup(group).map(({ tag }) => `${tag.module}::${tag.name}`)).toEqual([
      'coin::PairedCoinType',
      'coin::PairedFungibleAssetRefs',
      'object::ObjectCore',
      'fungible_asset::Metadata',
      'fungible_asset::ConcurrentSupply',
      'primary_fungible_store::DeriveRefPod',
    ]);
  });

  test('feature flags that decide bytecode version and identifier size (docs/spec/move.md §4.2)', () => {
    const devnet = featuresCodec.decode(resourceAt('devnet', FEATURES_TAG));
    expect([106, 38].map((flag) => isFeatureEnabled(devnet, flag))).toEqual([true, true]);
    const mainnet = featuresCodec.decode(resourceAt('mainnet', FEATURES_TAG));
    const flags = [106, 102, 86, 40, 5, 38];
    expect(flags.some((flag) => isFeatureEnabled(mainnet, flag))).toBe(false);
  });
});
