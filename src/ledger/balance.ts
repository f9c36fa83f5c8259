/** Balances of coins and fungible assets (spec/http.md §9). */
import type { Address } from '../move/address.ts';
import { BcsError } from '../move/bcs-reader.ts';
import { pairedMetadataAddress, primaryStoreAddress } from '../move/derived-address.ts';
import {
  coinStoreCodec,
  concurrentFungibleBalanceCodec,
  fungibleStoreCodec,
} from '../move/framework-resource.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  coinStoreTag,
  FUNGIBLE_STORE_TAG,
  OBJECT_GROUP_TAG,
} from '../move/framework-tag.ts';
import { decodeResourceGroup, findGroupMember, type GroupMember } from '../move/resource-group.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  type StateKey,
  stateKeyHash,
} from '../move/state-key.ts';
import { formatStructTag, TYPE_TAG_MAX_NESTING, type TypeTag } from '../move/type-tag.ts';
import type { Asset } from './api-contract.ts';
import { LedgerError } from './ledger-error.ts';
import type { StateReader } from './state-reader.ts';

const U64_MAX = 0xffff_ffff_ffff_ffffn;

/**
 * What an account has of an asset at a version: for a coin its coin store and the primary store of its paired
 * fungible asset, for a fungible asset its primary store. Nothing found is 0.
 * @throws LedgerError `internal_error` when a store does not decode or the sum is no u64.
 */
export async function balanceAt(
  state: StateReader,
  account: Address,
  asset: Asset,
  version: bigint,
): Promise<bigint> {
  if (asset.kind === 'fungibleAsset') {
    return fungibleBalance(state, account, asset.metadata, version);
  }
  const tag = coinStoreTag(asset.type);
  assertNesting(tag.typeArguments[0]!, formatStructTag(tag));
  const coin = await state(hashOf(resourceStateKey(account, tag)), version);
  const coinBytes = coin?.bytes;
  const coinAmount =
    coinBytes === undefined ? 0n : decode(() => coinStoreCodec.decode(coinBytes)).amount;
  const metadata = pairedMetadataAddress(asset.type);
  const sum = coinAmount + (await fungibleBalance(state, account, metadata, version));
  if (sum > U64_MAX) {
    throw new LedgerError(
      'internal_error',
      'task panicked with message "attempt to add with overflow"',
    );
  }
  return sum;
}

async function fungibleBalance(
  state: StateReader,
  account: Address,
  metadata: Address,
  version: bigint,
): Promise<bigint> {
  const store = primaryStoreAddress(account, metadata);
  const group = await state(hashOf(resourceGroupStateKey(store, OBJECT_GROUP_TAG)), version);
  if (group?.bytes === undefined) return 0n;
  const members = readGroup(group.bytes);
  const plain = findGroupMember(members, FUNGIBLE_STORE_TAG);
  if (plain === undefined) return 0n;
  const { balance } = decode(() => fungibleStoreCodec.decode(plain));
  if (balance !== 0n) return balance;
  const concurrent = findGroupMember(members, CONCURRENT_FUNGIBLE_BALANCE_TAG);
  if (concurrent === undefined) return 0n;
  return decode(() => concurrentFungibleBalanceCodec.decode(concurrent)).value;
}

/** A group that does not decode counts as absent (spec/http.md §9.3 step 5). */
function readGroup(bytes: Uint8Array): readonly GroupMember[] {
  try {
    return decodeResourceGroup(bytes);
  } catch (error) {
    if (error instanceof BcsError) return [];
    throw error;
  }
}

function decode<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw new LedgerError('internal_error', cause.detail, { cause });
  }
}

function hashOf(key: StateKey): Buffer {
  return stateKeyHash(physicalStateKey(key));
}

/** The coin store of a type at the parser's limit is over it, which the reference answers so (§5.6). */
function assertNesting(coinType: TypeTag, storeText: string): void {
  if (nestingOf(coinType) < TYPE_TAG_MAX_NESTING) return;
  throw new LedgerError(
    'internal_error',
    `invalid struct tag: ${storeText}, Exceeded TypeTag nesting limit during parsing: ${TYPE_TAG_MAX_NESTING + 1}`,
  );
}

/** Levels below a type: 0 for a primitive or a plain struct. */
function nestingOf(type: TypeTag): number {
  if (type.kind === 'vector') return 1 + nestingOf(type.element);
  if (type.kind !== 'struct' || type.struct.typeArguments.length === 0) return 0;
  return 1 + Math.max(...type.struct.typeArguments.map(nestingOf));
}
