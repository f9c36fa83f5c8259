/** Random histories for tests of pruning, and the rows that pruning must leave, computed without the store's code. */
import { sha3 } from '../../src/move/crypto/hash.ts';
import { addressBytes } from '../../src/move/types/address.ts';
import { stateKeyHash } from '../../src/move/types/state-key.ts';
import type { Block } from '../../src/store/columns/block-column.ts';
import type { Chunk, ChunkTransaction } from '../../src/store/write/chunk.ts';
import {
  address,
  block,
  chunk,
  resourceKey,
  streamEvent,
  tableKey,
  transaction,
  write,
} from './chunks.ts';

/** A random number from 0 to below `most`. */
export type Below = (most: number) => number;

/** Keys of accounts 1 to 3, one of them longer than a key part; table items of handle 9. */
export const KEYS: readonly Buffer[] = [
  ...[1, 2, 3].flatMap((account) => ['A', 'B'].map((name) => resourceKey(account, name))),
  resourceKey(3, 'L'.repeat(3_000)),
  resourceKey(3, `${'L'.repeat(2_999)}M`),
  tableKey(9, 'item'),
  tableKey(9, 'other'),
];

/** Streams by account and creation number. */
export const STREAMS: readonly (readonly [account: number, creationNumber: number])[] = [
  [1, 2],
  [2, 0],
  [2, 7],
  [3, 1],
];

const MODULE_EVENT_TAG = Buffer.of(1);

interface Written {
  readonly version: number;
  readonly value: string | undefined;
}

/** Everything ever committed. */
export class History {
  readonly writes = KEYS.map((): Written[] => []);
  /** Versions of the events of each stream. */
  readonly events = STREAMS.map((): number[] => []);
  readonly moduleEvents: number[] = [];
  readonly blocks: Block[] = [];
  readonly epochEnds: { epoch: bigint; lastVersion: bigint }[] = [];
  /** Versions that wrote something or emitted into a stream. */
  readonly busyVersions: number[] = [];
  version = -1;

  /** Adds a random chunk to the history and returns it. */
  nextChunk(below: Below): Chunk {
    const first = this.version + 1;
    const blocks: Block[] = first === 0 ? [block(0, 0, 0)] : [];
    const epochEnds = first === 0 ? [{ epoch: 0n, lastVersion: 0n }] : [];
    const count = 1 + below(8);
    const transactions = Array.from({ length: count }, (_, index) => {
      const version = first + index;
      if (version > 0 && below(3) === 0) {
        blocks.push(block(this.blocks.length + blocks.length, version));
      }
      if (version > 0 && below(12) === 0) {
        const epoch = BigInt(this.epochEnds.length + epochEnds.length);
        epochEnds.push({ epoch, lastVersion: BigInt(version) });
      }
      return this.#transaction(version, below);
    });
    this.blocks.push(...blocks);
    this.epochEnds.push(...epochEnds);
    this.version += count;
    return chunk(first, transactions, { blocks, epochEnds });
  }

  #transaction(version: number, below: Below): ChunkTransaction {
    const busyness = 2 + below(5);
    const writes = KEYS.flatMap((key, index) => {
      if (below(busyness) !== 0) return [];
      const value = below(3) === 0 ? undefined : `${version}`;
      this.writes[index]!.push({ version, value });
      return [write(key, value)];
    });
    const events = Array.from({ length: below(4) }, () => {
      const stream = below(STREAMS.length + 1);
      const place = STREAMS[stream];
      if (place === undefined) {
        this.moduleEvents.push(version);
        return {
          kind: 'module' as const,
          typeTag: MODULE_EVENT_TAG,
          data: Buffer.of(version & 0xff),
        };
      }
      const sequence = this.events[stream]!.push(version) - 1;
      return streamEvent(...place, sequence);
    });
    if (writes.length > 0 || events.some(({ kind }) => kind === 'stream')) {
      this.busyVersions.push(version);
    }
    return transaction(version, { writes, events });
  }

  /** The value of a key (by its index in KEYS) at a version. */
  valueAt(key: number, version: number): string | undefined {
    return this.writes[key]!.filter((written) => written.version <= version).at(-1)?.value;
  }

  /** Sequence numbers of a stream's events at or above a version. */
  sequencesFrom(stream: number, version: number): number[] {
    return this.events[stream]!.flatMap((at, sequence) => (at >= version ? [sequence] : []));
  }
}

