/** Balances of coins and fungible assets (docs/spec/http.md §9). */
import { copiedBytes } from '../../cache.ts';
import { andThen, type MaybePromise, together } from '../../maybe-promise.ts';
import { U64_MAX } from '../../move/bcs/bcs-reader.ts';
import {
  ADDRESS_ZERO,
  type Address,
  addressBytes,
  parseAddress,
} from '../../move/types/address.ts';
import { pairedMetadataAddress, primaryStoreOf } from '../../move/types/derived-address.ts';
import { coinStoreTag, OBJECT_GROUP_TAG } from '../../move/types/framework-tag.ts';
import {
  type HashedStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../move/types/state-key.ts';
import { parseStructTag } from '../../move/types/type-parser.ts';
import {
  formatStructTag,
  type StructTag,
  TYPE_TAG_MAX_NESTING,
  type TypeTag,
} from '../../move/types/type-tag.ts';
import { coinStoreAmount, fungibleGroupBalance } from '../../move/values/balance-values.ts';
import { AccountKeyHasher } from '../../state/account-keys.ts';
import { decodeStored, LedgerError } from '../../state/ledger-error.ts';
import type { StateSource } from '../../state/source.ts';
import type { StoredBalance } from '../../store/columns/balance-column.ts';
import type { StateEntry } from '../../store/columns/state-column.ts';

interface BalanceSources {
  readonly index: Pick<StateSource, 'balance'>;
  /** The value of a state key of the account after a version. */
  state(key: HashedStateKey, version: bigint): MaybePromise<StateEntry | undefined>;
}

/**
 * An account's balance of an asset at a version: for a coin, the coin store plus the primary store of its paired
 * fungible asset; for a fungible asset, its primary store. Missing stores count as 0. The row of the balance is used if
 * it is of this version or an earlier one; otherwise state is read.
 * @throws LedgerError `internal_error` when a store does not decode or the sum is not a u64; or rejects with it
 */
export function balanceAt(
  sources: BalanceSources,
  account: Address,
  asset: Asset,
  version: bigint,
): MaybePromise<bigint> {
  assertNesting(asset);
  return andThen(sources.index.balance(addressBytes(account), asset.keys.metadata), (row) => {
    const known =
      row !== undefined && row.version <= version
        ? amountOf(row, asset.kind === 'coin')
        : undefined;
    return known === undefined ? stateBalance(sources, account, asset, version) : asU64(known);
  });
}

/** The amount in a row; `undefined` if an amount does not decode, since reading state then reports the reason. */
function amountOf({ coin, fungible }: StoredBalance, isCoin: boolean): bigint | undefined {
  if (!isCoin) return fungible;
  return coin === undefined || fungible === undefined ? undefined : coin + fungible;
}

/** The balance read from state: the general path, and the only one for older versions. */
async function stateBalance(
  { state }: BalanceSources,
  account: Address,
  asset: Asset,
  version: bigint,
): Promise<bigint> {
  const parts = balanceParts(account, asset);
  const entries = await together(
    parts.map(
      ({ key }) =>
        () =>
          state(key, version),
    ),
  );
  return asU64(entries.reduce((sum, entry, at) => sum + amountOfPart(parts[at]!, entry), 0n));
}

export interface BalancePart {
  readonly key: HashedStateKey;
  /** The amount in a value. @throws BcsError */
  amountIn(bytes: Buffer): bigint;
}

/**
 * All parts of a balance: the coin store of a coin, and the primary store.
 * @throws LedgerError `internal_error` for a coin whose store has no state key
 */
export function balanceParts(account: Address, asset: Asset): readonly BalancePart[] {
  assertNesting(asset);
  const { keys } = asset;
  const group = { key: primaryStoreGroup(account, keys), amountIn: fungibleGroupBalance };
  if (keys.coinStores === undefined) return [group];
  return [{ key: keys.coinStores.key(account), amountIn: coinStoreAmount }, group];
}

/** The amount of a part; 0 if it has no value. @throws LedgerError `internal_error` for a value that does not decode */
export function amountOfPart({ amountIn }: BalancePart, entry: StateEntry | undefined): bigint {
  const bytes = entry?.bytes;
  return bytes === undefined ? 0n : decodeStored('', () => amountIn(bytes));
}

/** The sum of the parts. @throws LedgerError `internal_error` when it is not a u64 */
export function asU64(sum: bigint): bigint {
  if (sum <= U64_MAX) return sum;
  const message = 'task panicked with message "attempt to add with overflow"';
  throw new LedgerError('internal_error', message);
}

/**
 * The type of a coin store nests one level deeper than its coin. For a coin at the parser's limit it is too deep, and
 * the reference answers with this error (docs/spec/http.md §5.6).
 */
function assertNesting(asset: Asset): void {
  if (asset.kind !== 'coin') return;
  const { type } = asset;
  if (type.typeArguments.length === 0) return;
  if (nestingOf({ kind: 'struct', struct: type }) < TYPE_TAG_MAX_NESTING) return;
  throw new LedgerError(
    'internal_error',
    `invalid struct tag: ${formatStructTag(coinStoreTag(type))}, ` +
      `Exceeded TypeTag nesting limit during parsing: ${TYPE_TAG_MAX_NESTING + 1}`,
  );
}

/** Levels below a type: 0 for a primitive or a plain struct. */
function nestingOf(type: TypeTag): number {
  if (type.kind === 'vector') return 1 + nestingOf(type.element);
  if (type.kind !== 'struct' || type.struct.typeArguments.length === 0) return 0;
  return 1 + Math.max(...type.struct.typeArguments.map(nestingOf));
}

const objectGroupKeys = new AccountKeyHasher(resourceGroupStateKey(ADDRESS_ZERO, OBJECT_GROUP_TAG));

interface BalanceKeys {
  /** Address of the metadata of the asset, or of the one that the coin is paired with; 32 bytes. */
  readonly metadata: Uint8Array;
  readonly coinStores: AccountKeyHasher | undefined;
}

export function primaryStoreGroup(account: Address, { metadata }: BalanceKeys): HashedStateKey {
  return objectGroupKeys.key(primaryStoreOf(addressBytes(account), metadata));
}

export class CoinAsset {
  readonly kind = 'coin';
  readonly type: StructTag;
  #keys: BalanceKeys | undefined;

  constructor(type: StructTag) {
    this.type = type;
  }

  /** Computed on first use. @throws RangeError for a type too deep for a coin store's key */
  get keys(): BalanceKeys {
    this.#keys ??= {
      metadata: copiedBytes(addressBytes(pairedMetadataAddress(this.type))),
      coinStores: new AccountKeyHasher(resourceStateKey(ADDRESS_ZERO, coinStoreTag(this.type))),
    };
    return this.#keys;
  }
}

export class FungibleAsset {
  readonly kind = 'fungibleAsset';
  readonly metadata: Address;
  readonly #keys: BalanceKeys;

  constructor(metadata: Address) {
    this.metadata = metadata;
    this.#keys = { metadata: copiedBytes(addressBytes(metadata)), coinStores: undefined };
  }

  get keys(): BalanceKeys {
    return this.#keys;
  }
}

export type Asset = CoinAsset | FungibleAsset;

/** Text that is an address; checked before parsing, since most assets are coins and a failure costs 20 µs. */
const ADDRESS_TEXT = /^(?:0x)?[0-9a-fA-F]{1,64}$/;

/** Parses the metadata address of a fungible asset, or else the type of a coin. @throws the error of its parser */
export function parseAsset(text: string): Asset {
  return ADDRESS_TEXT.test(text)
    ? new FungibleAsset(parseAddress(text))
    : new CoinAsset(parseStructTag(text));
}
