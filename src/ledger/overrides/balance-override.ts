/** State values that give an account a balance (docs/spec/http.md §9.3). */
import { type Address, addressBytes, addressFromBytes } from '../../move/types/address.ts';
import { primaryStoreOf } from '../../move/types/derived-address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  FUNGIBLE_STORE_TAG,
  OBJECT_CORE_TAG,
} from '../../move/types/framework-tag.ts';
import {
  changeResourceGroup,
  decodeResourceGroup,
  encodeStructTag,
  findGroupMember,
  type MemberChange,
} from '../../move/types/resource-group.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import {
  coinStoreCodec,
  concurrentFungibleBalanceCodec,
  fungibleStoreCodec,
  objectCoreCodec,
} from '../../move/values/framework-resource.ts';

/** The first creation number of every object (docs/spec/ledger.md §5.7). */
const OBJECT_CREATION_NUMBER = 0x4000000000000n;

interface StoreValues {
  readonly coinStore: Buffer | undefined;
  readonly group: Buffer | undefined;
}

/**
 * The values of a coin store and of a primary store's group that together hold an amount; `undefined` for a store that
 * stays missing. An existing coin store holds everything. Otherwise the primary store does, and is created if missing.
 * @throws BcsError if an existing value does not decode
 */
export function storeValuesWith(
  { coinStore, group }: StoreValues,
  account: Address,
  metadata: Uint8Array,
  amount: bigint,
): StoreValues {
  if (coinStore === undefined) {
    return { coinStore, group: groupWithAmount(group, account, metadata, amount) };
  }
  return {
    coinStore: coinStoreCodec.encode({ ...coinStoreCodec.decode(coinStore), amount }),
    group: group && groupWithAmount(group, account, metadata, 0n),
  };
}

/** The first coin store of an account. The creation numbers of its handles follow those of the account's own. */
export function newCoinStore(address: Address, amount: bigint): Buffer {
  const [depositEvents, withdrawEvents] = [2n, 3n].map((creationNumber) => ({
    counter: 0n,
    key: { creationNumber, address },
  }));
  return coinStoreCodec.encode({
    ...{ amount, frozen: false },
    ...{ depositEvents: depositEvents!, withdrawEvents: withdrawEvents! },
  });
}

function groupWithAmount(
  group: Buffer | undefined,
  owner: Address,
  metadata: Uint8Array,
  amount: bigint,
): Buffer {
  const members = group === undefined ? [] : decodeResourceGroup(group);
  const find = (tag: StructTag) => findGroupMember(members, tag);
  const core = find(OBJECT_CORE_TAG) ?? newCore(owner, metadata);
  const existingStore = find(FUNGIBLE_STORE_TAG);
  const frozen = existingStore !== undefined && fungibleStoreCodec.decode(existingStore).frozen;
  const concurrent = find(CONCURRENT_FUNGIBLE_BALANCE_TAG);
  const store = {
    metadata: addressFromBytes(metadata),
    balance: concurrent === undefined ? amount : 0n,
    frozen,
  };
  const changed: MemberChange[] = [
    { tagBytes: encodeStructTag(OBJECT_CORE_TAG), data: core },
    { tagBytes: encodeStructTag(FUNGIBLE_STORE_TAG), data: fungibleStoreCodec.encode(store) },
  ];
  if (concurrent !== undefined) {
    const { maxValue } = concurrentFungibleBalanceCodec.decode(concurrent);
    const value = { value: amount, maxValue: amount > maxValue ? amount : maxValue };
    const data = concurrentFungibleBalanceCodec.encode(value);
    changed.push({ tagBytes: encodeStructTag(CONCURRENT_FUNGIBLE_BALANCE_TAG), data });
  }
  return changeResourceGroup(group, changed)!;
}

function newCore(owner: Address, metadata: Uint8Array): Buffer {
  const object = addressFromBytes(primaryStoreOf(addressBytes(owner), metadata));
  const key = { creationNumber: OBJECT_CREATION_NUMBER, address: object };
  return objectCoreCodec.encode({
    guidCreationNumber: OBJECT_CREATION_NUMBER + 1n,
    owner,
    allowUngatedTransfer: false,
    transferEvents: { counter: 0n, key },
  });
}
