/**
 * BCS of module ids: address, then name (docs/spec/move.md §3.6). Names are not validated on reading
 * (§3.4).
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import type { ModuleId } from '../modules/compiled.ts';

/** Reads a module id. @throws BcsError */
export function readModuleId(reader: BcsReader): ModuleId {
  const address = reader.address();
  return { address, name: reader.string() };
}

/** Writes a module id. */
export function writeModuleId(writer: BcsWriter, id: ModuleId): void {
  writer.address(id.address).string(id.name);
}
