/**
 * Edits of the state, for tests: each computes the values that it changes. Overrides of a fork put these into an
 * overlay; a local network commits them.
 */
import type { MaybePromise } from '../../maybe-promise.ts';
import { U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { MoveError } from '../../move/errors.ts';
import { moduleIdOf } from '../../move/modules/compiled.ts';
import { loadModule } from '../../move/modules/read.ts';
import { addressFromBytes, parseAddress } from '../../move/types/address.ts';
import { OBJECT_GROUP_TAG } from '../../move/types/framework-tag.ts';
import { changeResourceGroup, encodeStructTag } from '../../move/types/resource-group.ts';
import {
  type HashedStateKey,
  hashedStateKey,
  moduleStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../move/types/state-key.ts';
import { parseStructTag } from '../../move/types/type-parser.ts';
import { TypeTag } from '../../move/types/type-tag.ts';
import { renderValue } from '../../move/values/value-json.ts';
import type { ModuleView } from '../../state/module-view.ts';
import { groupOf } from '../../state/resource.ts';
import { CoinAsset, FungibleAsset, primaryStoreGroup } from '../balances/balance.ts';
import { newCoinStore, storeValuesWith } from './balance-override.ts';
import { OverrideError } from './override-error.ts';

interface EditedState {
  readonly modules: ModuleView;
  value(key: HashedStateKey): MaybePromise<Buffer | undefined>;
}

export interface EditedValue {
  readonly key: HashedStateKey;
  /** Absent: the key has no value. */
  readonly bytes: Buffer | undefined;
}

/** Returns the changed values. Rejects with OverrideError for state that no ledger could have, and if a read fails. */
export type StateEdit = (state: EditedState) => Promise<readonly EditedValue[]>;

/** @param asset a coin type, or the address of a fungible asset's metadata @throws OverrideError */
export function balanceEdit(account: string, asset: string, amount: bigint): StateEdit {
  assertU64('a balance', amount);
  const address = parsed(() => parseAddress(account));
  const { keys } = parsed(() =>
    asset.includes('::')
      ? new CoinAsset(parseStructTag(asset))
      : new FungibleAsset(parseAddress(asset)),
  );
  const coinKey = parsed(() => keys.coinStores?.key(address));
  const groupKey = primaryStoreGroup(address, keys);
  return async (state) => {
    const coinStore = coinKey && (await state.value(coinKey));
    const group = await state.value(groupKey);
    if (coinKey !== undefined && coinStore === undefined && group === undefined) {
      // A coin without a fungible asset, as on old chains, is held only in coin stores.
      const metadata = addressFromBytes(keys.metadata);
      const metadataGroup = await state.value(
        hashedStateKey(resourceGroupStateKey(metadata, OBJECT_GROUP_TAG)),
      );
      if (metadataGroup === undefined)
        return [{ key: coinKey, bytes: newCoinStore(address, amount) }];
    }
    const next = parsed(() =>
      storeValuesWith({ coinStore, group }, address, keys.metadata, amount),
    );
    const edits: EditedValue[] = [];
    if (coinStore !== undefined) edits.push({ key: coinKey!, bytes: next.coinStore });
    if (next.group !== undefined) edits.push({ key: groupKey, bytes: next.group });
    return edits;
  };
}

/** @param bytes BCS; absent: the resource is deleted @throws OverrideError */
export function resourceEdit(account: string, type: string, bytes: Buffer | undefined): StateEdit {
  const address = parsed(() => parseAddress(account));
  const tag = parsed(() => parseStructTag(type));
  return async (state) => {
    if (bytes !== undefined) {
      await assertIsValue({ kind: 'struct', struct: tag }, bytes, state.modules);
    }
    const container = await groupOf(tag, state.modules.lookup);
    if (container === undefined) {
      return [{ key: hashedStateKey(resourceStateKey(address, tag)), bytes }];
    }
    const key = hashedStateKey(resourceGroupStateKey(address, container));
    const group = await state.value(key);
    return [
      {
        key,
        bytes: parsed(() =>
          changeResourceGroup(group, [{ tagBytes: encodeStructTag(tag), data: bytes }]),
        ),
      },
    ];
  };
}

/** Publishes a module under the name in its bytecode. @throws OverrideError */
export function moduleEdit(bytecode: Uint8Array): StateEdit {
  const bytes = Buffer.from(bytecode);
  const { address, name } = moduleIdOf(parsed(() => loadModule(bytes)));
  const key = hashedStateKey(moduleStateKey(address, name));
  return async () => [{ key, bytes }];
}

/** Rejects with OverrideError for bytes that are not a value of the type. */
export async function assertIsValue(
  tag: TypeTag,
  bytes: Buffer,
  modules: ModuleView,
): Promise<void> {
  try {
    const { layout } = (await modules.type(TypeTag.encode(tag), tag)).value;
    renderValue(layout, bytes);
  } catch (cause) {
    throw asOverrideError(cause);
  }
}

/** @param what begins the message @throws OverrideError */
export function assertU64(what: string, value: unknown): void {
  if (typeof value === 'bigint' && value >= 0n && value <= U64_MAX) return;
  throw new OverrideError(`${what} of ${value} is not a u64`);
}

/** @throws OverrideError instead of MoveError */
export function parsed<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw asOverrideError(cause);
  }
}

function asOverrideError(cause: unknown): unknown {
  return cause instanceof MoveError ? new OverrideError(cause.message, { cause }) : cause;
}
