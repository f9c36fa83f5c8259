/** Renders transactions that are in no store, with the modules of a store's newest version. */

import type { ChangesContext } from '../../src/ledger/transactions/changes-json.ts';
import { Decoding, DecodingCaches } from '../../src/ledger/transactions/decoding.ts';
import { writeTransaction } from '../../src/ledger/transactions/transaction-json.ts';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { JsonWriter } from '../../src/move/json/json-writer.ts';
import { ModuleCache, ModuleView, TypeCache } from '../../src/state/module-view.ts';
import { PruningGuard } from '../../src/state/pruning-guard.ts';
import { storedSource } from '../../src/state/source.ts';
import { openHead } from '../../src/store/columns/head.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { YieldBudget } from '../../src/yield-budget.ts';

export class TransactionRendering {
  readonly #modules: ModuleView;
  readonly #moduleCache = new ModuleCache();
  readonly #caches = new DecodingCaches();

  static async over(store: StoreReader): Promise<TransactionRendering> {
    const head = await openHead(store);
    const source = storedSource(store, head);
    const guard = new PruningGuard(store, source, new Map(), performance.now());
    return new TransactionRendering(guard, head.version);
  }

  private constructor(guard: PruningGuard, version: bigint) {
    const caches = { modules: this.#moduleCache, types: new TypeCache() };
    this.#modules = new ModuleView(caches, guard, version);
  }

  decoding(): Decoding {
    const modules = this.#modules;
    return new Decoding(modules.version, this.#caches, modules, () => modules, new YieldBudget());
  }

  context(): ChangesContext {
    return { decoding: this.decoding(), modules: this.#moduleCache };
  }

  /** The JSON of a TransactionOnChainData in a block with the given time. */
  async json(item: Buffer, timestampUsecs: bigint): Promise<string> {
    const context = { ...this.context(), timestampUsecs: () => timestampUsecs };
    return writtenBy((out) => writeTransaction(out, item, context));
  }
}

/** The text that a function writes. */
export async function writtenBy(
  write: (out: JsonWriter) => MaybePromise<unknown>,
): Promise<string> {
  const out = new JsonWriter();
  await write(out);
  return out.finishText();
}
