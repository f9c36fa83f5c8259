/**
 * Decodes the values in a transaction with the layouts of its own version, or else with the newest ones. Values that
 * fit neither are shown as bytes (docs/differences.md). The reference uses only the newest layouts.
 */
import { andThen, type MaybePromise, settle } from '../../maybe-promise.ts';
import { BcsError, BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { MoveError, tryParse } from '../../move/errors.ts';
import type { JsonWriter } from '../../move/json/json-writer.ts';
import type { MemberPlace } from '../../move/types/resource-group.ts';
import {
  formatStructTag,
  formatTypeTag,
  INDEX_OF_KIND,
  readStructTag,
  type StructTag,
  TypeTag,
} from '../../move/types/type-tag.ts';
import type { Layout } from '../../move/values/layout.ts';
import { layoutBytes } from '../../move/values/layout.ts';
import { writeValue } from '../../move/values/value-json.ts';
import { type Derived, derive } from '../../state/derived.ts';
import { EraCache } from '../../state/eras.ts';
import { isPruned } from '../../state/ledger-error.ts';
import type { ModuleView, RenderedType } from '../../state/module-view.ts';
import { renderedType } from '../../state/module-view.ts';
import type { YieldBudget } from '../../yield-budget.ts';

const STRUCT_INDEX = INDEX_OF_KIND.get('struct')!;

/** Work of resolving a type, in units of YieldBudget: a millisecond if its modules must be loaded. */
const RESOLVE_WORK = 16 * 1024;

export type ArgumentLayouts = readonly Layout[];

/** Caches for decoding transactions; shared by all views of a ledger. */
export class DecodingCaches {
  readonly types = new EraCache<RenderedType>('layouts', ({ memoryBytes }) => memoryBytes);
  readonly calls = new EraCache<ArgumentLayouts>('layouts', layoutBytes);
}

/** Offsets of a value and of its type tag in the bytes of a transaction. */
type ValuePlace = MemberPlace;

const DATA = Buffer.from(',"data":');

export class Decoding {
  readonly version: bigint;
  readonly pace: YieldBudget;
  readonly #newest: ModuleView;
  readonly #caches: DecodingCaches;
  readonly #viewAt: (version: bigint) => ModuleView;
  #own: ModuleView | undefined;
  #isFinal = true;

  constructor(
    version: bigint,
    caches: DecodingCaches,
    newest: ModuleView,
    viewAt: (version: bigint) => ModuleView,
    pace: YieldBudget,
  ) {
    this.version = version;
    this.pace = pace;
    this.#newest = newest;
    this.#caches = caches;
    this.#viewAt = viewAt;
  }

  /** Whether everything was decoded with the modules of the transaction's version, so that the result never changes. */
  get isFinal(): boolean {
    return this.#isFinal;
  }

  get #ownModules(): ModuleView {
    this.#own ??= this.#viewAt(this.version);
    return this.#own;
  }

  /** The result of `decode` for the modules of the transaction's version, or else for the newest; else `undefined`. */
  decodeWithFallback<T>(
    decode: (modules: ModuleView) => MaybePromise<T | undefined>,
  ): MaybePromise<T | undefined> {
    return settle<T | undefined, T | undefined>(
      () => decode(this.#ownModules),
      (found) => found ?? this.#fallBackToNewest(decode),
      (failure) => {
        // The state of the transaction's version may have been pruned after this view was opened.
        if (!(failure instanceof MoveError) && !isPruned(failure)) throw failure;
        return this.#fallBackToNewest(decode);
      },
    );
  }

  #fallBackToNewest<T>(
    decode: (modules: ModuleView) => MaybePromise<T | undefined>,
  ): MaybePromise<T | undefined> {
    if (this.#ownModules !== this.#newest) return this.newestOf(decode);
    this.#isFinal = false;
    return undefined;
  }

  newestOf<T>(
    decode: (modules: ModuleView) => MaybePromise<T | undefined>,
  ): MaybePromise<T | undefined> {
    this.#isFinal = false;
    return settle<T | undefined, T | undefined>(
      () => decode(this.#newest),
      (found) => found,
      (failure) => {
        if (!(failure instanceof MoveError)) throw failure;
        return undefined;
      },
    );
  }

  /** Writes the type of a value as a string, then its data as the next member, then `end`. */
  writeTypedValue(
    out: JsonWriter,
    buffer: Buffer,
    place: ValuePlace,
    end: Buffer,
  ): MaybePromise<void> {
    const { tagStart, tagEnd } = place;
    if (buffer[tagStart] === STRUCT_INDEX) {
      return this.writeTypedStruct(out, buffer, place, end, tagStart + 1);
    }
    const tagBytes = buffer.subarray(tagStart, tagEnd);
    const type = tryParse(() => formatTypeTag(TypeTag.decode(tagBytes)));
    const decoded = this.decodeWithFallback((modules) =>
      andThen(modules.type(tagBytes), ({ value }) => writeTyped(out, value, buffer, place, end)),
    );
    return andThen(decoded, (done) => {
      if (done === undefined) writeUndecoded(out, type, buffer, place, end);
    });
  }

  /** The same for a struct or enum. @param tagStart where its struct tag begins, without the variant of a type tag */
  writeTypedStruct(
    out: JsonWriter,
    buffer: Buffer,
    place: ValuePlace,
    end: Buffer,
    tagStart = place.tagStart,
  ): MaybePromise<void> {
    const key = buffer.toString('latin1', tagStart, place.tagEnd);
    const known = this.#caches.types.find(key, this.version);
    if (known !== undefined && writeTyped(out, known, buffer, place, end) === true) {
      return undefined;
    }
    return this.#writeResolved(out, buffer, { ...place, tagStart }, end, key);
  }

  /** The same if the type must be resolved. */
  #writeResolved(
    out: JsonWriter,
    buffer: Buffer,
    place: ValuePlace,
    end: Buffer,
    key: string,
  ): MaybePromise<void> {
    const structBytes = buffer.subarray(place.tagStart, place.tagEnd);
    const tag = tryParse(() => decodeBcs(structBytes, (reader) => readStructTag(reader)));
    if (tag === undefined) return writeUndecoded(out, undefined, buffer, place, end);
    const decoded = this.pace.inTurn(RESOLVE_WORK, () =>
      this.decodeWithFallback((modules) => {
        const type = this.#caches.types.get(key, modules, (at) => typeAt(at, structBytes, tag));
        return andThen(type, (found) => writeTyped(out, found, buffer, place, end));
      }),
    );
    return andThen(decoded, (done) => {
      if (done === undefined) writeUndecoded(out, formatStructTag(tag), buffer, place, end);
    });
  }

  /** The layouts of a call's arguments if they are cached. */
  cachedArguments(key: string): ArgumentLayouts | undefined {
    return this.#caches.calls.find(key, this.version);
  }

  /**
   * The result of `use` for the layouts of a call's arguments.
   * @param find resolves the layouts at a version; throws MoveError, or rejects with it
   */
  withArgumentLayouts<T>(
    key: string,
    find: (modules: ModuleView) => MaybePromise<Derived<ArgumentLayouts>>,
    use: (layouts: ArgumentLayouts) => T | undefined,
  ): MaybePromise<T | undefined> {
    return this.pace.inTurn(RESOLVE_WORK, () =>
      this.decodeWithFallback((modules) =>
        andThen(this.#caches.calls.get(key, modules, find), use),
      ),
    );
  }
}

function typeAt(
  modules: ModuleView,
  structBytes: Buffer,
  struct: StructTag,
): MaybePromise<Derived<RenderedType>> {
  const tag: TypeTag = { kind: 'struct', struct };
  const tagBytes = Buffer.concat([Buffer.of(STRUCT_INDEX), structBytes]);
  // Types of the newest state are shared with other reads.
  if (modules.newer === undefined) return modules.type(tagBytes, tag);
  return derive(modules.lookup, (lookup) => renderedType(tagBytes, lookup, tag));
}

/** @returns `undefined` if the bytes are not a value of the type; nothing is written then */
function writeTyped(
  out: JsonWriter,
  { jsonUtf8, layout }: RenderedType,
  buffer: Buffer,
  { dataStart, dataEnd }: ValuePlace,
  end: Buffer,
): true | undefined {
  const before = out.length;
  try {
    out.part(jsonUtf8);
    out.part(DATA);
    writeValue(out, layout, new BcsReader(buffer, dataStart, dataEnd));
    out.part(end);
    return true;
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    out.cut(before);
    return undefined;
  }
}

/** Writes bytes that no layout fits, with their type. */
function writeUndecoded(
  out: JsonWriter,
  type: string | undefined,
  buffer: Buffer,
  { tagStart, tagEnd, dataStart, dataEnd }: ValuePlace,
  end: Buffer,
): void {
  if (type === undefined) out.hex(buffer, tagStart, tagEnd);
  else out.text(JSON.stringify(type));
  out.part(DATA);
  out.hex(buffer, dataStart, dataEnd);
  out.part(end);
}
