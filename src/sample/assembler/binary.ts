/** The outer form of a module or script: header, directory and tables (docs/spec/move.md §1.1, §1.4). */
import { BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import {
  MAGIC,
  TABLE_KINDS,
  type TableName,
  VERSION_7_ENUMS,
  VERSION_FLAGS,
} from '../../move/modules/format.ts';

/** The tables of a binary while they are filled. Every entry is stored once; indices are in the order of first use. */
export class Tables {
  readonly #indices = new Map<string, number>();
  readonly #tables = new Map<TableName, { count: number; readonly contents: BcsWriter }>();

  /** The index of an entry, which is added if it is new. `write` may add entries to other tables. */
  index(name: TableName, write: (writer: BcsWriter) => unknown): number {
    const entry = encodeBcs(write);
    const key = `${name} ${entry.toString('latin1')}`;
    const known = this.#indices.get(key);
    if (known !== undefined) return known;
    const table = this.#tables.get(name) ?? { count: 0, contents: new BcsWriter() };
    this.#tables.set(name, table);
    const index = table.count;
    this.#indices.set(key, index);
    table.contents.fixed(entry);
    table.count += 1;
    return index;
  }

  toBytes(): TableBytes {
    const bytes = [...this.#tables].map(([name, { contents }]) => [name, contents.toBytes()]);
    return Object.fromEntries(bytes);
  }
}

type TableBytes = { readonly [Name in TableName]?: Uint8Array };

/**
 * Writes a module or script.
 * @param version of the bytecode, 5 to 10
 * @param tables the entries of each table, one after the other
 * @param tail the bytes after the tables: a module's own handle, or a script's main function
 */
export function writeBinary(version: number, tables: TableBytes, tail: Uint8Array): Buffer {
  const directory = new BcsWriter();
  const contents = new BcsWriter();
  let count = 0;
  for (const { name, code } of TABLE_KINDS) {
    const entries = tables[name];
    if (entries === undefined || entries.length === 0) continue;
    directory.u8(code).uleb32(contents.length).uleb32(entries.length);
    contents.fixed(entries);
    count += 1;
  }
  const versionWord = version >= VERSION_7_ENUMS ? VERSION_FLAGS + version : version;
  const header = encodeBcs((writer) =>
    writer.fixed(MAGIC).u32(versionWord).uleb32(count).fixed(directory.view()),
  );
  return Buffer.concat([header, contents.view(), tail]);
}
