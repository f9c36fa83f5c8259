/** Compares the known keys of accounts with the keys that have state, and with the first versions that wrote them. */
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { parsePhysicalStateKey, stateKeyHash } from '../move/types/state-key.ts';
import {
  ACCOUNT_KEY_TAILS,
  ACCOUNT_KEYS,
  type ScannedRow,
  STATE,
  STATE_KEYS,
} from '../store/columns/columns.ts';
import { decodeU64Key, encodeU64Key, NO_ORDER } from '../store/columns/order-key.ts';
import {
  type AccountKey,
  firstVersionsOfTail,
  isLongKey,
  keyOfRow,
  keysAfter,
  rowsOfKey,
} from '../store/columns/state-key-column.ts';
import { keyText } from '../store/store-error.ts';
import {
  columnPages,
  DamageList,
  KEYS_AT_ONCE,
  readEach,
  reportAbove,
  scanColumn,
  type VerifyContext,
} from './context.ts';
import { NO_VALUE, RowSums, type SavedSums } from './row-sums.ts';

/** Maximum number of key hashes in memory while searching for a state key without its row: about 100 MB. */
const MAX_HASHES_AT_ONCE = 1_000_000;
/** Stands for the first version of a key that may have been written before, where nothing is retained. */
const OLD = 0n;

interface HashedKey extends AccountKey {
  readonly hash: Buffer;
}

export function isPhysicalKey(key: Buffer): boolean {
  try {
    parsePhysicalStateKey(key);
    return true;
  } catch (error) {
    if (error instanceof BcsError) return false;
    throw error;
  }
}

export interface SavedKeys {
  readonly known: SavedSums;
  readonly withState: SavedSums;
  readonly count: number;
  readonly tails: SavedTails;
  readonly tailsUpToHead: SavedTails;
}

export class KnownKeys {
  readonly #context: VerifyContext;
  readonly #known: RowSums;
  readonly #withState: RowSums;
  readonly #tails: TailCount;
  readonly #tailsUpToHead: TailCount;
  #count: number;

  constructor(context: VerifyContext, saved?: SavedKeys) {
    this.#context = context;
    this.#known = new RowSums(context.secret, saved?.known);
    this.#withState = new RowSums(context.secret, saved?.withState);
    this.#tails = new TailCount(saved?.tails);
    this.#tailsUpToHead = new TailCount(saved?.tailsUpToHead);
    this.#count = saved?.count ?? 0;
  }

  save(): SavedKeys {
    return {
      known: this.#known.save(),
      withState: this.#withState.save(),
      count: this.#count,
      tails: this.#tails.save(),
      tailsUpToHead: this.#tailsUpToHead.save(),
    };
  }

  /** Adds a key that has state up to the head and belongs to an account. */
  addKeyWithState(hash: Buffer, firstVersion: bigint): void {
    this.#add(this.#withState, hash, firstVersion);
  }

  /** Whether those that have state are the known ones; after `examine`. */
  get areComplete(): boolean {
    return this.#known.isEqual(ACCOUNT_KEYS, this.#withState);
  }