/** The account or table of a key of KEYS. */
export function ownerOf(key: Buffer): string {
  return key.subarray(1, 33).toString('hex');
}

/** The rows that must remain in each column after complete pruning, as keys in hex. */
export function expectedKeys(
  history: History,
  oldest: number,
  kept: ReadonlyMap<string, bigint>,
): ReadonlyMap<string, string[]> {
  const boundOf = (owner: string) => Number(kept.get(owner) ?? BigInt(oldest));
  const state: string[] = [];
  const known: Buffer[] = [];
  KEYS.forEach((key, index) => {
    const bound = boundOf(ownerOf(key));
    const older = history.writes[index]!.filter(({ version }) => version <= bound).at(-1);
    const left = history.writes[index]!.filter(({ version }) => version > bound);
    // A ledger that was never pruned still has rows for deletions in its genesis.
    if (older !== undefined && (older.value !== undefined || oldest === 0)) left.unshift(older);
    if (left.length > 0) known.push(key);
    const hash = stateKeyHash(key).toString('hex');
    state.push(...left.map(({ version }) => hash + hex(version, 8)));
  });
  const events = STREAMS.flatMap(([account, creationNumber], stream) => {
    const bound = boundOf(address(account));
    const sequences = history.sequencesFrom(stream, bound);
    const below = history.events[stream]!.length - sequences.length - 1;
    const left = below >= 0 ? [below, ...sequences] : sequences;
    const partition = addressBytes(address(account)).toString('hex') + hex(creationNumber, 8);
    return left.map((sequence) => partition + hex(sequence, 8));
  });
  const versions = Array.from({ length: history.version + 1 - oldest }, (_, at) => oldest + at);
  const blocks = history.blocks.filter(({ firstVersion }) => firstVersion >= BigInt(oldest));
  const ends = history.epochEnds.filter(({ lastVersion }) => lastVersion >= BigInt(oldest));
  // Histories are shorter than a window.
  const hasType = history.moduleEvents.some((version) => version >= oldest);
  const type = sha3(MODULE_EVENT_TAG).toString('hex', 0, 8) + hex(0, 8);
  return new Map([
    ['state', state.sort()],
    ['event_types', hasType ? [type] : []],
    [
      'state_keys',
      known
        .filter((key) => key[0] === 1)
        .map(hashOf)
        .sort(),
    ],
    ['events', events.sort()],
    ['transactions', versions.map((version) => hex(version, 8))],
    ['transaction_infos', versions.map((version) => hex(version, 8))],
    [
      'version_writes',
      history.busyVersions.filter((at) => at >= oldest).map((version) => hex(version, 8)),
    ],
    ['blocks_by_height', blocks.map(({ height }) => hex(Number(height), 8))],
    ['blocks_by_version', blocks.map(({ firstVersion }) => hex(Number(firstVersion), 8))],
    ['epochs', ends.map(({ lastVersion }) => `00${hex(Number(lastVersion), 8)}`)],
  ]);
}

/** Physical keys of an account that must be listed. */
export function expectedAccountKeys(
  history: History,
  account: number,
  bound: number,
): readonly Buffer[] {
  return KEYS.filter((key, index) => {
    const writes = history.writes[index]!;
    const alive = writes.some(({ version }) => version > bound);
    return (
      key[0] === 0 &&
      ownerOf(key) === address(account) &&
      (alive || history.valueAt(index, bound) !== undefined)
    );
  }).toSorted(Buffer.compare);
}

function hashOf(key: Buffer): string {
  return stateKeyHash(key).toString('hex');
}

function hex(value: number, bytes: number): string {
  return value.toString(16).padStart(2 * bytes, '0');
}
