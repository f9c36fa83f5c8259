/**
 * Layouts of event and resource types, kept from one reading of the ledger to the next. A layout depends on modules
 * that may be upgraded, so each remembers the loaded modules it was made from and is used in a later view only after
 * lookups there gave these very objects.
 */
import type { DecodeLayout } from '../move/layout.ts';
import { resolveDecodeLayout } from '../move/layout-decode.ts';
import type { CompiledModule, ModuleId } from '../move/module/compiled.ts';
import { BinaryFormatError } from '../move/module/format-error.ts';
import type { ModuleLookup } from '../move/module/lookup.ts';
import { decodeTypeTag, formatTypeTag, type TypeTag } from '../move/type-tag.ts';
import { BoundedCache, type CacheSize } from './bounded-cache.ts';

/** Memory for layouts, in bytes, estimated. */
const DEFAULT_LAYOUT_CACHE_BYTES = 16 * 1024 * 1024;
/** What one layout is counted for, per byte of its type tag: layouts cannot be measured cheaply. */
const LAYOUT_BYTES_PER_TAG_BYTE = 64;

/** A type with what rendering its values needs. */
export interface RenderedType {
  /** Canonical text, JSON-escaped and quoted. */
  readonly jsonText: string;
  readonly layout: DecodeLayout;
}

interface Dependency {
  readonly id: ModuleId;
  readonly module: CompiledModule | undefined;
}

interface Kept {
  readonly type: RenderedType;
  readonly madeFrom: readonly Dependency[];
  /** The lookup under which the dependencies were last found unchanged. */
  checkedWith: ModuleLookup;
}

export class LayoutCache {
  readonly #kept: BoundedCache<Kept>;

  constructor(cacheBytes = DEFAULT_LAYOUT_CACHE_BYTES) {
    this.#kept = new BoundedCache(cacheBytes);
  }

  /** How full it is. */
  get size(): CacheSize {
    return this.#kept.sizeAs('layouts');
  }

  /** The type if it is at hand for this lookup, without waiting. */
  ready(tagBytes: Buffer, lookup: ModuleLookup): RenderedType | undefined {
    const kept = this.#kept.get(tagBytes.toString('latin1'));
    return kept?.checkedWith === lookup ? kept.type : undefined;
  }

  /**
   * The type whose tag's BCS is `tagBytes`, laid out with the modules that `lookup` gives. One lookup always gives
   * the same module for an id.
   * @param decoded the tag of these bytes when it is at hand: that of a resource may nest one level deeper than a
   *   type tag may
   * @throws LayoutError; BcsError for bytes that are no type tag.
   */
  async resolve(tagBytes: Buffer, lookup: ModuleLookup, decoded?: TypeTag): Promise<RenderedType> {
    const key = tagBytes.toString('latin1');
    const kept = this.#kept.get(key);
    if (kept !== undefined && (await isUnchanged(kept.madeFrom, lookup))) {
      kept.checkedWith = lookup;
      return kept.type;
    }
    const tag = decoded ?? decodeTypeTag(tagBytes);
    const madeFrom: Dependency[] = [];
    const layout = await resolveDecodeLayout(tag, async (id) => {
      const module = await lookup(id);
      madeFrom.push({ id, module });
      return module;
    });
    const type = { jsonText: JSON.stringify(formatTypeTag(tag)), layout };
    const sizeBytes = tagBytes.length * LAYOUT_BYTES_PER_TAG_BYTE;
    this.#kept.set(key, { type, madeFrom, checkedWith: lookup }, sizeBytes);
    return type;
  }
}

async function isUnchanged(
  madeFrom: readonly Dependency[],
  lookup: ModuleLookup,
): Promise<boolean> {
  try {
    for (const { id, module } of madeFrom) {
      if ((await lookup(id)) !== module) return false;
    }
    return true;
  } catch (error) {
    if (error instanceof BinaryFormatError) return false;
    throw error;
  }
}
