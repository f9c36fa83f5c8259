/** Files designed to use memory: reading and proving them stays within 64 MB of their size, and ends soon. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import {
  GenesisError,
  MAX_GENESIS_BYTES,
  MAX_GENESIS_ITEMS,
  readGenesis,
} from '../../src/ingest/genesis/genesis.ts';
import { computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { BcsWriter, encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { formatWaypoint } from '../../src/move/transactions/waypoint.ts';
import { writes } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';
import { MAX_TYPE_TAGS } from '../../src/move/types/type-tag.ts';
import { NEEDED_WRITES } from './small-genesis.ts';

const MB = 1_000_000;
const MAX_GROWTH_BYTES = 64 * MB;
/** Each peak includes the memory that reading needs, and some garbage. The smallest one counts. */
const MAX_MEASUREMENTS = 3;

/** The bytes before the raw writes and events of a file with `rawCount` raw writes. */
function head(rawCount: number): BcsWriter {
  const needed = writes.encode(NEEDED_WRITES);
  const writer = new BcsWriter(MAX_GENESIS_BYTES).u8(1).u8(0).u8(0);
  return writer.length32(NEEDED_WRITES.length + rawCount).fixed(needed.subarray(1));
}

/** A file with writes of raw keys of four bytes, each with a value of `valueBytes`; no events. */
function fileOfWrites(count: number, valueBytes: number): Buffer {
  const writer = head(count);
  const value = Buffer.alloc(valueBytes);
  for (let index = 0; index < count; index += 1) {
    writer
      .u8(2)
      .u8(4)
      .u8(0)
      .u8(index >> 16)
      .u8((index >> 8) & 255)
      .u8(index & 255);
    writer.u8(0).bytes(value);
  }
  return writer.u8(0).toBytes();
}

/** A file with handle events, each of its own stream. */
function fileOfStreams(count: number): Buffer {
  const writer = head(0).length32(count);
  for (let index = 0; index < count; index += 1) {
    writer.u8(0).u64(BigInt(index)).address(ADDRESS_ONE).u64(0n).u8(0).u8(0);
  }
  return writer.toBytes();
}

/**
 * A file with as many module events as fit, each of a struct with the maximum number of type arguments, encoded as
 * `argument`.
 */
function fileOfTypes(argument: readonly number[]): Buffer {
  const argumentCount = Math.floor((MAX_TYPE_TAGS - 1) / argument.length);
  const type = encodeBcs((writer) => {
    writer.u8(7).address(ADDRESS_ONE).string('m').string('S').length32(argumentCount);
    for (let index = 0; index < argumentCount; index += 1) writer.fixed(Buffer.from(argument));
  });
  const count = Math.floor((MAX_GENESIS_BYTES - 4_000) / (type.length + 2));
  const writer = head(0).length32(count);
  for (let index = 0; index < count; index += 1) writer.u8(1).fixed(type).u8(0);
  return writer.toBytes();
}

/** Created one at a time, so that only one file is in memory. */
const FILES: readonly (readonly [string, () => Buffer])[] = [
  ['most writes', () => fileOfWrites(MAX_GENESIS_ITEMS - 2, 0)],
  ['most streams', () => fileOfStreams(MAX_GENESIS_ITEMS)],
  ['types of bytes', () => fileOfTypes([1])],
  ['types of vectors', () => fileOfTypes([6, 1])],
  ['one large value', () => fileOfWrites(1, MAX_GENESIS_BYTES - 2_000)],
  [
    'lengths that promise more than there is',
    () => {
      const declared = new BcsWriter().u8(1).u8(0).u8(0).uleb32(MAX_GENESIS_ITEMS);
      return Buffer.concat([declared.toBytes(), Buffer.alloc(MAX_GENESIS_BYTES - 10, 0x7f)]);
    },
  ],
];

/** Resident bytes of this process as Linux counts them: now, or the peak since `resetPeak`. */
function residentBytes(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  const kibibytes = new RegExp(`${field}:\\s+(\\d+) kB`).exec(status);
  if (kibibytes === null) throw new Error(`no ${field}`);
  return Number(kibibytes[1]) * 1024;
}

function resetPeak(): void {
  writeFileSync('/proc/self/clear_refs', '5');
}

function canMeasure(): boolean {
  try {
    resetPeak();
    return residentBytes('VmHWM') > 0;
  } catch {
    return false;
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function readAndProve(file: Buffer): string {
  try {
    return formatWaypoint(computeGenesisHashes(readGenesis(file)).waypoint);
  } catch (error) {
    if (error instanceof GenesisError) return error.code;
    throw error;
  }
}

describe.skipIf(!canMeasure())('peak memory (needs Linux with /proc/self/clear_refs)', () => {
  test.each(FILES)('%s', (name, make) => {
    const file = make();
    let leastBytes = Number.POSITIVE_INFINITY;
    for (let made = 0; made < MAX_MEASUREMENTS && leastBytes >= MAX_GROWTH_BYTES; made += 1) {
      collectGarbage();
      resetPeak();
      const before = residentBytes('VmRSS');
      const startMs = performance.now();
      const outcome = readAndProve(file);
      const grownBytes = residentBytes('VmHWM') - before;
      const tookMs = Math.round(performance.now() - startMs);
      console.log(`${name}: ${file.length} bytes, +${grownBytes} bytes, ${tookMs} ms, ${outcome}`);
      leastBytes = Math.min(leastBytes, grownBytes);
    }
    expect(leastBytes).toBeLessThan(MAX_GROWTH_BYTES);
  });
});
