/**
 * A ledger that changes at random, for tests of event pages: it has events in a few streams, modules whose structs are
 * renamed, feature flags under which modules do not load, and pruning with a pinned account.
 */

import type { LedgerView } from '../../src/ledger/ledger-view.ts';
import type { LedgerReader } from '../../src/ledger/open.ts';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import { ADDRESS_ONE, padAddress } from '../../src/move/types/address.ts';
import { FEATURES_TAG } from '../../src/move/types/framework-tag.ts';
import {
  moduleStateKey,
  physicalStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { TypeTag } from '../../src/move/types/type-tag.ts';
import { featuresCodec } from '../../src/move/values/framework-resource.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { Store } from '../../src/store/store.ts';
import type {
  ChunkStreamEvent,
  ChunkTransaction,
  StateWrite,
} from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { moduleLookup, type Source, type SourceFields } from '../move/values/layout-modules.ts';
import { block, chunk, transaction } from '../store/chunks.ts';

/** Accounts with events in their stream 2. The second one's history is retained from some point on. */
export const STREAM_ACCOUNTS = ['5', '6', '7', '8'].map((digit) => padAddress(digit));
const KEPT_ACCOUNT = STREAM_ACCOUNTS[1]!;
const PUBLISHER = padAddress('77');
/** Flags under which modules of all versions load, and flags under which one does not. */
const ALL_VERSIONS = [5, 40, 86, 102, 106];
const TOO_FEW_VERSIONS = [5, 40];

/** The fields of `0x77::m::Inner` in its versions; its values always take 8 bytes. */
const INNER: readonly SourceFields[] = [
  [['value', 'u64']],
  [['renamed', 'u64']],
  [
    ['low', 'u32'],
    ['high', 'u32'],
  ],
];

function structType(module: string, name: string): TypeTag {
  return { kind: 'struct', struct: { address: PUBLISHER, module, name, typeArguments: [] } };
}

/** Types of events with the lengths of their values: a plain struct, and one with another module's struct. */
const TYPES: readonly { readonly tag: Buffer; readonly bytes: number }[] = [
  { tag: TypeTag.encode(structType('m', 'Inner')), bytes: 8 },
  { tag: TypeTag.encode(structType('n', 'Outer')), bytes: 40 },
  { tag: TypeTag.encode({ kind: 'u64' }), bytes: 8 },
];

function moduleWrite(name: 'm' | 'n', inner: number): StateWrite {
  const source: Source = {
    '0x77::m::Inner': { fields: INNER[inner]! },
    '0x77::n::Outer': {
      fields: [
        ['inner', { is: '0x77::m::Inner' }],
        ['owner', 'address'],
      ],
    },
  };
  const module = moduleLookup(source)({ address: PUBLISHER, name }) as CompiledModule;
  return { key: physicalStateKey(moduleStateKey(PUBLISHER, name)), value: writeModule(module) };
}

function featuresWrite(flags: readonly number[]): StateWrite {
  const bits = Buffer.alloc(14);
  for (const flag of flags) bits[flag >> 3]! |= 1 << (flag & 7);
  const key = physicalStateKey(resourceStateKey(ADDRESS_ONE, FEATURES_TAG));
  return { key, value: featuresCodec.encode(bits) };
}

/** The ledger, its writer and its contents. */
export class GrowingStreams {
  readonly store: Store;
  /** Number of events that each stream has ever had. */
  readonly lengths = STREAM_ACCOUNTS.map(() => 0);
  readonly #writer: LedgerWriter;
  readonly #random: () => number;
  readonly #twins = new WeakMap<LedgerView, LedgerView>();
  #nextVersion = 0;
  #nextBlock = 0;

  private constructor(store: Store, writer: LedgerWriter, random: () => number) {
    this.store = store;
    this.#writer = writer;
    this.#random = random;
  }

  /** A ledger with its first versions. */
  static async open(store: Store, random: () => number): Promise<GrowingStreams> {
    const streams = new GrowingStreams(store, await LedgerWriter.open(store), random);
    const writes = [moduleWrite('m', 0), moduleWrite('n', 0), featuresWrite(ALL_VERSIONS)];
    await streams.#append([{ writes, events: [] }]);
    return streams;
  }

  /** Makes a random change to the ledger. */
  async change(): Promise<'grown' | 'pruned'> {
    const chance = this.#random();
    if (chance < 0.08) {
      await this.prune();
      return 'pruned';
    }
    await this.grow(this.#writes(chance));
    return 'grown';
  }

  /** Deletes all but some of the newest versions. */
  async prune(): Promise<void> {
    const pruner = new Pruner(this.#writer, { graceMs: 0, restFactor: 0 });
    if (this.#random() < 0.5) await pruner.pinAccounts([KEPT_ACCOUNT]);
    await pruner.run({ versions: 1 + Math.floor(this.#random() * 60) });
  }

  /** Appends some versions with events; the first one has these writes. */
  async grow(writes: StateWrite[] = []): Promise<void> {
    const count = 1 + Math.floor(this.#random() * 8);
    await this.#append(
      Array.from({ length: count }, (_, index) => ({
        writes: index === 0 ? writes : [],
        events: this.#events(),
      })),
    );
  }

  /** Returns a current view of `ledger`, and remembers the view of `twin` that must agree with it. */
  async remember(ledger: LedgerReader, twin: LedgerReader): Promise<LedgerView> {
    const view = await ledger.view();
    this.#twins.set(view, await twin.view());
    return view;
  }

  /** The twin of a remembered view. */
  plainTwin(view: LedgerView): LedgerView {
    return this.#twins.get(view)!;
  }

  #writes(chance: number): StateWrite[] {
    if (chance < 0.2) return [moduleWrite('m', Math.floor(this.#random() * INNER.length))];
    if (chance < 0.25) return [moduleWrite('n', 0)];
    if (chance < 0.3) return [featuresWrite(TOO_FEW_VERSIONS)];
    return chance < 0.6 ? [featuresWrite(ALL_VERSIONS)] : [];
  }

  #events(): ChunkStreamEvent[] {
    const events: ChunkStreamEvent[] = [];
    for (let left = Math.floor(this.#random() * 6); left > 0; left -= 1) {
      // The first streams get most events; the last ones do not change for long.
      const stream = Math.floor(this.#random() ** 2 * STREAM_ACCOUNTS.length);
      const { tag, bytes } = TYPES[Math.floor(this.#random() ** 2 * TYPES.length)]!;
      events.push({
        ...{ kind: 'stream', address: STREAM_ACCOUNTS[stream]!, creationNumber: 2n },
        sequenceNumber: BigInt(this.lengths[stream]!),
        typeTag: tag,
        data: Buffer.alloc(bytes, Math.floor(this.#random() * 256)),
      });
      this.lengths[stream]! += 1;
    }
    return events;
  }

  async #append(
    transactions: readonly Pick<ChunkTransaction, 'writes' | 'events'>[],
  ): Promise<void> {
    const first = this.#nextVersion;
    const all = transactions.map((parts, index) => transaction(first + index, parts));
    const blocks = first === 0 ? {} : { blocks: [block(this.#nextBlock, first)] };
    await this.#writer.append(chunk(first, all, blocks));
    this.#nextVersion += transactions.length;
    this.#nextBlock += 1;
  }
}
