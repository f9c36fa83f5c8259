/**
 * Finds physical keys by their hashes. The store files state by hash but the keys of accounts by account, so the keys
 * are sorted once. Keys whose hashes begin with the same bits go into one file, which fits into memory.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import { addressFromBytes } from '../../move/types/address.ts';
import { stateKeyHash } from '../../move/types/state-key.ts';
import { ACCOUNT_KEYS, STATE, STATE_KEYS } from '../../store/columns/columns.ts';
import { NO_ORDER } from '../../store/columns/order-key.ts';
import { walkAccountKeys } from '../../store/columns/state-key-column.ts';
import type { LiveValue } from '../../store/read/live-state.ts';
import { type StoreReader, scanPages } from '../../store/store.ts';
import { RowDamagedError } from '../../store/store-error.ts';

/** Approximate number of keys of one file: 15 MB in memory. */
const KEYS_PER_FILE = 50_000;
/** Maximum number of bits of a hash that select its file: 4,096 files. */
const MAX_BITS = 12;
/** Bytes of keys that are buffered in memory before they are written, for all files together. */
const WAITING_BYTES = 32 * 1024 * 1024;
const LENGTH_BYTES = 4;
const ACCESS_PATH_TAG = Buffer.of(0);

export class KeyFiles {
  readonly #store: StoreReader;
  readonly #folder: string;
  readonly #bits: number;
  #loaded = -1;
  #keys: ReadonlyMap<string, Buffer> = new Map();

  private constructor(store: StoreReader, folder: string, bits: number) {
    this.#store = store;
    this.#folder = folder;
    this.#bits = bits;
  }

  /**
   * Sorts the keys of all accounts into an empty folder.
   * @param onKeys gets the number of keys so far
   * @throws RowDamagedError
   */
  static async make(
    store: StoreReader,
    folder: string,
    onKeys: (keys: number) => void,
  ): Promise<KeyFiles> {
    const rows = (await store.statistics()).find(({ column }) => column === ACCOUNT_KEYS)!.rows;
    const bits = Math.min(MAX_BITS, Math.max(0, Math.ceil(Math.log2(rows / KEYS_PER_FILE + 1))));
    const files = new KeyFiles(store, folder, bits);
    await files.#collect(onKeys);
    return files;
  }

  /** Values with their physical keys. @throws RowDamagedError for a value whose key is unknown */
  async *withKeys(
    pages: AsyncIterable<readonly LiveValue[]>,
  ): AsyncGenerator<readonly (readonly [key: Buffer, value: LiveValue])[]> {
    for await (const page of pages) {
      const keys = page.map(({ keyHash }) => this.#keyOf(keyHash));
      const others = page.filter((_, index) => keys[index] === undefined);
      const places = others.map(({ keyHash }) => ({ partition: keyHash, order: NO_ORDER }));
      const found = (await this.#store.getMany(STATE_KEYS, places)).values();
      yield page.map((value, index) => {
        const key = keys[index] ?? found.next().value;
        if (key !== undefined) return [key, value] as const;
        const place = { partition: value.keyHash, order: NO_ORDER };
        throw new RowDamagedError(STATE, place, 'its key is unknown');
      });
    }
  }

  /** The account key with this hash; `undefined` if no account has one. Fast for hashes in ascending order. */
  #keyOf(hash: Buffer): Buffer | undefined {
    const file = this.#fileOf(hash);
    if (file !== this.#loaded) {
      this.#keys = this.#load(file);
      this.#loaded = file;
    }
    return this.#keys.get(hash.toString('latin1'));
  }

  #fileOf(hash: Buffer): number {
    return hash.readUInt16BE(0) >> (16 - this.#bits);
  }

  #pathOf(file: number): string {
    return join(this.#folder, file.toString(16).padStart(3, '0'));
  }

  async #collect(onKeys: (keys: number) => void): Promise<void> {
    const count = 2 ** this.#bits;
    const waiting: Buffer[][] = Array.from({ length: count }, () => []);
    let waitingBytes = 0;
    let keys = 0;
    const flush = (): void => {
      waiting.forEach((parts, file) => {
        if (parts.length > 0) appendFileSync(this.#pathOf(file), Buffer.concat(parts));
        parts.length = 0;
      });
      waitingBytes = 0;
    };
    for await (const page of accountKeys(this.#store)) {
      for (const key of page) {
        const hash = stateKeyHash(key);
        const length = Buffer.allocUnsafe(LENGTH_BYTES);
        length.writeUInt32LE(key.length);
        waiting[this.#fileOf(hash)]!.push(hash, length, key);
        waitingBytes += HASH_BYTES + LENGTH_BYTES + key.length;
      }
      keys += page.length;
      onKeys(keys);
      if (waitingBytes > WAITING_BYTES) flush();
      await nextTurn();
    }
    flush();
  }

  #load(file: number): ReadonlyMap<string, Buffer> {
    const path = this.#pathOf(file);
    const keys = new Map<string, Buffer>();
    if (!existsSync(path)) return keys;
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; ) {
      const start = at + HASH_BYTES + LENGTH_BYTES;
      const end = start + bytes.readUInt32LE(at + HASH_BYTES);
      keys.set(bytes.toString('latin1', at, at + HASH_BYTES), bytes.subarray(start, end));
      at = end;
    }
    return keys;
  }
}

/** The physical keys of all accounts, page by page. */
async function* accountKeys(store: StoreReader): AsyncGenerator<readonly Buffer[]> {
  let walkedAccount: Buffer | undefined;
  for await (const page of scanPages(store, ACCOUNT_KEYS)) {
    const keys: Buffer[] = [];
    for (const { partition, order, value } of page) {
      if (value.length > 0) {
        keys.push(Buffer.concat([ACCESS_PATH_TAG, partition, order]));
        continue;
      }
      // Few keys continue in account_key_tails. All such keys of the account are walked together.
      if (walkedAccount?.equals(partition)) continue;
      walkedAccount = Buffer.from(partition);
      for await (const { key } of walkAccountKeys(store, addressFromBytes(partition))) {
        if (key.length > 1 + partition.length + order.length) keys.push(key);
      }
    }
    yield keys;
  }
}
