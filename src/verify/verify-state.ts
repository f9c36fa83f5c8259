/**
 * Checks state against the keys that are known and both against what versions wrote. That every
 * write has its row is checked on the way from versions (src/verify/verify-versions.ts); here the
 * other direction: no row that nobody wrote, no key without state, no state without its key. Equal
 * counts say that cheaply; only when they differ is the culprit looked for.
 */

import { BcsError } from '../move/bcs/bcs-reader.ts';
import { addressFromBytes } from '../move/types/address.ts';
import { parsePhysicalStateKey, stateKeyHash } from '../move/types/state-key.ts';
import type { Column, RowKey, ScannedRow } from '../store/columns/column.ts';
import {
  ACCOUNT_KEY_TAILS,
  ACCOUNT_KEYS,
  STATE,
  STATE_KEYS,
  VERSION_WRITES,
} from '../store/columns/columns.ts';
import { decodeU64Key, encodeBucketKey, NO_ORDER } from '../store/columns/order-key.ts';
import { decodeStateRow } from '../store/columns/state-column.ts';
import {
  type AccountKey,
  isAccountKey,
  rowsOfKey,
  walkAccountKeys,
} from '../store/columns/state-key-column.ts';
import { decodeVersionWrites } from '../store/columns/version-writes-column.ts';
import { keyText, noteAbove, scanColumn, type VerifyContext } from './verify-context.ts';

/** Key hashes held at once when a state key without its row is looked for: some 100 MB. */
const MAX_HASHES_AT_ONCE = 1_000_000;

/** Keys under an account have no use for their hash. */
const NO_HASH = new Uint8Array(0);

/** What a pass over a column came to. */
interface StateCounts {
  /** Rows at or above the lowest version that is not cleared. */
  readonly rows: bigint;
  /** State keys that have rows. */
  readonly keys: bigint;
}

/** Checks state, account_keys, account_key_tails and state_keys. */
export async function verifyState(context: VerifyContext): Promise<void> {
  const { damages, reached } = context;
  const state = await checkStateRows(context);
  if (state.rows !== reached.state) await nameUnwrittenRows(context);
  const accountKeys = await checkAccountKeys(context);
  const otherKeys = await checkStateKeys(context);
  const known = accountKeys + otherKeys;
  if (state.keys === known) return;
  const before = damages.count;
  await nameUnknownKeys(context, known);
  if (damages.count === before) {
    const detail = `${state.keys} keys have state and ${known} are known`;
    damages.add({ column: STATE.name, detail });
  }
}

async function checkStateRows(context: VerifyContext): Promise<StateCounts> {
  const { damages, kept, progress, view } = context;
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
    if (entry?.deletedKey !== undefined) checkDeletion(context, row, entry.deletedKey);
    if (version >= progress.clearedBelow) {
      counts.rows += 1n;
      continue;
    }
    olderRows += 1;
    if (kept.size === 0 && (olderRows > 1 || entry?.deletedKey !== undefined)) {
      damages.row(STATE, row, 'superseded and pruned, and yet there', version);
    }
  }
  return counts;
}

function checkDeletion({ damages }: VerifyContext, row: ScannedRow, key: Buffer): void {
  if (stateKeyHash(key).equals(row.partition)) return;
  damages.row(STATE, row, 'the deletion names another key', decodeU64Key(row.order));
}

/** There are more or fewer rows than versions wrote: finds those that no version wrote. */
async function nameUnwrittenRows(context: VerifyContext): Promise<void> {
  const { damages, progress, store, view } = context;
  const before = damages.count;
  for await (const row of scanColumn(context, STATE)) {
    const version = decodeU64Key(row.order);
    if (version < progress.clearedBelow || version > view.head.version) continue;
    const { partition, order } = encodeBucketKey(version);
    const value = await store.get(VERSION_WRITES, partition, order);
    const writes =
      value && (await damages.decoded(() => decodeVersionWrites({ partition, order }, value)));
    if (writes?.keys.some(({ hash }) => hash.equals(row.partition)) === true) continue;
    damages.row(STATE, row, 'its version did not write this key', version);
  }
  if (damages.count > before) return;
  damages.add({ column: STATE.name, detail: 'it has not the rows that the versions wrote' });
}

/** Checks the keys of all accounts. Gives how many there are. */
async function checkAccountKeys(context: VerifyContext): Promise<bigint> {
  const { damages } = context;
  const visited = new Map<Column, bigint>([
    [ACCOUNT_KEYS, 0n],
    [ACCOUNT_KEY_TAILS, 0n],
  ]);
  let keys = 0n;
  let previous: readonly RowKey[] = [];
  for await (const { key, firstVersion } of allAccountKeys(context)) {
    const segments = rowsOfKey(key, NO_HASH);
    segments.forEach((segment, level) => {
      const isSame = previous[level] && keyText(previous[level]) === keyText(segment);
      if (!isSame) visited.set(segment.column, visited.get(segment.column)! + 1n);
    });
    previous = segments;
    const end = segments[segments.length - 1]!;
    if (await checkKnownKey(context, end.column, end, key, firstVersion)) keys += 1n;
  }
  for (const [column, count] of visited) {
    const rows = await countRows(context, column);
    if (rows === count) continue;
    const detail = `${rows} rows, keys are made up of ${count}: parts of long keys hang loose`;
    damages.add({ column: column.name, detail });
  }
  return keys;
}

/** The keys of every account; what cannot be walked is noted as damage and left out. */
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

/** Gives false for a key that only a commit above the head has written. */
async function checkKnownKey(
  context: VerifyContext,
  column: Column,
  place: RowKey,
  key: Buffer,
  firstVersion: bigint | undefined,
): Promise<boolean> {
  const { damages, progress, store, view } = context;
  if (!isPhysicalKey(key)) {
    damages.row(column, place, 'it is no state key');
    return true;
  }
  const [first] = await store.range(STATE, stateKeyHash(key), { limit: 1 });
  if (first === undefined) {
    damages.row(column, place, 'nothing was ever written under this key');
    return true;
  }
  const version = decodeU64Key(first.order);
  if (version > view.head.version) {
    noteAbove(context, column, place);
    return false;
  }
  if (firstVersion === undefined) return true;
  // Below what is cleared the first write may be gone, and with it the proof of its version.
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

/** Checks the keys that lie under no account. Gives how many there are. */
async function checkStateKeys(context: VerifyContext): Promise<bigint> {
  const { damages } = context;
  let keys = 0n;
  for await (const row of scanColumn(context, STATE_KEYS)) {
    if (!stateKeyHash(row.value).equals(row.partition)) {
      damages.row(STATE_KEYS, row, 'the key’s hash is another');
      keys += 1n;
    } else if (await checkKnownKey(context, STATE_KEYS, row, row.value, undefined)) {
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

/** Finds state whose key is not known: some of the keys at a time, so that memory stays bounded. */
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
