/**
 * Compares state with the known keys, and both with the recorded writes. versions.ts checks that every write has its
 * row; here the other direction: no row without a version that wrote it, no key without state, no state without its
 * key. Equal counts show that cheaply; only if they differ does it search for the damaged row.
 */
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { addressFromBytes } from '../move/types/address.ts';
import { parsePhysicalStateKey, stateKeyHash } from '../move/types/state-key.ts';
import {
  ACCOUNT_KEY_TAILS,
  ACCOUNT_KEYS,
  type Column,
  type RowKey,
  STATE,
  STATE_KEYS,
} from '../store/columns/columns.ts';
import { decodeU64Key, NO_ORDER } from '../store/columns/order-key.ts';
import { decodeStateRow } from '../store/columns/state-column.ts';
import {
  type AccountKey,
  isAccountKey,
  rowsOfKey,
  walkAccountKeys,
} from '../store/columns/state-key-column.ts';
import { keyText } from '../store/store-error.ts';
import { nameUnwrittenRows, noteAbove, scanColumn, type VerifyContext } from './context.ts';

/** Maximum number of key hashes in memory while searching for a state key without its row: about 100 MB. */
const MAX_HASHES_AT_ONCE = 1_000_000;

export async function verifyState(context: VerifyContext): Promise<void> {
  const { damages, reached } = context;
  const state = await checkStateRows(context);
  if (state.rows !== reached.state) {
    await nameUnwrittenRows(
      context,
      STATE,
      ({ order }) => decodeU64Key(order),
      ({ keys }, { partition }) => keys.some(({ hash }) => hash.equals(partition)),
    );
  }
  const accountKeys = await checkAccountKeys(context);
  const otherKeys = await checkStateKeys(context);
  const known = accountKeys + otherKeys;
  if (state.keys === known) return;
  const before = damages.count;
  await nameUnknownKeys(context, known);
  if (damages.count === before) {
    damages.column(STATE, `${state.keys} keys have state and ${known} are known`);
  }
}

/** Returns the number of rows of versions that are not cleared, and the number of keys with rows. */
async function checkStateRows(context: VerifyContext) {
  const { damages, pinned, progress, view } = context;
  const counts = { rows: 0n, keys: 0n };
  let partition: Buffer | undefined;
  let olderRows = 0;
  for await (const row of scanColumn(context, STATE)) {
    const version = decodeU64Key(row.order);
    if (version > view.head.version) {
      noteAbove(context, STATE, row);
      continue;
    }
    if (partition === undefined || !row.partition.equals(partition)) {
      partition = row.partition;
      counts.keys += 1n;
      olderRows = 0;
    }
    const entry = await damages.decoded(() => decodeStateRow(row.partition, row), version);
    const deletedKey = entry?.deletedKey;
    if (deletedKey !== undefined && !stateKeyHash(deletedKey).equals(row.partition)) {
      damages.row(STATE, row, 'the deletion names another key', version);
    }
    if (version >= progress.clearedBelow) {
      counts.rows += 1n;
      continue;
    }
    olderRows += 1;
    if (pinned.size === 0 && (olderRows > 1 || deletedKey !== undefined)) {
      damages.row(STATE, row, 'superseded and pruned, but still there', version);
    }
  }
  return counts;
}

async function checkAccountKeys(context: VerifyContext): Promise<bigint> {
  const { damages } = context;
  const visited = new Map<Column, bigint>([
    [ACCOUNT_KEYS, 0n],
    [ACCOUNT_KEY_TAILS, 0n],
  ]);
  let keys = 0n;
  let previous: readonly RowKey[] = [];
  for await (const { key, firstVersion } of allAccountKeys(context)) {
    const hash = stateKeyHash(key);
    const segments = rowsOfKey(key, hash);
    segments.forEach((segment, level) => {
      const isSame = previous[level] && keyText(previous[level]) === keyText(segment);
      if (!isSame) visited.set(segment.column, visited.get(segment.column)! + 1n);
    });
    previous = segments;
    const end = segments[segments.length - 1]!;
    if (await checkKnownKey(context, end.column, end, { key, hash, firstVersion })) keys += 1n;
  }
  for (const [column, count] of visited) {
    const rows = await countRows(context, column);
    if (rows === count) continue;
    const detail = `${rows} rows, keys are made up of ${count}: parts of long keys are not attached`;
    damages.column(column, detail);
  }
  return keys;
}

