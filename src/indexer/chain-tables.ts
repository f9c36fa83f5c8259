/**
 * Which types the items of tables have. A write names the table's handle only; the types are those of the struct
 * `0x1::table::Table<K, V>` with that handle, which is somewhere in a resource, or in an item of another table.
 */
import type { LedgerView } from '../ledger/ledger-view.ts';
import { MoveError } from '../move/errors.ts';
import { ADDRESS_ONE } from '../move/types/address.ts';
import { parseTypeTag } from '../move/types/type-parser.ts';
import { formatTypeTag } from '../move/types/type-tag.ts';
import type { Layout, LayoutFields } from '../move/values/layout.ts';
import { renderValue } from '../move/values/value-json.ts';
import {
  type DecodedItem,
  type Fields,
  fullAddress,
  type TableFacts,
  type TableWrite,
  type TransactionFacts,
} from './processors/transaction-facts.ts';

interface TypeLayouts {
  readonly shown: Layout;
  /** With the tags of structs; absent where no table is in values of the type. */
  readonly tagged: Layout | undefined;
}

/** Types whose layouts are in memory. */
const MAX_LAYOUTS = 10_000;

export class ChainTables {
  readonly #tables = new Map<string, TableFacts>();
  /** Until a module is written. */
  readonly #layouts = new Map<string, TypeLayouts | undefined>();

  /** What is known from before. */
  add(table: TableFacts): void {
    this.#tables.set(table.handle, table);
  }

  /** Finds the tables that a transaction tells of, and decodes the items that it has written. */
  async decode(view: LedgerView, facts: TransactionFacts): Promise<void> {
    if (facts.writesModules || this.#layouts.size > MAX_LAYOUTS) this.#layouts.clear();
    const found: TableFacts[] = [];
    for (const { type, data, address } of facts.writes) {
      const layouts = await this.#layoutsOf(view, type);
      if (layouts?.tagged !== undefined) this.#find(layouts.tagged, data, address, found);
    }
    facts.tableWrites = await this.#decoded(view, facts.tableWrites, found);
    facts.newTables = found;
  }

  /** A table may be in an item of another one, which may come later: so until nothing is new. */
  async #decoded(
    view: LedgerView,
    writes: readonly TableWrite[],
    found: TableFacts[],
  ): Promise<TableWrite[]> {
    const decoded = [...writes];
    for (let known = -1; known < found.length; ) {
      known = found.length;
      for (const [at, write] of decoded.entries()) {
        if (write.decoded !== undefined) continue;
        const item = await this.#item(view, write, found);
        if (item !== undefined) decoded[at] = { ...write, decoded: item };
      }
    }
    return decoded;
  }

  async #item(
    view: LedgerView,
    { handle, key, value }: TableWrite,
    found: TableFacts[],
  ): Promise<DecodedItem | undefined> {
    const table = this.#tables.get(handle);
    if (table === undefined) return undefined;
    const { keyType, valueType, owner } = table;
    const [keyLayouts, valueLayouts] = [
      await this.#layoutsOf(view, keyType),
      await this.#layoutsOf(view, valueType),
    ];
    if (keyLayouts === undefined || valueLayouts === undefined) return undefined;
    const shownKey = jsonOf(keyLayouts.shown, key);
    const shownValue = value === undefined ? undefined : jsonOf(valueLayouts.shown, value);
    if (shownKey === undefined || (value !== undefined && shownValue === undefined)) {
      return undefined;
    }
    if (valueLayouts.tagged !== undefined && shownValue !== undefined) {
      this.#find(valueLayouts.tagged, shownValue, owner, found);
    }
    return { keyType, valueType, key: shownKey, value: shownValue, owner };
  }

  async #layoutsOf(view: LedgerView, type: string): Promise<TypeLayouts | undefined> {
    if (this.#layouts.has(type)) return this.#layouts.get(type);
    const layouts = await readLayouts(view, type);
    this.#layouts.set(type, layouts);
    return layouts;
  }

  /** Finds tables in a value. @param found gets those that are new */
  #find(layout: Layout, value: unknown, owner: string, found: TableFacts[]): void {
    eachTable(layout, value, (handle, keyType, valueType) => {
      if (this.#tables.has(handle)) return;
      const table = { handle, keyType, valueType, owner };
      this.add(table);
      found.push(table);
    });
  }
}

/** @returns `undefined` for a type that no module of the newest state has */
async function readLayouts(view: LedgerView, type: string): Promise<TypeLayouts | undefined> {
  try {
    const { shown, tagged } = await view.typeLayouts(parseTypeTag(type));
    return { shown, tagged: hasTable(tagged) ? tagged : undefined };
  } catch (error) {
    if (error instanceof MoveError) return undefined;
    throw error;
  }
}

function jsonOf(layout: Layout, hex: string): unknown {
  try {
    return JSON.parse(renderValue(layout, Buffer.from(hex.slice(2), 'hex'))) as unknown;
  } catch (error) {
    // Bytes of another type.
    if (error instanceof MoveError) return undefined;
    throw error;
  }
}

function tableOf(layout: Layout): readonly [key: string, value: string] | undefined {
  if (layout.kind !== 'struct' || layout.tag === undefined) return undefined;
  const { address, module, name, typeArguments } = layout.tag;
  const isTable = address === ADDRESS_ONE && module === 'table' && name === 'Table';
  return isTable ? [formatTypeTag(typeArguments[0]!), formatTypeTag(typeArguments[1]!)] : undefined;
}

/** The layouts directly in one. */
function partsOf(layout: Layout): readonly Layout[] {
  switch (layout.kind) {
    case 'vector':
      return [layout.element];
    case 'struct':
      return layout.fields.map((field) => field.layout);
    case 'enum':
      return layout.variants.flatMap(({ fields }) => fields.map((field) => field.layout));
    default:
      return [];
  }
}

/** Whether values of a layout can have a table. A layout is a graph: each part is looked at once. */
function hasTable(layout: Layout): boolean {
  const seen = new Set<Layout>([layout]);
  for (const part of seen) {
    if (tableOf(part) !== undefined) return true;
    for (const inner of partsOf(part)) seen.add(inner);
  }
  return false;
}

type TellTable = (handle: string, keyType: string, valueType: string) => void;

/** @param value JSON of a value of the layout */
function eachTable(layout: Layout, value: unknown, tell: TellTable): void {
  const table = tableOf(layout);
  if (table !== undefined) {
    tell(fullAddress((value as { readonly handle: string }).handle), ...table);
    return;
  }
  switch (layout.kind) {
    case 'vector': {
      // An Option is shown as a struct.
      const items = Array.isArray(value) ? value : ((value as Fields | undefined)?.vec ?? []);
      for (const item of items as readonly unknown[]) eachTable(layout.element, item, tell);
      break;
    }
    case 'struct':
      eachField(layout, value, tell);
      break;
    case 'enum': {
      const { __variant__: name } = value as { readonly __variant__?: string };
      const variant = layout.variants.find((one) => one.name === name);
      if (variant !== undefined) eachField(variant, value, tell);
    }
  }
}

function eachField({ fields }: LayoutFields, value: unknown, tell: TellTable): void {
  if (typeof value !== 'object' || value === null) return;
  for (const { name, layout } of fields) eachTable(layout, (value as Fields)[name], tell);
}
