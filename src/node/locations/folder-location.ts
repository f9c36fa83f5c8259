/** A ledger in a folder: a file of SQLite. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { LEDGER_LAYOUT, type StoreLayout } from '../../store/columns/fork-columns.ts';
import {
  isStoreFile,
  storeFileBytes,
  storeFileOf,
  unfinishedFiles,
} from '../../store/sqlite/files.ts';
import {
  copySqliteFile,
  makeSqliteStore,
  openSqliteReader,
  openSqliteSnapshot,
  openSqliteStore,
  removeUnfinished,
  type WriteFile,
} from '../../store/sqlite/sqlite-store.ts';
import { standBy } from '../../store/standby.ts';
import type {
  MakeOptions,
  Store,
  StoreReader,
  StoreSnapshot,
  WritingOptions,
} from '../../store/store.ts';
import { NodeError, reasonOf } from '../node-error.ts';
import { type LedgerLocation, withLocationErrors } from './location.ts';

/** Writes the file that becomes a store. */

/** The folder may be the root of a volume, so a new ledger's file is moved and not the folder. */
export class FolderLocation implements LedgerLocation {
  readonly displayName: string;
  readonly alternative = 'an absent or empty folder';
  readonly #folder: string;
  readonly #layout: StoreLayout;

  /** @param layout of the existing or new store */
  constructor(folder: string, layout = LEDGER_LAYOUT) {
    this.displayName = folder;
    this.#folder = folder;
    this.#layout = layout;
  }

  async hasStore(): Promise<boolean> {
    return existsSync(storeFileOf(this.#folder));
  }

  async isUnfinished(): Promise<boolean> {
    return unfinishedFiles(this.#folder).length > 0;
  }

  async assertUnused(): Promise<void> {
    if (!existsSync(this.#folder)) return;
    let names: string[];
    try {
      names = readdirSync(this.#folder);
    } catch (cause) {
      const message = `cannot use ${this.#folder}: ${reasonOf(cause)}`;
      throw new NodeError('data_not_usable', message, { cause });
    }
    const others = names.filter((name) => !isStoreFile(name));
    if (others.length === 0) return;
    const firstNames = others.slice(0, 3).join(', ');
    const message = `${this.#folder} is not empty (it holds ${firstNames}): give ${this.alternative}`;
    throw new NodeError('data_not_usable', message);
  }

  storeBytes(): number {
    return storeFileBytes(this.#folder);
  }

  async openReader(): Promise<StoreReader> {
    return openSqliteReader({ directory: this.#folder, layout: this.#layout });
  }

  async openSnapshot(): Promise<StoreSnapshot> {
    return openSqliteSnapshot({ directory: this.#folder, layout: this.#layout });
  }

  openWriter({ standby }: WritingOptions = {}): Promise<Store> {
    const open = () => openSqliteStore({ directory: this.#folder, layout: this.#layout });
    return standBy(open, standby);
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
    return await this.#make(work, { resumes });
  }

  async removeUnfinished(): Promise<void> {
    removeUnfinished(this.#folder);
  }

  /**
   * Creates a copy of another folder's ledger as it is now, while others read and write that.
   * @param onBegin gets a function that returns the bytes copied, and the approximate total
   * @returns what `examine` returns for the copy
   */
  async copyStore<T>(
    from: string,
    onBegin: (copiedBytes: () => number, neededBytes: number) => void,
    examine: (copy: StoreReader) => Promise<T>,
  ): Promise<T> {
    const write = async (path: string) => {
      const copiedBytes = (): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      await copySqliteFile(from, path, (neededBytes) => onBegin(copiedBytes, neededBytes));
    };
    return await this.#make(examine, { writeFile: write });
  }

  /** Creates a ledger from the bytes of a store's file. @returns what `examine` returns for it */
  async restoreStore<T>(
    bytes: Uint8Array,
    examine: (store: StoreReader) => Promise<T>,
  ): Promise<T> {
    return await this.#make(examine, { writeFile: (path) => writeFile(path, bytes) });
  }

  async #make<T>(
    work: (store: Store) => Promise<T>,
    makeOptions: { readonly resumes?: boolean; readonly writeFile?: WriteFile },
  ): Promise<T> {
    await this.assertUnused();
    const options = { directory: this.#folder, layout: this.#layout, ...makeOptions };
    return await withLocationErrors(this, () => makeSqliteStore(options, work));
  }
}
