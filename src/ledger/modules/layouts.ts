/** Types of stored values, events and resources, with their layouts for rendering. */
import type { CacheSize } from '../../cache.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { decodeTypeTag, formatTypeTag, type TypeTag } from '../../move/types/type-tag.ts';
import type { DecodeLayout } from '../../move/values/layout.ts';
import { resolveDecodeLayout } from '../../move/values/layout-decode.ts';
import { utf8Units } from '../../move/values/value-json.ts';
import { type Derived, DerivedCache } from './derived.ts';

/** Estimated memory of a layout per byte of its type tag: measuring layouts is expensive. */
const LAYOUT_BYTES_PER_TAG_BYTE = 64;

export interface RenderedType {
  readonly tagBytes: number;
  /** Canonical text, JSON-escaped and quoted. */
  readonly jsonText: string;
  /** The UTF-8 of that, a unit for each byte. */
  readonly jsonUtf8: string;
  readonly layout: DecodeLayout;
}

export class LayoutCache {
  readonly #types = new DerivedCache<RenderedType>(
    'layouts',
    ({ tagBytes }) => tagBytes * LAYOUT_BYTES_PER_TAG_BYTE,
  );

  get size(): CacheSize {
    return this.#types.size;
  }

  /**
   * The type whose tag's BCS is `tagBytes`, laid out with the modules that `lookup` gives.
   * @param decoded the tag of these bytes if the caller has it: that of a resource may nest one level deeper than a
   *   type tag may
   * @throws LayoutError; BcsError for bytes that are not a type tag; or rejects with them
   */
  resolve(
    tagBytes: Buffer,
    lookup: ModuleLookup,
    decoded?: TypeTag,
  ): MaybePromise<Derived<RenderedType>> {
    return this.#types.get(tagBytes.toString('latin1'), lookup, async (modules) => {
      const tag = decoded ?? decodeTypeTag(tagBytes);
      const layout = await resolveDecodeLayout(tag, modules);
      const jsonText = JSON.stringify(formatTypeTag(tag));
      return { tagBytes: tagBytes.length, jsonText, jsonUtf8: utf8Units(jsonText), layout };
    });
  }
}
