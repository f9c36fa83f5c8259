/**
 * The values in a transaction, read with the layouts that its own version has, else with the newest, else shown as
 * their bytes (docs/differences.md). The reference uses the newest only.
 */
import { andThen, type MaybePromise, settle } from '../../maybe-promise.ts';
import { BcsError, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { MoveError, tryParse } from '../../move/errors.ts';
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
import { renderValueUtf8 } from '../../move/values/value-json.ts';
import { type Derived, derive } from '../../state/derived.ts';
import { EraCache } from '../../state/eras.ts';
import { isPruned } from '../../state/ledger-error.ts';
import type { ModuleView, RenderedType } from '../../state/module-view.ts';
import { renderedType } from '../../state/module-view.ts';
import type { YieldBudget } from '../../yield-budget.ts';
import { quoted, quotedHex } from './json-units.ts';

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

interface TypedJson {
  readonly type: string;
  readonly data: string;
}

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

  typed(buffer: Buffer, place: ValuePlace): MaybePromise<TypedJson> {
    const { tagStart, tagEnd } = place;
    if (buffer[tagStart] === STRUCT_INDEX) {
      return this.typedStruct(buffer, { ...place, tagStart: tagStart + 1 });
    }
    const tagBytes = buffer.subarray(tagStart, tagEnd);
    const type = tryParse(() => formatTypeTag(TypeTag.decode(tagBytes)));
    const decoded = this.firstOf((modules) =>
      andThen(modules.type(tagBytes), ({ value }) => rendered(value, buffer, place)),
    );
    return andThen(decoded, (shown) => shown ?? undecoded(type, buffer, place));
  }

  /** The value of a struct or enum, and its type, whose tag is that of a struct alone. */
  typedStruct(buffer: Buffer, place: ValuePlace): MaybePromise<TypedJson> {
    const { tagStart, tagEnd } = place;
    const key = buffer.toString('latin1', tagStart, tagEnd);
    const known = this.#caches.types.find(key, this.version);
    if (known !== undefined) {
      const shown = rendered(known, buffer, place);
      if (shown !== undefined) return shown;
    }
    const structBytes = buffer.subarray(tagStart, tagEnd);
    const tag = tryParse(() => decodeBcs(structBytes, (reader) => readStructTag(reader)));
    if (tag === undefined) return undecoded(undefined, buffer, place);
    const decoded = this.pace.inTurn(RESOLVE_WORK, () =>
      this.firstOf((modules) => {
        const type = this.#caches.types.get(key, modules, (at) => typeAt(at, structBytes, tag));
        return andThen(type, (found) => rendered(found, buffer, place));
      }),
    );
    return andThen(decoded, (shown) => shown ?? undecoded(formatStructTag(tag), buffer, place));
  }

  /** The layouts of a call's arguments. @param find finds them at a version; throws MoveError, or rejects with it */
  argumentsOf<T>(
    key: string,
    find: (modules: ModuleView) => MaybePromise<Derived<ArgumentLayouts>>,
    use: (layouts: ArgumentLayouts) => T | undefined,
  ): MaybePromise<T | undefined> {
    const known = this.#caches.calls.find(key, this.version);
    const used = known && use(known);
    if (used !== undefined) return used;
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

function rendered(
  { jsonUtf8, layout }: RenderedType,
  buffer: Buffer,
  { dataStart, dataEnd }: ValuePlace,
): TypedJson | undefined {
  try {
    return { type: jsonUtf8, data: renderValueUtf8(layout, buffer, dataStart, dataEnd) };
  } catch (error) {
    if (error instanceof BcsError) return undefined;
    throw error;
  }
}

/** Bytes that no layout fits, with their type. */
function undecoded(type: string | undefined, buffer: Buffer, place: ValuePlace): TypedJson {
  const { tagStart, tagEnd, dataStart, dataEnd } = place;
  return {
    type: quoted(type ?? formatHex(buffer.subarray(tagStart, tagEnd))),
    data: quotedHex(buffer.subarray(dataStart, dataEnd)),
  };
}
