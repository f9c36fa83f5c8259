/** A ledger in a folder: an LMDB file. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LEDGER_LAYOUT, type StoreLayout } from '../../store/columns/fork-columns.ts';
import { dataFileOf, lockFileOf, STORE_FILE } from '../../store/lmdb/lmdb-file.ts';
import {
  copyLmdbStore,
  openLmdbReader,
  openLmdbSnapshot,
  openLmdbStore,
  openLmdbUpgrade,
} from '../../store/lmdb/lmdb-store.ts';
import { standBy } from '../../store/standby.ts';
import type {
  MakeOptions,
  Store,
  StoreReader,
  StoreSnapshot,
  WritingOptions,
} from '../../store/store.ts';
import { isStoreError } from '../../store/store-error.ts';
import { OLD_COLUMNS } from '../../store/upgrade/upgrade.ts';
import { NodeError, reasonOf } from '../node-error.ts';
import type { LedgerLocation } from './location.ts';

/** The folder in a data folder where a new ledger is made; its file is moved when it is complete. */
const UNFINISHED_FOLDER = 'unfinished';
/** The folder in that one where a ledger's file is written that is not made by commits. */
const COPY_FOLDER = 'copy';

/** Bytes of the file of a store. */
export function storeFileBytes(folder: string): number {
  return existsSync(dataFileOf(folder)) ? statSync(dataFileOf(folder)).size : 0;
}

/** The folder may be the root of a volume, so a new ledger's file is moved and not the folder. */
export class FolderLocation implements LedgerLocation {
  readonly shown: string;
  readonly otherwise = 'an absent or empty folder';
  readonly #folder: string;
  readonly #making: string;
  readonly #layout: StoreLayout;

  /** @param layout what a store here is, or is to be */
  constructor(folder: string, layout = LEDGER_LAYOUT) {
    this.shown = folder;
    this.#folder = folder;
    this.#layout = layout;
    this.#making = join(folder, UNFINISHED_FOLDER);
  }

