/** The outer form of a module or script: header, directory and tables (docs/spec/move.md §1.1, §1.4). */
import { BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import {
  MAGIC,
  TABLE_KINDS,
  type TableName,
  VERSION_7_ENUMS,
  VERSION_FLAGS,
} from '../../move/modules/format.ts';

/** A table while it is filled: the bytes of every entry once, indices in the order of first use. */
export class Table {
  readonly #indices = new Map<string, number>();
  readonly #contents = new BcsWriter();
  readonly #entry = new BcsWriter();

  /** The index of an entry. Writing it may add to other tables. */
  index(write: (writer: BcsWriter) => unknown): number {
    this.#entry.reset();
    write(this.#entry);
    const entry = this.#entry.view();
    const key = entry.toString('latin1');
    let index = this.#indices.get(key);
    if (index === undefined) {
      index = this.#indices.size;
      this.#indices.set(key, index);
      this.#contents.fixed(entry);
    }
    return index;
  }

  /** All entries one after the other. */
  toBytes(): Buffer {
    return this.#contents.toBytes();
  }
}

/**
 * A binary of a bytecode version, 5 to 10.
 * @param tables the entries of each table, one after the other
 * @param tail what follows the tables: a module's own handle, or a script's main function
 */
export function writeBinary(
  version: number,
  tables: { readonly [Name in TableName]?: Uint8Array },
  tail: Uint8Array,
): Buffer {
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
