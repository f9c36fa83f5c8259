/** Stored transactions as JSON, rendered by what one view of the ledger shows, and cached where that cannot change. */
import { Cache, type CacheSize } from '../../cache.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { StoreView } from '../../store/view.ts';
import { LedgerError } from '../ledger-error.ts';
import type { ModuleCache, ModuleView } from '../modules/module-view.ts';
import { Pace } from '../pace.ts';
import { Decoding, DecodingCaches } from './decoding.ts';
import { transactionJson } from './transaction-json.ts';

export interface RenderedTransaction {
  /** UTF-8. */
  readonly json: Buffer;
  /** Whether it is the same at every later view. */
  readonly isFinal: boolean;
}

/** What all views of a ledger share to render transactions. */
export class TransactionCaches {
  readonly decoding = new DecodingCaches();
  /** By version. */
  readonly rendered = new Cache<RenderedTransaction>('transactions');

  get sizes(): readonly CacheSize[] {
    return [this.rendered.size, this.decoding.types.size, this.decoding.calls.size];
  }
}

interface RenderSources {
  readonly store: StoreView;
  /** Of the newest state. */
  readonly modules: ModuleView;
  readonly modulesAt: (version: bigint) => ModuleView;
  readonly moduleCache: ModuleCache;
  readonly caches: TransactionCaches;
}

export class TransactionRenderer {
  readonly #sources: RenderSources;

  constructor(sources: RenderSources) {
    this.#sources = sources;
  }

  /**
   * A transaction as JSON: the answer for its version, an item of lists and blocks.
   * @param item BCS of its TransactionOnChainData
   * @param pace of the page that it is part of
   */
  render(item: Buffer, pace = new Pace()): MaybePromise<RenderedTransaction> {
    const { modules, modulesAt, moduleCache, caches } = this.#sources;
    const version = item.readBigUInt64LE();
    const key = String(version);
    const known = caches.rendered.get(key);
    if (known !== undefined) return known;
    const decoding = new Decoding(version, caches.decoding, modules, modulesAt, pace);
    const timestampUsecs = () => this.#timestamp(version);
    const text = transactionJson(item, { decoding, modules: moduleCache, timestampUsecs });
    return andThen(text, (units) => {
      const rendered = { json: Buffer.from(units, 'latin1'), isFinal: decoding.isFinal };
      if (rendered.isFinal) caches.rendered.set(key, rendered, rendered.json.length);
      return rendered;
    });
  }

  #timestamp(version: bigint): MaybePromise<bigint> {
    return andThen(this.#sources.store.blockOfVersion(version), (block) => {
      if (block !== undefined) return block.timestampUsecs;
      const text = `Failed to retrieve block timestamp: there is no block of version ${version}`;
      throw new LedgerError('internal_error', text);
    });
  }
}
