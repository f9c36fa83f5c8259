/**
 * Finds the types of table items. A write only names the table's handle. The types are those of the struct
 * `0x1::table::Table<K, V>` with that handle, which is somewhere in a resource, or in an item of another table.
 */
import type { LedgerView } from '../ledger/ledger-view.ts';
import { MoveError } from '../move/errors.ts';
import { ADDRESS_ONE } from '../move/types/address.ts';
import { parseTypeTag } from '../move/types/type-parser.ts';
import { formatTypeTag } from '../move/types/type-tag.ts';
import type { Layout, LayoutFields } from '../move/values/layout.ts';
import { renderValue } from '../move/values/value-json.ts';
import type { Database, Row } from './database/session.ts';
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
  /** With the tags of structs; absent if values of the type contain no table. */
  readonly tagged: Layout | undefined;
}

/** The cached layouts are dropped when there are more than this. */
const MAX_LAYOUTS = 10_000;
/** Maximum number of tables in memory that are also in the database. */
const MAX_TABLES = 50_000;
const COLUMNS = 'handle, key_type, value_type, owner_address';

export class ChainTables {
  readonly #maxTables: number;
  /** Tables that are also in the database, the newest last. */
  readonly #tables = new Map<string, TableFacts>();
  /** Tables of rows that wait to be written. */
  #waiting = new Map<string, TableFacts>();
  /** Tables of rows that are being written. */
  #written = new Map<string, TableFacts>();
  /** Whether all tables of the database are in memory. */
  #isComplete = false;
  /** Cleared when a module is written. */
  readonly #layouts = new Map<string, TypeLayouts | undefined>();

  constructor(maxTables = MAX_TABLES) {
    this.#maxTables = maxTables;
  }

