/** A ledger of the default genesis, and transactions on it, which change its state in memory. */
import { sign } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ed25519Key, mintKey, signingKey } from '../../src/chain/genesis/genesis-keys.ts';
import { signatureState } from '../../src/execution/authentication/valid-signatures.ts';
import { execute, type TransactionOutput } from '../../src/execution/execute.ts';
import { openWorld, type ResourcePlaces } from '../../src/execution/ledger-world.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { chunkOfGenesis, computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { balanceAt, CoinAsset } from '../../src/ledger/balances/balance.ts';
import { domainSeed } from '../../src/move/crypto/hash.ts';
import type { EntryFunction } from '../../src/move/transactions/executable.ts';
import type { Transaction } from '../../src/move/transactions/transaction.ts';
import {
  RawTransaction,
  type SignedTransaction,
} from '../../src/move/transactions/user-transaction.ts';
import { writtenValue } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE, type Address } from '../../src/move/types/address.ts';
import {
  type HashedStateKey,
  hashedStateKey,
  physicalStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { parseTypeTag } from '../../src/move/types/type-parser.ts';
import type { StructTag } from '../../src/move/types/type-tag.ts';
import { withNewLedger } from '../../src/node/open-store.ts';
import { ModuleCache, ModuleView, TypeCache } from '../../src/state/module-view.ts';
import { Overlay } from '../../src/state/overlay.ts';
import { overlaidSource } from '../../src/state/overlay-source.ts';
import { PruningGuard } from '../../src/state/pruning-guard.ts';
import { storedSource } from '../../src/state/source.ts';
import { openHead } from '../../src/store/columns/head.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { Program } from '../../src/vm/program/program.ts';
import { YieldBudget } from '../../src/yield-budget.ts';
import { openTestedReader, testedLocation } from '../api/tested-ledger.ts';
import { madeGenesis } from './framework.ts';

/** Stores the default or another genesis in a new folder. */
export async function storeGenesis(transaction?: Buffer): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-genesis-'));
  const genesis = readGenesis(transaction ?? (await madeGenesis()).transaction);
  const chunk = chunkOfGenesis(genesis, computeGenesisHashes(genesis));
  await withNewLedger(await testedLocation(folder), (writer) =>
    new Committer(writer).pushAll([chunk]),
  );
  return folder;
}

/** A call of a framework's entry function. */
export function entryCall(module: string, name: string, args: readonly Buffer[]): EntryFunction {
  const id = { address: ADDRESS_ONE, name: module };
  return { kind: 'entryFunction', module: id, function: name, typeArguments: [], args };
}

export class GenesisChain {
  #overlay = Overlay.EMPTY;
  #version = 0n;
  #code: { readonly program: Program; readonly places: ResourcePlaces } | undefined;
  readonly #caches = { modules: new ModuleCache(), types: new TypeCache() };
  readonly #folder: string;
  readonly #store: StoreReader;

  private constructor(folder: string, store: StoreReader) {
    this.#folder = folder;
    this.#store = store;
  }

  static async open(transaction?: Buffer): Promise<GenesisChain> {
    const folder = await storeGenesis(transaction);
    return new GenesisChain(folder, await openTestedReader({ directory: folder }));
  }

  async close(): Promise<void> {
    await this.#store.close();
    rmSync(this.#folder, { recursive: true });
  }

  async #guard(): Promise<PruningGuard> {
    const head = { ...(await openHead(this.#store)), version: this.#version };
    const source = overlaidSource(storedSource(this.#store, head), this.#overlay, head);
    return new PruningGuard(this.#store, source, new Map(), performance.now());
  }

  /** Executes a transaction after all earlier ones. @param index in its block */
  async run(transaction: Transaction, index = 0): Promise<TransactionOutput> {
    const guard = await this.#guard();
    const modules = new ModuleView(this.#caches, guard, this.#version);
    this.#code ??= { program: new Program(modules.lookup), places: new WeakMap() };
    const stateUsage = () => ({ items: 0n, bytes: 0n });
    const bytes = Buffer.alloc(0);
    const executed = await execute(
      { transaction, bytes },
      {
        modules,
        ...this.#code,
        guard,
        pace: new YieldBudget(),
        index,
        openWorld: (seen = modules) => openWorld(guard, seen, { stateUsage }),
      },
    );
    this.#version += 1n;
    const writes = executed.writes.map(({ key, op }) => {
      const [physical, version] = [physicalStateKey(key), this.#version];
      const value = writtenValue(op);
      const entry =
        value === undefined
          ? { version, bytes: undefined, metadata: undefined, deletedKey: physical }
          : { version, ...value, deletedKey: undefined };
      return { hash: hashedStateKey(key).hash, physical, entry };
    });
    this.#overlay = this.#overlay.with({ writes });
    if (executed.writes.some(({ key }) => isCode(key))) this.#code = undefined;
    return executed;
  }

  /** An account's APT, in octas. */
  async balance(account: Address): Promise<bigint> {
    const guard = await this.#guard();
    const state = (key: HashedStateKey, version: bigint) => guard.state(account, key, version);
    const index = { balance: () => undefined };
    return await balanceAt({ index, state }, account, new CoinAsset(APT), this.#version);
  }

  /** The BCS of a resource that is not in a group. */
  async resource(address: Address, type: string): Promise<Buffer | undefined> {
    const key = hashedStateKey(resourceStateKey(address, structOf(type)));
    return (await (await this.#guard()).state(address, key, this.#version))?.bytes;
  }
}

function structOf(type: string): StructTag {
  const tag = parseTypeTag(type);
  if (tag.kind !== 'struct') throw new RangeError(`no struct: ${type}`);
  return tag.struct;
}

const APT = structOf('0x1::aptos_coin::AptosCoin');

function isCode(key: TransactionOutput['writes'][number]['key']): boolean {
  return key.kind === 'accessPath' && key.parsed?.kind === 'code';
}

/** A transaction signed by one Ed25519 key. Rejects if Daybook does not accept the signature. */
export async function signed(
  raw: RawTransaction,
  key: Ed25519Key = mintKey(),
): Promise<Transaction> {
  const rawBytes = RawTransaction.encode(raw);
  const message = Buffer.concat([domainSeed('RawTransaction'), rawBytes]);
  const signature = sign(null, message, signingKey(key));
  const authenticator = { kind: 'ed25519', publicKey: key.publicKey, signature } as const;
  const transaction: SignedTransaction = { raw, authenticator };
  if ((await signatureState(transaction, rawBytes)) !== 'valid') throw new Error('bad signature');
  return { kind: 'user', transaction };
}
