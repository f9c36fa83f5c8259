/** The recorded chain, with changes by runs on top: transactions, and functions of the framework. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorld } from '../../src/execution/ledger-world.ts';
import {
  type RunPlace,
  runUserTransaction,
  type UserTransactionOutput,
} from '../../src/execution/run-user-transaction.ts';
import { stateChanges } from '../../src/execution/state-changes.ts';
import { writesOf } from '../../src/execution/storage-fees.ts';
import type { SignedTransaction } from '../../src/move/transactions/user-transaction.ts';
import { type WriteSetEntry, writtenValue } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';
import { hashedStateKey, physicalStateKey } from '../../src/move/types/state-key.ts';
import { ModuleCache, ModuleView, TypeCache } from '../../src/state/module-view.ts';
import { Overlay } from '../../src/state/overlay.ts';
import { overlaidSource } from '../../src/state/overlay-source.ts';
import { PruningGuard } from '../../src/state/pruning-guard.ts';
import { storedSource } from '../../src/state/source.ts';
import { type Head, openHead } from '../../src/store/columns/head.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { Machine } from '../../src/vm/machine/machine.ts';
import { runIn, VIEW_LIMITS } from '../../src/vm/machine/run.ts';
import { frameworkNative } from '../../src/vm/natives/index.ts';
import { Program } from '../../src/vm/program/program.ts';
import { effectsOf } from '../../src/vm/run-effects.ts';
import type { Value } from '../../src/vm/value.ts';
import type { Session } from '../../src/vm/world.ts';
import { YieldBudget } from '../../src/yield-budget.ts';
import { openTestedReader } from '../api/tested-ledger.ts';
import { storeReferenceChain } from '../reference/reference-chain.ts';

export class ChangingChain {
  readonly #folder: string;
  readonly #store: StoreReader;
  readonly #head: Head;
  #overlay = Overlay.EMPTY;
  #sessions = 0;

  private constructor(folder: string, store: StoreReader, head: Head) {
    this.#folder = folder;
    this.#store = store;
    this.#head = head;
  }

  static async open(): Promise<ChangingChain> {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-changing-'));
    await storeReferenceChain(folder);
    const store = await openTestedReader({ directory: folder });
    return new ChangingChain(folder, store, await openHead(store));
  }

  async close(): Promise<void> {
    await this.#store.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** Where the next transaction is run. @param index in its block; absent: it is simulated */
  place(index?: number): RunPlace {
    const source = overlaidSource(storedSource(this.#store, this.#head), this.#overlay);
    const guard = new PruningGuard(this.#store, source, new Map(), performance.now());
    const caches = { modules: new ModuleCache(), types: new TypeCache() };
    const modules = new ModuleView(caches, guard, this.#head.version);
    return {
      modules,
      guard,
      program: new Program(modules.lookup),
      pace: new YieldBudget(),
      places: new WeakMap(),
      index,
      openWorld: (seen = modules) => openWorld(guard, seen),
    };
  }

  /** Runs a transaction and keeps its changes, as if it was committed. */
  execute(transaction: SignedTransaction): Promise<UserTransactionOutput> {
    return runUserTransaction(transaction, this.place(0));
  }

  runUserTransaction(transaction: SignedTransaction): Promise<UserTransactionOutput> {
    return runUserTransaction(transaction, this.place());
  }

  /** Runs a function of the framework, whatever its visibility, and keeps its changes. */
  async run(module: string, name: string, args: readonly Value[]): Promise<readonly Value[]> {
    const place = this.place();
    const { program } = place;
    const world = await place.openWorld();
    this.#sessions += 1;
    const session: Session = {
      hash: Buffer.alloc(32, this.#sessions),
      scriptHash: new Uint8Array(),
      counter: 0,
      transaction: undefined,
    };
    const parts = { program, world, natives: frameworkNative, limits: VIEW_LIMITS };
    const machine = new Machine({ ...parts, session });
    const target = await program.function({ address: ADDRESS_ONE, name: module }, name);
    const results = [...(await runIn(machine, { function: target, typeArguments: [], args }))];
    const changes = await stateChanges(await effectsOf(machine), [], place);
    this.apply(writesOf(changes, new Map(), undefined));
    return results;
  }

  save(): Overlay {
    return this.#overlay;
  }

  revert(saved: Overlay): void {
    this.#overlay = saved;
  }

  apply(writes: readonly WriteSetEntry[]): void {
    const { version } = this.#head;
    this.#overlay = this.#overlay.with({
      writes: writes.map(({ key, op }) => {
        const physical = physicalStateKey(key);
        const value = writtenValue(op);
        const entry = {
          version,
          bytes: value?.bytes,
          metadata: value?.metadata,
          deletedKey: value === undefined ? physical : undefined,
        };
        return { hash: hashedStateKey(key).hash, physical, entry };
      }),
    });
  }
}
