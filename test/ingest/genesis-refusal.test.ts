/** A file that is not a genesis is refused with its own code, in one line with the position; any genesis is stored. */
import { describe, expect, test } from 'vitest';
import {
  type Genesis,
  GenesisError,
  type GenesisErrorCode,
  MAX_GENESIS_BYTES,
  MAX_GENESIS_ITEMS,
  readGenesis,
} from '../../src/ingest/genesis/genesis.ts';
import { checkWaypoint, computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { BcsWriter } from '../../src/move/bcs/bcs-writer.ts';
import { SPARSE_MERKLE_PLACEHOLDER } from '../../src/move/crypto/sparse-merkle.ts';
import { Transaction } from '../../src/move/transactions/transaction.ts';
import {
  formatWaypoint,
  parseWaypoint,
  type Waypoint,
} from '../../src/move/transactions/waypoint.ts';
import type { WriteSetEntry } from '../../src/move/transactions/write-set.ts';
import { ADDRESS_ONE, ADDRESS_ZERO, padAddress } from '../../src/move/types/address.ts';
import { CHAIN_ID_TAG, VALIDATOR_SET_TAG } from '../../src/move/types/framework-tag.ts';
import { resourceStateKey } from '../../src/move/types/state-key.ts';
import { Random, testSeed } from '../random.ts';
import { EVENTS, genesisFile, genesisFileOf, NEEDED_WRITES, ODD_WRITES } from './small-genesis.ts';

function refusal(file: Uint8Array): GenesisError {
  try {
    readGenesis(file);
  } catch (error) {
    if (error instanceof GenesisError) {
      expect(error.message).not.toMatch(/[\r\n]/);
      return error;
    }
    throw error;
  }
  throw new Error('was not refused');
}

function withoutResource(tag: typeof CHAIN_ID_TAG): Buffer {
  const dropped = resourceStateKey(ADDRESS_ONE, tag);
  return genesisFile(
    NEEDED_WRITES.filter(({ key }) => key.kind !== 'accessPath' || !key.path.equals(dropped.path)),
  );
}

function withResource(tag: typeof CHAIN_ID_TAG, bytes: Buffer): Buffer {
  const key = resourceStateKey(ADDRESS_ONE, tag);
  const rest = NEEDED_WRITES.filter(
    (write) => write.key.kind !== 'accessPath' || !write.key.path.equals(key.path),
  );
  return genesisFile([...rest, { key, op: { kind: 'creation', bytes, metadata: undefined } }]);
}

describe('files that are no genesis', () => {
  const script = Transaction.encode({
    kind: 'genesis',
    payload: {
      kind: 'script',
      executeAs: ADDRESS_ONE,
      script: { kind: 'script', code: Buffer.of(1), typeArguments: [], args: [] },
    },
  });
  const checkpoint = Transaction.encode({ kind: 'stateCheckpoint', blockId: Buffer.alloc(32) });
  const file = genesisFile();

  test.each<[string, Uint8Array, GenesisErrorCode, number | undefined, string]>([
    ['nothing', Buffer.alloc(0), 'empty_file', undefined, 'the genesis file is empty'],
    ['a checkpoint', checkpoint, 'not_a_genesis', 0, 'a stateCheckpoint transaction at byte 0'],
    [
      'a git-lfs pointer',
      Buffer.from('version https://git-lfs.github.com/spec/v1\n'),
      'not_a_genesis',
      0,
      'transaction variant 118 at byte 0',
    ],
    ['a script', script, 'script_genesis', 1, 'without a virtual machine'],
    ['an unknown payload', Buffer.from([1, 2, 0, 0, 0]), 'malformed', 1, 'WriteSetPayload'],
    ['an unknown write set', Buffer.from([1, 0, 2, 0, 0]), 'malformed', 2, 'WriteSet'],
    ['one byte', Buffer.from([1]), 'malformed', 1, 'unexpected end of input'],
    ['no validators', withoutResource(VALIDATOR_SET_TAG), 'missing_resource', undefined, 'stake'],
    ['no chain id', withoutResource(CHAIN_ID_TAG), 'missing_resource', undefined, 'chain_id'],
    [
      'two bytes of chain id',
      withResource(CHAIN_ID_TAG, Buffer.of(1, 2)),
      'bad_resource',
      undefined,
      '0x1::chain_id::ChainId at 0x1 does not decode: remaining input at byte 1 of its value',
    ],
    [
      'broken validators',
      withResource(VALIDATOR_SET_TAG, Buffer.of(1, 2)),
      'bad_resource',
      undefined,
      '0x1::stake::ValidatorSet',
    ],
    [
      'a surplus byte, as in the devnet file of 2022-11-03',
      Buffer.concat([file, Buffer.of(0)]),
      'trailing_bytes',
      file.length,
      'surplus bytes: 1',
    ],
  ])('%s', (_, bytes, code, offset, text) => {
    const error = refusal(bytes);
    expect([error.code, error.offset]).toEqual([code, offset]);
    expect(error.message).toContain(text);
  });

  test('a deleted chain id is a missing one', () => {
    const [chainId, ...rest] = NEEDED_WRITES;
    const deleted: WriteSetEntry = {
      key: chainId!.key,
      op: { kind: 'deletion', metadata: undefined },
    };
    expect(refusal(genesisFile([deleted, ...rest])).code).toBe('missing_resource');
  });

  test('writes out of order or twice', () => {
    // Two raw keys of 2 bytes, encoded by hand because the writer sorts them.
    const head = [1, 0, 0, 2];
    const swapped = refusal(Buffer.from([...head, 2, 1, 9, 2, 2, 1, 8, 2, 0]));
    expect(swapped).toMatchObject({ code: 'malformed', part: 'write 1', offset: 8 });
    expect(swapped.message).toContain('strictly increasing');
    expect(refusal(Buffer.from([...head, 2, 1, 8, 2, 2, 1, 8, 2, 0])).code).toBe('malformed');
  });

  test('the message names the part and the byte', () => {
    const cut = refusal(file.subarray(0, file.length - 1));
    expect(cut).toMatchObject({ code: 'malformed', part: 'event 1' });
    expect(cut.message).toMatch(
      /^the genesis does not decode: event 1: unexpected end of input at byte \d+$/,
    );
  });
});

describe('a small genesis', () => {
  test('counts all kinds and keeps what it does not understand', () => {
    const genesis = readGenesis(genesisFile());
    expect(genesis.chainId).toBe(7);
    expect(genesis.counts).toEqual({
      modules: 1,
      resources: 3,
      resourceGroups: 2,
      tableItems: 1,
      events: 2,
    });
    const kept = [...genesis.writes()].map(({ op }) =>
      op.kind === 'deletion' ? '' : `${op.bytes}`,
    );
    expect(kept).toEqual(expect.arrayContaining(['no module', '??', 'no group']));
  });

  test('validators of the next epoch: active and leaving, by index', () => {
    const hashes = computeGenesisHashes(readGenesis(genesisFile()));
    expect(hashes.nextEpochState.epoch).toBe(1n);
    const addresses = hashes.nextEpochState.validators.map(({ address }) => address);
    expect(addresses).toEqual(['b', 'a', 'c'].map(padAddress));
  });

  test('deletions leave no leaf, nor do hot keys and extensions', () => {
    const plain = computeGenesisHashes(readGenesis(genesisFile(NEEDED_WRITES)));
    const deletion = ODD_WRITES.filter(({ op }) => op.kind === 'deletion');
    const deleted = computeGenesisHashes(readGenesis(genesisFile([...NEEDED_WRITES, ...deletion])));
    expect(deleted.stateCheckpointHash).toEqual(plain.stateCheckpointHash);
    expect(deleted.stateChangeHash).not.toEqual(plain.stateChangeHash);
    const v1 = readGenesis(
      genesisFileOf({
        kind: 'v1',
        writes: NEEDED_WRITES,
        hotness: [ODD_WRITES[0]!.key],
        extensions: [{ kind: 'nativePosition', writes: ODD_WRITES }],
      }),
    );
    expect([...v1.writes()]).toHaveLength(2);
    expect(v1.counts.events).toBe(2);
    const hot = computeGenesisHashes(v1);
    expect(hot.stateCheckpointHash).toEqual(plain.stateCheckpointHash);
    expect(hot.stateChangeHash).not.toEqual(plain.stateChangeHash);
    expect(plain.stateCheckpointHash).not.toEqual(SPARSE_MERKLE_PLACEHOLDER);
  });

  test('another waypoint is refused with both shown; one of another version too', () => {
    const genesis = readGenesis(genesisFile());
    const waypoint = computeGenesisHashes(genesis).waypoint;
    expect(checkWaypoint(genesis, waypoint).waypoint).toEqual(waypoint);
    const other = parseWaypoint(`0:${ADDRESS_ZERO}`);
    expect(() => checkWaypoint(genesis, other)).toThrow(
      expect.objectContaining({ code: 'waypoint_mismatch' }),
    );
    const both = `the genesis has waypoint ${formatWaypoint(waypoint)}, not ${formatWaypoint(other)}`;
    expect(() => checkWaypoint(genesis, other)).toThrow(both);
    const later = parseWaypoint(`1638030465:${waypoint.hash.toString('hex')}\n`);
    expect(() => checkWaypoint(genesis, later)).toThrow(
      expect.objectContaining({ code: 'waypoint_of_other_version' }),
    );
  });

  test('every truncation and, by its waypoint, a flipped bit of any byte is refused', () => {
    const random = new Random(testSeed('flipped bits'));
    const file = genesisFile();
    const waypoint = computeGenesisHashes(readGenesis(file)).waypoint;
    for (let length = 0; length < file.length; length += 1) refusal(file.subarray(0, length));
    for (let position = 0; position < file.length; position += 1) {
      const damaged = Buffer.from(file);
      damaged[position]! ^= 1 << random.below(8);
      expectRefused(damaged, waypoint);
    }
  });

  test('random bytes, also behind a good head, end in a GenesisError', () => {
    const random = new Random(testSeed('random genesis'));
    for (let run = 0; run < 2_000; run += 1) {
      const bytes = Buffer.from(
        Array.from({ length: 1 + random.below(300) }, () => random.below(256)),
      );
      if (run % 2 === 1) bytes.set([1, 0, 0].slice(0, bytes.length));
      refusal(bytes);
    }
  });
});

function expectRefused(file: Buffer, waypoint: Waypoint): void {
  let genesis: Genesis;
  try {
    genesis = readGenesis(file);
  } catch (error) {
    expect(error).toBeInstanceOf(GenesisError);
    return;
  }
  expect(() => checkWaypoint(genesis, waypoint)).toThrow(GenesisError);
}

describe('limits', () => {
  test('MAX_GENESIS_BYTES', () => {
    const big = Buffer.alloc(MAX_GENESIS_BYTES + 1);
    expect(refusal(big).code).toBe('file_too_large');
    expect(refusal(big.subarray(1)).code).toBe('not_a_genesis');
    expect(refusal(big.subarray(2)).code).toBe('not_a_genesis');
  });

  /** `count` deletions of raw keys of 3 bytes. */
  function rawWrites(writer: BcsWriter, count: number): void {
    writer.length32(count);
    for (let index = 0; index < count; index += 1) {
      writer
        .u8(2)
        .u8(3)
        .u8(index >> 16)
        .u8((index >> 8) & 255)
        .u8(index & 255)
        .u8(2);
    }
  }

  const at = [
    [MAX_GENESIS_ITEMS - 1, 'missing_resource'],
    [MAX_GENESIS_ITEMS, 'missing_resource'],
    [MAX_GENESIS_ITEMS + 1, 'too_many_items'],
  ] as const;

  test.each(at)('%i writes: %s', (count, code) => {
    const writer = new BcsWriter().u8(1).u8(0).u8(0);
    rawWrites(writer, count);
    expect(refusal(writer.u8(0).toBytes()).code).toBe(code);
  });

  test.each(at)('%i events: %s', (count, code) => {
    const writer = new BcsWriter().u8(1).u8(0).u8(0).u8(0).length32(count);
    for (let index = 0; index < count; index += 1) writer.u8(1).u8(0).u8(0);
    expect(refusal(writer.toBytes()).code).toBe(code);
  });

  test.each(at)('%i hot keys: %s', (count, code) => {
    const writer = new BcsWriter().u8(1).u8(0).u8(1).u8(0).length32(count);
    for (let index = 0; index < count; index += 1) writer.u8(2).u8(0);
    expect(refusal(writer.u8(0).u8(0).toBytes()).code).toBe(code);
  });

  test.each(at)('%i extensions: %s', (count, code) => {
    const writer = new BcsWriter().u8(1).u8(0).u8(1).u8(0).u8(0).length32(count);
    for (let index = 0; index < count; index += 1) writer.u8(0).u8(0);
    expect(refusal(writer.u8(0).toBytes()).code).toBe(code);
  });

  test.each(at)('%i writes of an extension: %s', (count, code) => {
    const writer = new BcsWriter().u8(1).u8(0).u8(1).u8(0).u8(0).u8(1).u8(0);
    rawWrites(writer, count);
    expect(refusal(writer.u8(0).toBytes()).code).toBe(code);
  });

  test('a declared length beyond the file takes no memory', () => {
    const declared = Buffer.from([1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x07]);
    expect(refusal(declared)).toMatchObject({ code: 'malformed', offset: 3 });
  });

  test('events are all read', () => {
    const genesis = readGenesis(genesisFile(NEEDED_WRITES, [...EVENTS, ...EVENTS]));
    expect(genesis.counts.events).toBe(4);
    expect([...genesis.eventBytes()]).toHaveLength(4);
  });
});
