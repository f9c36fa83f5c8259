/** Renders stored transactions as JSON for one view of the ledger. Results that cannot change are cached. */
import { Cache, copiedBytes } from '../../cache.ts';
import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { JsonWriter } from '../../move/json/json-writer.ts';
import { decodeStored, LedgerError } from '../../state/ledger-error.ts';
import type { ModuleCache, ModuleView } from '../../state/module-view.ts';
import type { PruningGuard } from '../../state/pruning-guard.ts';
import type { LedgerSource } from '../../state/source.ts';
import type { StoredModuleEvent } from '../../store/columns/event-column.ts';
import { YieldBudget } from '../../yield-budget.ts';
import { Decoding, DecodingCaches } from './decoding.ts';
import { writeModuleEvent } from './events-json.ts';
import { jsonTo } from './json-parts.ts';
import { readRequest, writeRequest } from './request-json.ts';
import { type TransactionContext, writeTransaction } from './transaction-json.ts';

/** The length of a `contentDigest`. */
const TAG_CHARACTERS = 22;
/** Bytes that are at least as many characters in base64url. */
const TAG_BYTES = 18;

interface RenderedTransaction {
  /** UTF-8. */
  readonly json: Buffer;
  /** The beginning of the accumulator's root at this version, which depends on the whole history up to it. */
  readonly tagCore: string;
  /** Whether it is the same at every later view. */
  readonly isFinal: boolean;
}

export type RenderedEvent = Pick<RenderedTransaction, 'json' | 'isFinal'>;

/** Caches for rendering transactions; shared by all views of a ledger. */
export class TransactionCaches {
  readonly decoding = new DecodingCaches();
  readonly rendered = new Cache<RenderedTransaction>('transactions');
}

interface RenderSources {
  readonly source: LedgerSource;
  readonly guard: PruningGuard;
  /** Modules of the newest state. */
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
   * A transaction as JSON: the answer for its version, and an item of lists and blocks.
   * @param item BCS of its TransactionOnChainData
   * @param pace of the page that it is part of
   */
  render(item: Buffer, pace = new YieldBudget()): MaybePromise<RenderedTransaction> {
    const { rendered: cache } = this.#sources.caches;
    const key = String(item.readBigUInt64LE());
    const known = cache.get(key);
    if (known !== undefined) return known;
    return andThen(this.#render(item, {}, pace), (made) => {
      if (!made.isFinal || !cache.wasRequestedBefore(key)) return made;
      const rendered = { ...made, json: copiedBytes(made.json) };
      cache.set(key, rendered, rendered.json.length);
      return rendered;
    });
  }

  /**
   * A transaction that is not part of the ledger, as JSON. It is never cached.
   * @param statusSuffix appended to its outcome
   */
  renderSimulated(item: Buffer, statusSuffix: string): MaybePromise<RenderedTransaction> {
    return this.#render(item, { statusSuffix, isSimulated: true }, new YieldBudget());
  }

  #render(
    item: Buffer,
    form: Pick<TransactionContext, 'statusSuffix' | 'isSimulated'>,
    pace: YieldBudget,
  ): MaybePromise<RenderedTransaction> {
    const { source, modules, modulesAt, moduleCache, caches } = this.#sources;
    const version = item.readBigUInt64LE();
    const decoding = new Decoding(version, caches.decoding, modules, modulesAt, pace);
    const timestampUsecs = () => this.#timestamp(version);
    const { isSimulated } = form;
    const keys = isSimulated === true ? undefined : source.history.writtenKeys(version);
    const failure = 'Failed to convert on chain transaction to Transaction: ';
    const out = new JsonWriter();
    const written = andThen(keys, (found) => {
      const context = { decoding, modules: moduleCache, keys: found, timestampUsecs, ...form };
      return decodeStored(failure, () => writeTransaction(out, item, context));
    });
    return andThen(written, (rootHash) => ({
      json: out.finish(),
      tagCore: rootHash.toString('base64url', 0, TAG_BYTES).slice(0, TAG_CHARACTERS),
      isFinal: decoding.isFinal,
    }));
  }

  /**
   * A transaction that this ledger does not have yet, as JSON, decoded with the newest modules.
   * @param signed BCS of its SignedTransaction
   * @param hasType whether its type is a member: yes in an answer for its hash, no in the answer to its submission
   */
  renderPending(signed: Buffer, hash: Buffer, hasType = true): MaybePromise<Buffer> {
    const { source, modules, modulesAt, caches } = this.#sources;
    const newest = source.head.version;
    const decoding = new Decoding(newest, caches.decoding, modules, modulesAt, new YieldBudget());
    const out = new JsonWriter();
    const request = readRequest(out, new BcsReader(signed));
    jsonTo(out)`{"hash":${hash},`;
    return andThen(writeRequest(out, request, decoding), () => {
      out.units(hasType ? ',"type":"pending_transaction"}' : '}');
      return out.finish();
    });
  }

  /** A module event as in its transaction, with version and index. @param pace of the page that it is part of */
  renderModuleEvent(event: StoredModuleEvent, pace: YieldBudget): MaybePromise<RenderedEvent> {
    const { modules, modulesAt, caches } = this.#sources;
    const decoding = new Decoding(event.version, caches.decoding, modules, modulesAt, pace);
    const out = new JsonWriter();
    return andThen(writeModuleEvent(out, event, decoding), () => {
      const rendered = { json: out.finish(), isFinal: decoding.isFinal };
      return pace.inTurn(event.encoded.length, () => rendered);
    });
  }

  #timestamp(version: bigint): MaybePromise<bigint> {
    const { source, guard } = this.#sources;
    return andThen(source.history.blockOfVersion(version), (block) =>
      andThen(guard.assertRetained(version), () => {
        if (block !== undefined) return block.timestampUsecs;
        const text = `Failed to retrieve block timestamp: there is no block of version ${version}`;
        throw new LedgerError('internal_error', text);
      }),
    );
  }
}

/** No transaction is added to a JSON array that has reached this size, in bytes. It limits the memory of one answer. */
export const MAX_TRANSACTIONS_JSON_BYTES = 64 * 1024 * 1024;

/** A JSON array of transactions, rendered one by one while other requests get their turns. */
export class TransactionArray {
  readonly #renderer: Pick<TransactionRenderer, 'render'>;
  readonly #maxBytes: number;
  readonly #pace: YieldBudget;
  readonly #pieces: Buffer[] = [];
  #sizeBytes = 0;

  constructor(
    renderer: Pick<TransactionRenderer, 'render'>,
    pace = YieldBudget.ofPage(),
    maxBytes = MAX_TRANSACTIONS_JSON_BYTES,
  ) {
    this.#renderer = renderer;
    this.#pace = pace;
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#sizeBytes >= this.#maxBytes;
  }

  add(items: readonly Buffer[]): MaybePromise<unknown> {
    return mapInOrder(items, (item) => {
      if (this.isFull) return undefined;
      return andThen(this.#renderer.render(item, this.#pace), ({ json }) => {
        if (this.#pieces.length > 0) this.#pieces.push(COMMA);
        this.#pieces.push(json);
        this.#sizeBytes += json.length;
        this.#pace.replaceParts(json.length);
        return this.#pace.mustYield(item.length) ? this.#pace.nextTurn() : undefined;
      });
    });
  }

  get pieces(): readonly Buffer[] {
    return [OPEN, ...this.#pieces, CLOSE];
  }
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');
