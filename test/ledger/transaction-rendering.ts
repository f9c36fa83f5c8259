/** Renders transactions that no store has: with the modules of a store's newest version. */

import { ModuleCache, ModuleView, TypeCache } from '../../src/ledger/modules/module-view.ts';
import { Pace } from '../../src/ledger/pace.ts';
import { PruningGuard } from '../../src/ledger/pruning-guard.ts';
import type { ChangesContext } from '../../src/ledger/transactions/changes-json.ts';
import { Decoding, DecodingCaches } from '../../src/ledger/transactions/decoding.ts';
import { transactionJson } from '../../src/ledger/transactions/transaction-json.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { openView } from '../../src/store/view.ts';

export class TransactionRendering {
  readonly #modules: ModuleView;
  readonly #moduleCache = new ModuleCache();
  readonly #caches = new DecodingCaches();

  static async over(store: StoreReader): Promise<TransactionRendering> {
    const view = await openView(store);
    const guard = new PruningGuard(store, view, new Map(), performance.now());
    return new TransactionRendering(guard, view.head.version);
  }

  private constructor(guard: PruningGuard, version: bigint) {
    const caches = { modules: this.#moduleCache, types: new TypeCache() };
    this.#modules = new ModuleView(caches, guard, version);
  }

  decoding(): Decoding {
    const modules = this.#modules;
    return new Decoding(modules.version, this.#caches, modules, () => modules, new Pace());
  }

  context(): ChangesContext {
    return { decoding: this.decoding(), modules: this.#moduleCache };
  }

  /** The JSON of a TransactionOnChainData in a block of a given time. */
  async json(item: Buffer, timestampUsecs: bigint): Promise<string> {
    const context = { ...this.context(), timestampUsecs: () => timestampUsecs };
    const { units } = await transactionJson(item, context);
    return Buffer.from(units, 'latin1').toString();
  }
}