/** The keys of every account; unreadable ones are reported as damage and skipped. */
export async function* allAccountKeys(context: VerifyContext): AsyncGenerator<AccountKey> {
  let partition: Buffer | undefined;
  for await (const row of scanColumn(context, ACCOUNT_KEYS)) {
    if (partition?.equals(row.partition)) continue;
    partition = Buffer.from(row.partition);
    const walk = walkAccountKeys(context.store, addressFromBytes(partition));
    for (;;) {
      const step = await context.damages.decoded(() => walk.next());
      if (step === undefined || step.done === true) break;
      yield step.value;
    }
  }
}

/** Returns false for a key that only a commit above the head has written. */
async function checkKnownKey(
  context: VerifyContext,
  column: Column,
  place: RowKey,
  known: { readonly key: Buffer; readonly hash: Buffer; readonly firstVersion?: bigint },
): Promise<boolean> {
  const { damages, progress, store, view } = context;
  const { key, hash, firstVersion } = known;
  if (!isPhysicalKey(key)) {
    damages.row(column, place, 'it is not a state key');
    return true;
  }
  const rows = await damages.decoded(() => store.range(STATE, hash, { limit: 1 }));
  if (rows === undefined) return true;
  const [first] = rows;
  if (first === undefined) {
    damages.row(column, place, 'no version wrote this key');
    return true;
  }
  const version = decodeU64Key(first.order);
  if (version > view.head.version) {
    noteAbove(context, column, place);
    return false;
  }
  if (firstVersion === undefined) return true;
  // Below the cleared versions the first write may be deleted, so its version cannot be checked.
  const isProvable = progress.clearedBelow === 0n || firstVersion > progress.clearedBelow;
  if (isProvable ? firstVersion !== version : firstVersion > version) {
    const detail = `it names version ${firstVersion} as the first write, which is ${version}`;
    damages.row(column, place, detail, version);
  }
  return true;
}

function isPhysicalKey(key: Buffer): boolean {
  try {
    parsePhysicalStateKey(key);
    return true;
  } catch (error) {
    if (error instanceof BcsError) return false;
    throw error;
  }
}

/** Checks the keys that do not belong to an account. Returns their number. */
async function checkStateKeys(context: VerifyContext): Promise<bigint> {
  const { damages } = context;
  let keys = 0n;
  for await (const row of scanColumn(context, STATE_KEYS)) {
    const hash = stateKeyHash(row.value);
    if (!hash.equals(row.partition)) {
      damages.row(STATE_KEYS, row, 'the key’s hash is another');
      keys += 1n;
    } else if (await checkKnownKey(context, STATE_KEYS, row, { key: row.value, hash })) {
      keys += 1n;
      if (isAccountKey(row.value)) damages.row(STATE_KEYS, row, 'the key belongs to an account');
    }
  }
  return keys;
}

async function countRows(context: VerifyContext, column: Column): Promise<bigint> {
  let rows = 0n;
  const quiet = { ...context, onRows: () => undefined };
  for await (const _ of scanColumn(quiet, column)) rows += 1n;
  return rows;
}

/** Reports state with an unknown key: a part of the keys at a time, so that memory stays bounded. */
async function nameUnknownKeys(context: VerifyContext, known: bigint): Promise<void> {
  const parts = Number(known / BigInt(MAX_HASHES_AT_ONCE)) + 1;
  const partOf = (hash: Buffer) => hash.readUInt32BE(0) % parts;
  for (let part = 0; part < parts; part += 1) {
    const hashes = new Set<string>();
    const add = (hash: Buffer) => partOf(hash) === part && hashes.add(hash.toString('latin1'));
    for await (const { key } of allAccountKeys(context)) add(stateKeyHash(key));
    for await (const row of scanColumn(context, STATE_KEYS)) add(row.partition);
    let partition: Buffer | undefined;
    for await (const row of scanColumn(context, STATE)) {
      if (partition?.equals(row.partition) || partOf(row.partition) !== part) continue;
      partition = row.partition;
      if (decodeU64Key(row.order) > context.view.head.version) continue;
      if (hashes.has(row.partition.toString('latin1'))) continue;
      const detail = `its key is in neither ${ACCOUNT_KEYS.name} nor ${STATE_KEYS.name}`;
      context.damages.row(STATE, { partition: row.partition, order: NO_ORDER }, detail);
    }
  }
}
