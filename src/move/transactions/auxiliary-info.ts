/**
 * The index in its block that a chain stores with a transaction (PersistedAuxiliaryInfo, docs/spec/ledger.md §3.3).
 */
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { domainHash } from '../crypto/hash.ts';

const NONE = 0;
const WITH_INDEX = 1;

/** Appends the information that is stored with a transaction: its index, or nothing. */
export function writeAuxiliaryInfo(writer: BcsWriter, index: number | undefined): void {
  if (index === undefined) writer.uleb32(NONE);
  else writer.uleb32(WITH_INDEX).u32(index);
}

export function auxiliaryInfoHash(index: number): Buffer {
  const bytes = encodeBcs((writer) => writeAuxiliaryInfo(writer, index));
  return domainHash('PersistedAuxiliaryInfo', bytes);
}

/** The index with a given hash, searched upwards from `firstIndex`; `undefined` if none of `count` indexes has it. */
export function indexWithHash(hash: Buffer, firstIndex: number, count: number): number | undefined {
  for (let index = firstIndex; index < firstIndex + count; index += 1) {
    if (auxiliaryInfoHash(index).equals(hash)) return index;
  }
  return undefined;
}
