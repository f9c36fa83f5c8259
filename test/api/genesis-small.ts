/** A handmade genesis with data for each operation, for tests that must run without real files. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import type { ContractEvent } from '../../src/move/transactions/event.ts';
import type { WriteSetEntry } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE, ADDRESS_ZERO, padAddress } from '../../src/move/types/address.ts';
import { primaryStoreAddress } from '../../src/move/types/derived-address.ts';
import {
  APTOS_COIN_TAG,
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  coinStoreTag,
  FUNGIBLE_STORE_TAG,
  frameworkTag,
  OBJECT_CORE_TAG,
  OBJECT_GROUP_TAG,
} from '../../src/move/types/framework-tag.ts';
import { encodeResourceGroup, type GroupMember } from '../../src/move/types/resource-group.ts';
import {
  moduleStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import type { StructTag } from '../../src/move/types/type-tag.ts';
import {
  coinStoreCodec,
  concurrentFungibleBalanceCodec,
  fungibleStoreCodec,
  newBlockEventCodec,
  objectCoreCodec,
} from '../../src/move/values/framework-resource.ts';
import { genesisFile, NEEDED_WRITES } from '../ingest/small-genesis.ts';
import { ledgerOf } from '../ledger/encode-modules.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { NEW_BLOCK_EVENT_TAG, NEW_EPOCH_EVENT_TAG } from '../move/values/framework-codecs.ts';

const U64_MAX = 2n ** 64n - 1n;
const METADATA = padAddress('a');

/** The chain id and counts that `init` reports for the small genesis. */
export const SMALL_CHAIN_ID = 7;
export const SMALL_COUNTS = { modules: 5, resources: 5, groups: 2, tableItems: 0, events: 5 };
/** Bytes under `0x1::broken` that are not a module. */
export const BROKEN_MODULE = Buffer.from('no module');

const MODULES = ledgerOf(
  {
    '0x1::aptos_account::transfer': { parameters: ['&signer', 'address', 'u64'] },
    '0x1::coin::balance': { parameters: ['address'], typeParameters: 1, isEntry: false },
  },
  {
    '0x1::coin::DepositEvent': { fields: [['amount', 'u64']] },
    '0x1::reconfiguration::NewEpochEvent': { fields: [['epoch', 'u64']] },
    '0x1::block::NewBlockEvent': {
      fields: [
        ['hash', 'address'],
        ['epoch', 'u64'],
        ['round', 'u64'],
        ['height', 'u64'],
        ['previous_block_votes_bitvec', { vector: 'u8' }],
        ['proposer', 'address'],
        ['failed_proposer_indices', { vector: 'u64' }],
        ['time_microseconds', 'u64'],
      ],
    },
  },
);

function creation(key: WriteSetEntry['key'], bytes: Buffer): WriteSetEntry {
  return { key, op: { kind: 'creation', bytes, metadata: undefined } };
}

function moduleWrite(name: string): WriteSetEntry {
  const module = MODULES({ address: ADDRESS_ONE, name }) as CompiledModule;
  return creation(moduleStateKey(ADDRESS_ONE, name), writeModule(module));
}

function coinWrite(account: string, coin: StructTag, amount: bigint): WriteSetEntry {
  const address = padAddress(account);
  const handle = (creationNumber: bigint) => ({ counter: 1n, key: { creationNumber, address } });
  const bytes = coinStoreCodec.encode({
    amount,
    frozen: false,
    depositEvents: handle(2n),
    withdrawEvents: handle(3n),
  });
  return creation(resourceStateKey(address, coinStoreTag(coin)), bytes);
}

/** The primary store of an account, with a plain or concurrent balance. */
function fungibleWrite(account: string, plain: bigint, concurrent?: bigint): WriteSetEntry {
  const owner = padAddress(account);
  const store = primaryStoreAddress(owner, METADATA);
  const transferEvents = {
    counter: 0n,
    key: { creationNumber: 0x4_0000_0000_0000n, address: store },
  };
  const core = {
    guidCreationNumber: 0x4_0000_0000_0001n,
    owner,
    allowUngatedTransfer: false,
    transferEvents,
  };
  const members: Omit<GroupMember, 'tagBytes'>[] = [
    { tag: OBJECT_CORE_TAG, data: objectCoreCodec.encode(core) },
    {
      tag: FUNGIBLE_STORE_TAG,
      data: fungibleStoreCodec.encode({ metadata: METADATA, balance: plain, frozen: false }),
    },
  ];
  if (concurrent !== undefined) {
    const data = concurrentFungibleBalanceCodec.encode({ value: concurrent, maxValue: U64_MAX });
    members.push({ tag: CONCURRENT_FUNGIBLE_BALANCE_TAG, data });
  }
  return creation(resourceGroupStateKey(store, OBJECT_GROUP_TAG), encodeResourceGroup(members));
}

const WRITES: readonly WriteSetEntry[] = [
  ...NEEDED_WRITES,
  ...['aptos_account', 'block', 'coin', 'reconfiguration'].map(moduleWrite),
  creation(moduleStateKey(ADDRESS_ONE, 'broken'), BROKEN_MODULE),
  coinWrite('b0b', APTOS_COIN_TAG, U64_MAX),
  coinWrite('a11ce', APTOS_COIN_TAG, 7n),
  coinWrite('a11ce', { ...frameworkTag('m', 'Coin'), address: padAddress('5a') }, 9n),
  fungibleWrite('fa', 12_345n),
  fungibleWrite('fb', 0n, U64_MAX),
];

function streamEvent(
  [account, creationNumber]: readonly [string, bigint],
  tag: StructTag,
  data: Buffer,
): ContractEvent {
  return {
    kind: 'v1',
    key: { address: padAddress(account), creationNumber },
    sequenceNumber: 0n,
    typeTag: { kind: 'struct', struct: tag },
    data,
  };
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

const GENESIS_BLOCK = newBlockEventCodec.encode({
  hash: ADDRESS_ZERO,
  epoch: 0n,
  round: 0n,
  height: 0n,
  previousBlockVotesBitvec: Buffer.alloc(0),
  proposer: ADDRESS_ZERO,
  failedProposerIndices: [],
  timestampUsecs: 0n,
});

const EVENTS: readonly ContractEvent[] = [
  streamEvent(['b0b', 2n], frameworkTag('coin', 'DepositEvent'), u64(U64_MAX)),
  streamEvent(['a11ce', 2n], frameworkTag('coin', 'DepositEvent'), u64(7n)),
  { kind: 'v2', typeTag: { kind: 'bool' }, data: Buffer.of(1) },
  streamEvent(['1', 3n], NEW_BLOCK_EVENT_TAG, GENESIS_BLOCK),
  streamEvent(['1', 2n], NEW_EPOCH_EVENT_TAG, u64(1n)),
];

/** The file of the small genesis. */
export function smallGenesisFile(): Buffer {
  return genesisFile(WRITES, EVENTS);
}

/** Writes the small genesis to a new temporary folder, which the caller must remove. */
export function writeSmallGenesis(): { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-small-'));
  const path = join(folder, 'small.blob');
  writeFileSync(path, smallGenesisFile());
  return { folder, path };
}