  async hasStore(): Promise<boolean> {
    return existsSync(dataFileOf(this.#folder));
  }

  async isUnfinished(): Promise<boolean> {
    return existsSync(this.#making);
  }

  /**
   * Accepts a folder that is absent or empty, or that holds a store (whether it has a ledger is for the writer to see:
   * a start that was cut off leaves one without).
   */
  async refuseUsed(): Promise<void> {
    this.#refuseOthers(this.#folder, UNFINISHED_FOLDER);
    // What is in it will be deleted.
    this.#refuseOthers(this.#making, COPY_FOLDER);
  }

  storeBytes(): number {
    return storeFileBytes(this.#folder);
  }

  async openReader(): Promise<StoreReader> {
    return openLmdbReader({ directory: this.#folder, layout: this.#layout });
  }

  async openSnapshot(): Promise<StoreSnapshot> {
    return openLmdbSnapshot({ directory: this.#folder, layout: this.#layout });
  }

  openWriter({ standby }: WritingOptions = {}): Promise<Store> {
    const open = () => openLmdbStore({ directory: this.#folder, layout: this.#layout });
    return standBy(open, standby);
  }

  openUpgrade(): Promise<Store> {
    return openLmdbUpgrade({ directory: this.#folder }, OLD_COLUMNS);
  }

  async makeStore<T>(
    work: (store: Store) => Promise<T>,
    { resumes = false, distribute = false }: MakeOptions = {},
  ): Promise<T> {
    if (distribute) {
      throw new NodeError('bad_input', '--distribute is for ledgers in PostgreSQL with Citus', {
        exitCode: 2,
      });
    }
    const store = (await this.#openUnfinished(resumes)) ?? (await this.#openMaking());
    let isDone = false;
    try {
      const result = await work(store).finally(() => store.close());
      this.#publish();
      isDone = true;
      return result;
    } finally {
      if (isDone || !resumes) this.#removeMaking();
    }
  }

  async removeUnfinished(): Promise<void> {
    await this.#openUnfinished(false);
  }

  async removeStore(): Promise<void> {
    rmSync(dataFileOf(this.#folder));
  }

  /**
   * Makes a new ledger that is a copy of another folder's as it is now, while others read and write that.
   * @param onBegin gets a function that tells how many bytes are copied, and about how many will be
   * @returns what `examine` returns for the copy
   */
  async copyStore<T>(
    from: string,
    onBegin: (copiedBytes: () => number, neededBytes: number) => void,
    examine: (copy: StoreReader) => Promise<T>,
  ): Promise<T> {
    return await this.#makeOfFile(examine, async (folder) => {
      const copiedBytes = () => storeFileBytes(folder);
      await copyLmdbStore(from, folder, (neededBytes) => onBegin(copiedBytes, neededBytes));
    });
  }

  /** Makes a new ledger of the bytes of a data file. @returns what `examine` returns for it */
  async restoreStore<T>(
    bytes: Uint8Array,
    examine: (store: StoreReader) => Promise<T>,
  ): Promise<T> {
    return await this.#makeOfFile(examine, (folder) => writeFile(dataFileOf(folder), bytes));
  }

  /** Makes a new ledger of the data file that `write` puts into a folder. */
  async #makeOfFile<T>(
    examine: (store: StoreReader) => Promise<T>,
    write: (folder: string) => Promise<void>,
  ): Promise<T> {
    // The store that is being made only keeps other processes away.
    return await this.makeStore(async () => {
      const writing = join(this.#making, COPY_FOLDER);
      mkdirSync(writing);
      await write(writing);
      const copy = openLmdbReader({ directory: writing, layout: this.#layout });
      const found = await examine(copy).finally(() => copy.close());
      renameSync(dataFileOf(writing), dataFileOf(this.#making));
      return found;
    });
  }

  /** Accepts a folder that is absent, or contains files of a store and this folder only. */
  #refuseOthers(folder: string, own: string): void {
    if (!existsSync(folder)) return;
    let names: string[];
    try {
      names = readdirSync(folder);
    } catch (cause) {
      const message = `cannot use ${folder}: ${reasonOf(cause)}`;
      throw new NodeError('data_not_usable', message, { cause });
    }
    const others = names.filter((name) => !STORE_FILE.test(name) && name !== own);
    if (others.length === 0) return;
    throw new NodeError(
      'data_not_usable',
      `${folder} is not empty (it holds ${others.slice(0, 3).join(', ')}): give ${this.otherwise}`,
    );
  }

  #publish(): void {
    syncToDisk(dataFileOf(this.#making));
    if (existsSync(dataFileOf(this.#folder))) throw ledgerExists(this);
    renameSync(lockFileOf(this.#making), lockFileOf(this.#folder));
    // Last: from now on there is a ledger.
    renameSync(dataFileOf(this.#making), dataFileOf(this.#folder));
    syncToDisk(this.#folder);
  }

  /**
   * Opens what a killed process left if it is wanted and can be, or removes it.
   * @throws StoreError `store_locked` when a living one is making a ledger
   */
  async #openUnfinished(isWanted: boolean): Promise<Store | undefined> {
    if (!existsSync(this.#making)) return undefined;
    try {
      const store = await this.#openMaking();
      if (isWanted) return store;
      await store.close();
    } catch (error) {
      if (isStoreError(error, 'store_locked')) throw error;
    }
    this.#removeMaking();
    return undefined;
  }

  #openMaking(): Promise<Store> {
    return openLmdbStore({ directory: this.#making, layout: this.#layout });
  }

  #removeMaking(): void {
    rmSync(this.#making, { recursive: true, force: true });
  }
}

export function ledgerExists({ shown, otherwise }: LedgerLocation): NodeError {
  return new NodeError('ledger_exists', `${shown} holds a ledger already: give ${otherwise}`);
}

function syncToDisk(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