  /**
   * Reads the known keys.
   * @param onKeys gets them, some at a time, those of an account one after the other
   * @param onPageDone as that of columnPages
   */
  async examine(
    onKeys: (keys: readonly HashedKey[]) => Promise<void>,
    onPageDone: () => void,
  ): Promise<void> {
    for await (const keys of hashedKeys(this.#context, onPageDone)) {
      this.#tails.add(keys);
      const visible = keys.filter((key) => this.#examine(key));
      this.#tailsUpToHead.add(visible);
      if (this.#context.progress.clearedBelow > 0n) await this.#examineOld(visible);
      await onKeys(visible);
    }
  }

  /** Reads the parts of long keys; after `examine`. */
  async examineTails(): Promise<void> {
    let rows = 0;
    for await (const page of columnPages(this.#context, ACCOUNT_KEY_TAILS)) rows += page.length;
    // Keys that were committed after their column was read have rows, too.
    if (rows !== this.#tails.count) await this.#compareTails(this.#tailsUpToHead.count);
  }

  /** @param expected number of rows of the keys up to the head, besides their first ones */
  async #compareTails(expected: number): Promise<void> {
    let rows = 0;
    // Damaged rows are reported already.
    const options = { onDamaged: () => undefined };
    for await (const page of columnPages(this.#context, ACCOUNT_KEY_TAILS, options)) {
      for (const row of page) {
        if (await this.#isTailAbove(row)) reportAbove(this.#context, ACCOUNT_KEY_TAILS, row);
        else rows += 1;
      }
    }
    if (rows === expected) return;
    const detail = `${rows} rows, keys are made up of ${expected}: parts of long keys are not attached`;
    this.#context.damages.column(ACCOUNT_KEY_TAILS, detail);
  }

  /** Whether a row is a part of keys that only commits above the head have written. */
  async #isTailAbove(row: ScannedRow): Promise<boolean> {
    const { store, view } = this.#context;
    // Decoding failures are reported where the key is read.
    const found = await new DamageList().decoded(async () => {
      let isAbove = false;
      for await (const firstVersion of firstVersionsOfTail(store, row)) {
        if (firstVersion <= view.head.version) return false;
        isAbove = true;
      }
      return isAbove;
    });
    return found === true;
  }

  /**
   * Looks up each key, when those that have state do not seem to be the known ones. In a pruned ledger it may find
   * nothing: the first write of a key is older than all that is left of it, if it was deleted and written again.
   */
  async reportDifferences(): Promise<void> {
    for await (const keys of hashedKeys(this.#context)) await this.#lookUp(keys);
    await this.#reportUnknown();
  }

  /** Returns false for a key that only a commit above the head has written. */
  #examine(known: HashedKey): boolean {
    const { damages, view } = this.#context;
    const { key, hash, firstVersion } = known;
    this.#count += 1;
    if (!isPhysicalKey(key)) {
      const { column, place } = placeOf(known);
      damages.row(column, place, 'it is not a state key');
    }
    if (firstVersion <= view.head.version) {
      this.#add(this.#known, hash, firstVersion);
      return true;
    }
    const { column, place } = placeOf(known);
    reportAbove(this.#context, column, place);
    return false;
  }

  #add(sums: RowSums, hash: Buffer, firstVersion: bigint): void {
    const version = this.#isProvable(firstVersion) ? firstVersion : OLD;
    sums.add(ACCOUNT_KEYS, { partition: hash, order: encodeU64Key(version) }, NO_VALUE);
  }

  /** Below the cleared versions the first write may be deleted, so its version cannot be checked. */
  #isProvable(firstVersion: bigint): boolean {
    const { clearedBelow } = this.#context.progress;
    return clearedBelow === 0n || firstVersion > clearedBelow;
  }

  /** The sums do not show whether the first version of an old key is above its first row that is left. */
  async #examineOld(keys: readonly HashedKey[]): Promise<void> {
    await this.#lookUp(keys.filter(({ firstVersion }) => !this.#isProvable(firstVersion)));
  }

  async #lookUp(keys: readonly HashedKey[]): Promise<void> {
    const { damages, store, view } = this.#context;
    const firstRows = await readEach(damages, keys, (some) =>
      store.rangeMany(
        STATE,
        some.map(({ hash }) => ({ partition: hash, limit: 1 })),
      ),
    );
    for (const [index, known] of keys.entries()) {
      const found = firstRows[index];
      if (found === undefined) continue;
      const { firstVersion } = known;
      const { column, place } = placeOf(known);
      const [first] = found[0];
      if (first === undefined) {
        damages.row(column, place, 'no version wrote this key');
        continue;
      }
      const version = decodeU64Key(first.order);
      if (version > view.head.version) continue;
      if (this.#isProvable(firstVersion) ? firstVersion === version : firstVersion <= version) {
        continue;
      }
      const detail = `it names version ${firstVersion} as the first write, which is ${version}`;
      damages.row(column, place, detail, version);
    }
  }

  /** Reports state with an unknown key: a part of the keys at a time, so that memory stays bounded. */
  async #reportUnknown(): Promise<void> {
    const context = this.#context;
    const parts = Math.floor(this.#count / MAX_HASHES_AT_ONCE) + 1;
    const partOf = (hash: Buffer) => hash.readUInt32BE(0) % parts;
    for (let part = 0; part < parts; part += 1) {
      const hashes = new Set<string>();
      const add = (hash: Buffer) => partOf(hash) === part && hashes.add(hash.toString('latin1'));
      for await (const keys of hashedKeys(context)) for (const { hash } of keys) add(hash);
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
}

interface SavedTails {
  readonly count: number;
  readonly previous: readonly string[];
}

/** Counts the rows of keys in ACCOUNT_KEY_TAILS. Keys come in order: those that share a row follow each other. */
class TailCount {
  count: number;
  /** The rows of the last long key. */
  #previous: readonly string[];

  constructor({ count, previous }: SavedTails = { count: 0, previous: [] }) {
    this.count = count;
    this.#previous = previous;
  }

  save(): SavedTails {
    return { count: this.count, previous: this.#previous };
  }

  add(keys: readonly HashedKey[]): void {
    for (const { key, hash } of keys) {
      if (!isLongKey(key)) continue;
      const segments = rowsOfKey(key, hash).map(keyText);
      const isShared = (segment: string, level: number) => this.#previous[level] === segment;
      this.count += segments.filter((one, level) => level > 0 && !isShared(one, level)).length;
      this.#previous = segments;
    }
  }
}

function placeOf({ key, hash }: HashedKey) {
  const place = rowsOfKey(key, hash).at(-1)!;
  return { column: place.column, place };
}

/** The keys of every account, some at a time; unreadable ones are reported as damage and skipped. */
async function* hashedKeys(
  context: VerifyContext,
  onPageDone?: () => void,
): AsyncGenerator<readonly HashedKey[]> {
  let keys: HashedKey[] = [];
  const add = (known: AccountKey) => keys.push({ ...known, hash: stateKeyHash(known.key) });
  for await (const page of columnPages(context, ACCOUNT_KEYS, { onPageDone })) {
    for (const row of page) {
      const known = context.damages.decodedNow(() => keyOfRow(row));
      if (known !== undefined) add(known);
      else if (row.value.length === 0) for (const long of await longKeys(context, row)) add(long);
      if (keys.length < KEYS_AT_ONCE) continue;
      yield keys;
      keys = [];
    }
    if (keys.length > 0) yield keys;
    keys = [];
  }
}

async function longKeys(context: VerifyContext, row: ScannedRow): Promise<readonly AccountKey[]> {
  const { damages, store } = context;
  const keys: AccountKey[] = [];
  const before = damages.count;
  const walk = keysAfter(store, row);
  for (;;) {
    const step = await damages.decoded(() => walk.next());
    if (step === undefined || step.done === true) break;
    keys.push(step.value);
  }
  if (keys.length === 0 && damages.count === before) {
    damages.row(ACCOUNT_KEYS, row, 'it begins longer keys, and none is there');
  }
  return keys;
}
