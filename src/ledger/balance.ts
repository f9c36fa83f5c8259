/** Balances of coins and fungible assets (spec/http.md §9). */
import type { Address } from '../move/address.ts';
import { BcsError } from '../move/bcs-reader.ts';
import { coinStoreTag } from '../move/framework-tag.ts';
import { formatStructTag, TYPE_TAG_MAX_NESTING, type TypeTag } from '../move/type-tag.ts';
import type { Asset } from './api-contract.ts';
import { balanceKeysOf } from './balance-keys.ts';
import { coinStoreAmount, fungibleGroupBalance } from './balance-values.ts';
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
  if (asset.kind === 'coin') assertNesting(asset);
  const keys = balanceKeysOf(asset);
  const coinKey = keys.coinStore(account);
  const coinRead = coinKey === undefined ? undefined : state(coinKey, version);
  const coin = coinRead instanceof Promise ? await coinRead : coinRead;
  const groupRead = state(keys.primaryStoreGroup(account), version);
  const group = groupRead instanceof Promise ? await groupRead : groupRead;
  const sum = decode(
    () =>
      (coin?.bytes === undefined ? 0n : coinStoreAmount(coin.bytes)) +
      (group?.bytes === undefined ? 0n : fungibleGroupBalance(group.bytes)),
  );
  if (sum <= U64_MAX) return sum;
  const message = 'task panicked with message "attempt to add with overflow"';
  throw new LedgerError('internal_error', message);
}

function decode<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw new LedgerError('internal_error', cause.detail, { cause });
  }
}

/** The coin store of a type at the parser's limit is over it, which the reference answers so (§5.6). */
function assertNesting({ type }: Extract<Asset, { kind: 'coin' }>): void {
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
