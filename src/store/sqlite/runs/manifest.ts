/** One row that every commit replaces: the list of runs, the range of the log, and which versions have records. */
import { CHECKSUM_BYTES, checkValue, putChecksum } from '../stored-value.ts';

/** Blocks of a run have ids from `number * MAX_RUN_BLOCKS` on; the row after the last one is the index. */
export const MAX_RUN_BLOCKS = 2 ** 24;
const MANIFEST_MARK = 0x6d61_6e69;
const NUMBER_BYTES = 8;
const RUN_NUMBERS = 5;
const OTHER_NUMBERS = 5;

export interface RunFacts {
  /** Never reused. */
  readonly number: number;
  readonly blocks: number;
  readonly entries: number;
  /** Lowest and highest version in state keys. If the run has none, the lowest is above the highest. */
  readonly lowestVersion: number;
  readonly highestVersion: number;
}

/** A range of versions that all have a record. It is empty if the first is above the last. */
export interface RecordRange {
  readonly recordsFrom: number;
  readonly recordsTo: number;
}

export interface Manifest extends RecordRange {
  readonly nextRun: number;
  /** First and last row of the log. If the log is empty, the first is above the last. */
  readonly logFrom: number;
  readonly logTo: number;
  readonly runs: readonly RunFacts[];
}

export const EMPTY_MANIFEST: Manifest = {
  ...{ nextRun: 1, logFrom: 1, logTo: 0, runs: [] },
  ...{ recordsFrom: 0, recordsTo: -1 },
};

/** The checksum, then f64 in little-endian: the numbers of the manifest and those of each run. */
export function encodeManifest(manifest: Manifest): Buffer {
  const { nextRun, logFrom, logTo, recordsFrom, recordsTo, runs } = manifest;
  const numbers = [nextRun, logFrom, logTo, recordsFrom, recordsTo];
  for (const run of runs) {
    numbers.push(run.number, run.blocks, run.entries, run.lowestVersion, run.highestVersion);
  }
  const bytes = Buffer.allocUnsafe(CHECKSUM_BYTES + numbers.length * NUMBER_BYTES);
  numbers.forEach((number, at) => {
    bytes.writeDoubleLE(number, CHECKSUM_BYTES + at * NUMBER_BYTES);
  });
  putChecksum(bytes, MANIFEST_MARK);
  return bytes;
}

/** @throws StoredValueError */
export function decodeManifest(bytes: Buffer): Manifest {
  checkValue(bytes, MANIFEST_MARK);
  const numberAt = (at: number): number => bytes.readDoubleLE(CHECKSUM_BYTES + at * NUMBER_BYTES);
  const runs: RunFacts[] = [];
  const count = (bytes.length - CHECKSUM_BYTES) / NUMBER_BYTES;
  for (let at = OTHER_NUMBERS; at < count; at += RUN_NUMBERS) {
    runs.push({
      number: numberAt(at),
      blocks: numberAt(at + 1),
      entries: numberAt(at + 2),
      lowestVersion: numberAt(at + 3),
      highestVersion: numberAt(at + 4),
    });
  }
  return {
    ...{ nextRun: numberAt(0), logFrom: numberAt(1), logTo: numberAt(2), runs },
    ...{ recordsFrom: numberAt(3), recordsTo: numberAt(4) },
  };
}
