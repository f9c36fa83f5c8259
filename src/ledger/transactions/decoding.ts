/**
 * The values in a transaction, read with the layouts that its own version has, else with the newest, else shown as
 * their bytes (docs/differences.md). The reference uses the newest only.
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

/** Resolving a type is that much work, as YieldBudget counts it: a millisecond when its modules have to be loaded. */
const RESOLVE_WORK = 16 * 1024;

export type ArgumentLayouts = readonly Layout[];

/** What transactions are decoded with; shared by all views of a ledger. */
export class DecodingCaches {
  readonly types = new EraCache<RenderedType>('layouts', ({ memoryBytes }) => memoryBytes);
  readonly calls = new EraCache<ArgumentLayouts>('layouts', layoutBytes);
}

/** Where a value and its type's tag stand in the bytes of a transaction. */
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

  /** Whether all was decoded with what the transaction's own version has, so that the result never changes. */
  get isFinal(): boolean {
    return this.#isFinal;
  }

  get #ownModules(): ModuleView {
    this.#own ??= this.#viewAt(this.version);
    return this.#own;
  }

  /** What `decode` makes of the modules of the transaction's version, else of the newest; else `undefined`. */
  firstOf<T>(
    decode: (modules: ModuleView) => MaybePromise<T | undefined>,
  ): MaybePromise<T | undefined> {
    return settle<T | undefined, T | undefined>(
      () => decode(this.#ownModules),
      (found) => found ?? this.#byNewest(decode),
      (failure) => {
        // A transaction that is found by its hash may be below the oldest version (docs/spec/transactions.md §1.5).
        if (!(failure instanceof MoveError) && !isPruned(failure)) throw failure;
        return this.#byNewest(decode);
      },
    );
  }

  #byNewest<T>(
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

  /** Writes the type of a value, as a string, its data as the member behind it, and what follows these. */
  typed(out: JsonWriter, buffer: Buffer, place: ValuePlace, end: Buffer): MaybePromise<void> {
    const { tagStart, tagEnd } = place;
    if (buffer[tagStart] === STRUCT_INDEX) {
      return this.typedStruct(out, buffer, place, end, tagStart + 1);
    }
    const tagBytes = buffer.subarray(tagStart, tagEnd);
    const type = tryParse(() => formatTypeTag(TypeTag.decode(tagBytes)));
    const decoded = this.firstOf((modules) =>
      andThen(modules.type(tagBytes), ({ value }) => writeTyped(out, value, buffer, place, end)),
    );
    return andThen(decoded, (done) => {
      if (done === undefined) writeUndecoded(out, type, buffer, place, end);
    });
  }

  /** The same of a struct or enum, from where its tag is that of a struct alone. */
  typedStruct(
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
    return this.#resolved(out, buffer, { ...place, tagStart }, end, key);
  }

  /** The same where the type has to be resolved. */
  #resolved(
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
      this.firstOf((modules) => {
        const type = this.#caches.types.get(key, modules, (at) => typeAt(at, structBytes, tag));
        return andThen(type, (found) => writeTyped(out, found, buffer, place, end));
      }),
    );
    return andThen(decoded, (done) => {
      if (done === undefined) writeUndecoded(out, formatStructTag(tag), buffer, place, end);
    });
  }

  /** The layouts of a call's arguments if they have been found before. */
  knownArguments(key: string): ArgumentLayouts | undefined {
    return this.#caches.calls.find(key, this.version);
  }

  /**
   * What is made of the layouts of a call's arguments.
   * @param find finds them at a version; throws MoveError, or rejects with it
   */
  argumentsOf<T>(
    key: string,
    find: (modules: ModuleView) => MaybePromise<Derived<ArgumentLayouts>>,
    use: (layouts: ArgumentLayouts) => T | undefined,
  ): MaybePromise<T | undefined> {
    return this.pace.inTurn(RESOLVE_WORK, () =>
      this.firstOf((modules) => andThen(this.#caches.calls.get(key, modules, find), use)),
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

/** @returns `undefined`, and nothing is written, if the bytes are not a value of the type */
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

/** Bytes that no layout fits, with their type. */
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
