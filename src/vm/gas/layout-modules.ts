/** The modules that a layout is made from: reading a value of it loads them (docs/spec/gas.md §2.3). */
import { isReservedAddress } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { Layout } from '../../move/values/layout.ts';

/** Layouts live as long as their program. */
const known = new WeakMap<Layout, readonly ModuleId[]>();

/** Those that are charged for, in the order in which they are met. */
export function modulesOf(layout: Layout): readonly ModuleId[] {
  let modules = known.get(layout);
  if (modules === undefined) {
    const found = new Map<string, ModuleId>();
    collect(layout, found);
    modules = [...found.values()];
    known.set(layout, modules);
  }
  return modules;
}

function collect(layout: Layout, found: Map<string, ModuleId>): void {
  switch (layout.kind) {
    case 'vector':
      collect(layout.element, found);
      return;
    case 'struct':
    case 'enum': {
      const { tag } = layout;
      if (tag !== undefined && !isReservedAddress(tag.address)) {
        const { address, module: name } = tag;
        found.set(`${address}::${name}`, { address, name });
      }
      const fields =
        layout.kind === 'struct' ? layout.fields : layout.variants.flatMap((one) => one.fields);
      for (const field of fields) collect(field.layout, found);
      return;
    }
    default:
  }
}
