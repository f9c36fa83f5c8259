/**
 * Layouts of event and resource types, kept from one reading of the ledger to the next. A layout depends on modules
 * that may be upgraded, so each remembers the loaded modules it was made from and is used in a later view only after
 * lookups there gave these very objects.
 */

import type { MaybePromise } from '../maybe-promise.ts';
import type { CompiledModule } from '../move/modules/compiled.ts';
import { BinaryFormatError } from '../move/modules/format.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import { decodeTypeTag, formatTypeTag, type TypeTag } from '../move/types/type-tag.ts';
import type { DecodeLayout } from '../move/values/layout.ts';
import { resolveDecodeLayout } from '../move/values/layout-decode.ts';
import { utf8Units } from '../move/values/value-json.ts';
import { BoundedCache, type CacheSize } from './bounded-cache.ts';

/** Memory for layouts, in bytes, estimated. */
const DEFAULT_LAYOUT_CACHE_BYTES = 16 * 1024 * 1024;
/** What one layout is counted for, per byte of its type tag: layouts cannot be measured cheaply. */
const LAYOUT_BYTES_PER_TAG_BYTE = 64;

/**
 * Names one making of a layout: another making of the same type, of other modules or of the same ones after the cache
 * had dropped it, has another stamp. Cheap to keep, unlike the layout.
 */
export interface LayoutStamp {
  /** BCS of the type tag, a unit for each byte. */
  readonly tag: string;
}

/** A type with what rendering its values needs. */
export interface RenderedType {
  readonly stamp: LayoutStamp;
  /** Canonical text, JSON-escaped and quoted. */
  readonly jsonText: string;
  /** The UTF-8 of that, a unit for each byte. */
  readonly jsonUtf8: string;
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
   * Whether the type of a stamp would be rendered under a lookup by the very layout that the stamp was made for. No
   * for one that is no longer at hand, even where it would be made the same again.
   */
  isCurrent(stamp: LayoutStamp, lookup: ModuleLookup): MaybePromise<boolean> {
    const kept = this.#kept.get(stamp.tag);
    if (kept === undefined || kept.type.stamp !== stamp) return false;
    return kept.checkedWith === lookup || isStillRight(kept, lookup);
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
    if (kept !== undefined && (await isStillRight(kept, lookup))) return kept.type;
    const tag = decoded ?? decodeTypeTag(tagBytes);
    const madeFrom: Dependency[] = [];
    const layout = await resolveDecodeLayout(tag, async (id) => {
      const module = await lookup(id);
      madeFrom.push({ id, module });
      return module;
    });
    const jsonText = JSON.stringify(formatTypeTag(tag));
    const type = { stamp: { tag: key }, jsonText, jsonUtf8: utf8Units(jsonText), layout };
    const sizeBytes = tagBytes.length * LAYOUT_BYTES_PER_TAG_BYTE;
    this.#kept.set(key, { type, madeFrom, checkedWith: lookup }, sizeBytes);
    return type;
  }
}

async function isStillRight(kept: Kept, lookup: ModuleLookup): Promise<boolean> {
  if (!(await isUnchanged(kept.madeFrom, lookup))) return false;
  kept.checkedWith = lookup;
  return true;
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
