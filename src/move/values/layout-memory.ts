/** What layouts take in memory: types with thousands of fields have short names. */
import type { DecodeLayout } from './layout.ts';

/** Of a struct, or a variant of an enum, and of one of its fields; in bytes, measured. */
const TEMPLATE_BYTES = 300;
const FIELD_BYTES = 80;

/** The memory of some layouts in bytes, estimated; one that occurs in several places counts once. */
export function layoutBytes(layouts: readonly DecodeLayout[]): number {
  const seen = new Set<DecodeLayout>();
  const left = [...layouts];
  let bytes = 0;
  for (let layout = left.pop(); layout !== undefined; layout = left.pop()) {
    if (seen.has(layout)) continue;
    seen.add(layout);
    if (layout.kind === 'vector') left.push(layout.element);
    const templates =
      layout.kind === 'struct' ? [layout.template] : layout.kind === 'enum' ? layout.variants : [];
    for (const { fields, nameBytes } of templates) {
      bytes += TEMPLATE_BYTES + nameBytes + fields.length * FIELD_BYTES;
      for (const field of fields) left.push(field);
    }
  }
  return bytes;
}