  /** Reads the tables that earlier transactions revealed, if there are not too many. */
  async load(database: Database): Promise<void> {
    const { rows } = await database.query(
      `SELECT ${COLUMNS} FROM table_metadatas LIMIT ${this.#maxTables + 1}`,
    );
    this.#isComplete = rows.length <= this.#maxTables;
    if (this.#isComplete) for (const row of rows) this.#add(tableIn(row));
  }

  /** Finds the tables that transactions reveal, and decodes the items that the transactions have written. */
  async decode(
    view: LedgerView,
    database: Database,
    page: readonly TransactionFacts[],
  ): Promise<void> {
    if (this.#layouts.size > MAX_LAYOUTS || page.some(({ writesModules }) => writesModules)) {
      this.#layouts.clear();
    }
    for (const facts of page) facts.newTables = await this.#tablesRevealedBy(view, facts);
    if (!this.#isComplete) await this.#lookUp(database, page);
    for (const facts of page) {
      const found = facts.newTables.filter((table) => this.#addNew(table));
      facts.tableWrites = await this.#decoded(view, facts.tableWrites, found);
      facts.newTables = found;
    }
  }

  /** Call this when the waiting rows begin to be written, after the rows before them were written. */
  beginWriting(): void {
    for (const table of this.#written.values()) this.#add(table);
    this.#written = this.#waiting;
    this.#waiting = new Map();
  }

  async #tablesRevealedBy(view: LedgerView, { writes }: TransactionFacts): Promise<TableFacts[]> {
    const tables: TableFacts[] = [];
    for (const { type, data, address } of writes) {
      const tagged = (await this.#layoutsOf(view, type))?.tagged;
      if (tagged !== undefined) visitTables(tagged, data, address, (table) => tables.push(table));
    }
    return tables;
  }

  async #lookUp(database: Database, page: readonly TransactionFacts[]): Promise<void> {
    const handles = page.flatMap(({ newTables, tableWrites }) =>
      [...newTables, ...tableWrites].map(({ handle }) => handle),
    );
    const missing = new Set(handles.filter((handle) => this.#known(handle) === undefined));
    if (missing.size === 0) return;
    const { rows } = await database.query(
      `SELECT ${COLUMNS} FROM table_metadatas WHERE handle = ANY($1::text[])`,
      [[...missing]],
    );
    for (const row of rows) this.#add(tableIn(row));
  }

  #add(table: TableFacts): void {
    this.#tables.set(table.handle, table);
    if (this.#tables.size <= this.#maxTables) return;
    this.#isComplete = false;
    const [oldest] = this.#tables.keys();
    this.#tables.delete(oldest!);
  }

  /** @returns whether it was unknown before */
  #addNew(table: TableFacts): boolean {
    const isNew = this.#known(table.handle) === undefined;
    if (isNew) this.#waiting.set(table.handle, table);
    return isNew;
  }

  #known(handle: string): TableFacts | undefined {
    return this.#waiting.get(handle) ?? this.#written.get(handle) ?? this.#tables.get(handle);
  }

  /** A table may be in an item of another table, which may come later. So this repeats until no table is new. */
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
    const table = this.#known(handle);
    if (table === undefined) return undefined;
    const { keyType, valueType, owner } = table;
    const [keyLayouts, valueLayouts] = [
      await this.#layoutsOf(view, keyType),
      await this.#layoutsOf(view, valueType),
    ];
    if (keyLayouts === undefined || valueLayouts === undefined) return undefined;
    const keyJson = jsonOf(keyLayouts.shown, key);
    const valueJson = value === undefined ? undefined : jsonOf(valueLayouts.shown, value);
    if (keyJson === undefined || (value !== undefined && valueJson === undefined)) {
      return undefined;
    }
    if (valueLayouts.tagged !== undefined && valueJson !== undefined) {
      visitTables(valueLayouts.tagged, valueJson, owner, (inner) => {
        if (this.#addNew(inner)) found.push(inner);
      });
    }
    return { keyType, valueType, key: keyJson, value: valueJson, owner };
  }

  async #layoutsOf(view: LedgerView, type: string): Promise<TypeLayouts | undefined> {
    if (this.#layouts.has(type)) return this.#layouts.get(type);
    const layouts = await readLayouts(view, type);
    this.#layouts.set(type, layouts);
    return layouts;
  }
}

function tableIn({ handle, key_type: keyType, value_type: valueType, owner_address: owner }: Row) {
  return { handle: handle!, keyType: keyType!, valueType: valueType!, owner: owner! };
}

/** @returns `undefined` for a type without a layout in the newest state */
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
    // The bytes are of a different type.
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

/** The layouts of the direct parts of a layout. */
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

/** Whether values of a layout can contain a table. A layout is a graph: each part is visited once. */
function hasTable(layout: Layout): boolean {
  const seen = new Set<Layout>([layout]);
  for (const part of seen) {
    if (tableOf(part) !== undefined) return true;
    for (const inner of partsOf(part)) seen.add(inner);
  }
  return false;
}

type TableVisitor = (table: TableFacts) => void;

/** @param value JSON of a value of the layout */
function visitTables(layout: Layout, value: unknown, owner: string, visit: TableVisitor): void {
  const types = tableOf(layout);
  if (types !== undefined) {
    const [keyType, valueType] = types;
    const { handle } = value as { readonly handle: string };
    visit({ handle: fullAddress(handle), keyType, valueType, owner });
    return;
  }
  switch (layout.kind) {
    case 'vector': {
      // An Option is shown as a struct.
      const items = Array.isArray(value) ? value : ((value as Fields | undefined)?.vec ?? []);
      for (const item of items as readonly unknown[])
        visitTables(layout.element, item, owner, visit);
      break;
    }
    case 'struct':
      visitFields(layout, value, owner, visit);
      break;
    case 'enum': {
      const { __variant__: name } = value as { readonly __variant__?: string };
      const variant = layout.variants.find((one) => one.name === name);
      if (variant !== undefined) visitFields(variant, value, owner, visit);
    }
  }
}

function visitFields(
  { fields }: LayoutFields,
  value: unknown,
  owner: string,
  visit: TableVisitor,
): void {
  if (typeof value !== 'object' || value === null) return;
  for (const { name, layout } of fields) visitTables(layout, (value as Fields)[name], owner, visit);
}
