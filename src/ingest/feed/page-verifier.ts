/**
 * Verifies a page: every hash in it is recomputed from its own bytes, and the transaction accumulator is extended from
 * its verified state (docs/spec/ledger.md §2.7, §3.3–3.5). docs/follow.md lists what covers which bytes.
 */
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { readHash } from '../../move/bcs/fixed-bytes.ts';
import { accumulatorRoot, MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { ContractEvent, contractEventHash } from '../../move/transactions/event.ts';
import {
  BLOCK_ENDS,
  type EncodedOnChainData,
  type OnChainDataOf,
  readOnChainData,
  readOnChainDataWith,
  storedTransactionHash,
  Transaction,
  TransactionOnChainData,
} from '../../move/transactions/transaction.ts';
import { TransactionInfo, transactionInfoHash } from '../../move/transactions/transaction-info.ts';
import { formatWaypoint, isSameWaypoint, type Waypoint } from '../../move/transactions/waypoint.ts';
import { WriteSet, writeSetHash } from '../../move/transactions/write-set.ts';
import { marksOf } from '../chunk-builder.ts';
import { GenesisError, readGenesis } from '../genesis/genesis.ts';
import { computeGenesisHashes } from '../genesis/genesis-waypoint.ts';
import { isTranslatedType } from '../translate/event-translation.ts';
import {
  chunkEventOf,
  type EventMarks,
  placeEvent,
  placeWrites,
  versionPlaces,
} from '../version-parts.ts';
import { PageError, type PageField } from './page-error.ts';
import type { PageCut, VerifiedIdentity, VerifiedPage } from './verified-page.ts';

/** Maximum number of items of a page, far more than any node sends. It limits what a page of a few bytes can claim. */
export const MAX_PAGE_ITEMS = 10_000;
/**
 * Maximum number of values (events, writes, arguments, …) in a page or record that is not verified yet, twice what real
 * data has in MAX_PAGE_BYTES. A value of one byte takes hundreds in memory.
 */
export const MAX_UNVERIFIED_VALUES = 2_000_000;

export interface TrustedRoot {
  readonly version: bigint;
  /** The root of the transaction accumulator after that version, 32 bytes. */
  readonly root: Uint8Array;
}

export interface VerifierStart {
  readonly nextVersion: bigint;
  /** Full subtrees of the transaction accumulator of `nextVersion` leaves, largest first. */
  readonly frozenRoots: readonly Uint8Array[];
  readonly trustedRoots: readonly TrustedRoot[];
  /** The required genesis. If absent, any is accepted. */
  readonly waypoint: Waypoint | undefined;
}

/** An item whose events and changes are read in any form. */
type ReadItem = OnChainDataOf<unknown, unknown>;

class FoundPlaces {
  readonly #pageOffset: number;
  #events: number[] = [];
  #writes: number[] = [];

  /** @param pageOffset offset of the page in its buffer */
  constructor(pageOffset: number) {
    this.#pageOffset = pageOffset;
  }

  /** Reads an item. @throws BcsError as `readOnChainData` */
  readonly read = (reader: BcsReader): ReadItem => {
    this.#events = [];
    this.#writes = [];
    return readOnChainDataWith(reader, this.#readEvent, this.#readChanges);
  };

  readonly #readEvent = (reader: BcsReader): void => placeEvent(reader, this.#events);
  readonly #readChanges = (reader: BcsReader): number => placeWrites(reader, this.#writes);

  take(places: number[], { whole, info }: ReadItem['bytes'], marks: EventMarks): void {
    const itemAt = whole.byteOffset - this.#pageOffset;
    const infoAt = info.byteOffset - this.#pageOffset;
    const spans = [itemAt, itemAt + whole.length, infoAt, infoAt + info.length] as const;
    // Not as arguments of one call: a version may have more numbers than a call can take.
    for (const place of versionPlaces(spans, marks, this.#events, this.#writes)) places.push(place);
  }
}

/** Verifies pages one after the other. A page that fails changes nothing. */
export class PageVerifier {
  readonly #trusted: ReadonlyMap<bigint, Uint8Array>;
  readonly #waypoint: Waypoint | undefined;
  #accumulator: MerkleAccumulator;

  constructor(start: VerifierStart) {
    this.#trusted = new Map(start.trustedRoots.map(({ version, root }) => [version, root]));
    const { waypoint } = start;
    // Buffers from another thread arrive as a Uint8Array.
    this.#waypoint = waypoint && { ...waypoint, hash: Buffer.from(waypoint.hash) };
    const roots = start.frozenRoots.map((root) => Buffer.from(root));
    this.#accumulator = new MerkleAccumulator('TransactionAccumulator', start.nextVersion, roots);
  }

  /** @throws PageError naming version and field */
  verify(bytes: Uint8Array<ArrayBuffer>): VerifiedPage {
    const startedMs = performance.now();
    const accumulator = this.#accumulator.clone();
    const firstVersion = accumulator.leafCount;
    const places: number[] = [];
    let hashMs = 0;
    let count = 0;
    let identity: VerifiedIdentity | undefined;
    let lastBlockStart: PageCut | undefined;
    let endsLastBlock = false;
    const found = new FoundPlaces(bytes.byteOffset);
    // Each item is verified before the next is decoded, so that damage that moves the end of an item is reported there.
    for (const item of decodeItems(found.read, bytes, firstVersion)) {
      const decodedMs = performance.now();
      const version = accumulator.leafCount;
      checkItem(item, version);
      if (version === 0n) identity = verifyGenesisItem(item, this.#waypoint);
      const marks = marksOf(item.bytes.events);
      if (version === 0n || marks.block >= 0) lastBlockStart = cutAt(count, accumulator);
      this.#append(accumulator, item);
      found.take(places, item.bytes, marks);
      endsLastBlock = endsBlock(item.data, marks);
      hashMs += performance.now() - decodedMs;
      count += 1;
    }
    this.#accumulator = accumulator;
    return {
      firstVersion,
      count,
      bytes,
      places: Uint32Array.from(places),
      lastBlockStart,
      end: cutAt(count, accumulator),
      endsBlock: endsLastBlock,
      identity,
      decodeMs: performance.now() - startedMs - hashMs,
      hashMs,
    };
  }

  /** Extends the accumulator by an item and compares its root with the item's and with the trusted one. */
  #append(accumulator: MerkleAccumulator, { bytes, data }: ReadItem): void {
    const { version, accumulatorRootHash } = data;
    accumulator.append(transactionInfoHash(bytes.info));
    const root = accumulator.rootHash();
    if (!root.equals(accumulatorRootHash)) {
      throw unproved(
        version,
        'accumulator_root_hash',
        `the computed root is ${hex(root)}, the feed contains ${hex(accumulatorRootHash)}: ` +
          'root or info is not that of this history',
      );
    }
    const trusted = this.#trusted.get(version);
    if (trusted === undefined || root.equals(trusted)) return;
    throw new PageError({
      code: 'trust_contradicts',
      version,
      field: 'accumulator_root_hash',
      detail: `the accumulator root of the upstream’s history is ${hex(root)}, the trusted one is ${hex(trusted)}`,
    });
  }
}

function cutAt(count: number, accumulator: MerkleAccumulator): PageCut {
  const roots = Buffer.concat(accumulator.frozenSubtreeRoots as Buffer[]);
  return { count, frozenRoots: Uint8Array.from(roots) };
}

/** Decodes a page of one item or more, item by item. @throws PageError */
export function itemsOf(
  bytes: Uint8Array,
  firstVersion: bigint,
): Generator<EncodedOnChainData, void, undefined> {
  return decodeItems(readOnChainData, bytes, firstVersion);
}

function* decodeItems<Item>(
  readItem: (reader: BcsReader) => Item,
  bytes: Uint8Array,
  firstVersion: bigint,
): Generator<Item, void, undefined> {
  const reader = new BcsReader(bytes, 0, bytes.length, MAX_UNVERIFIED_VALUES);
  let count = 0;
  let index = 0;
  let itemStart = 0;
  try {
    count = reader.length(TransactionOnChainData.minBytes);
    if (count === 0 || count > MAX_PAGE_ITEMS) {
      const detail = `a page of ${count} items, 1 to ${MAX_PAGE_ITEMS} are taken`;
      throw malformed(firstVersion, 'page', detail);
    }
    for (; index < count; index += 1) {
      itemStart = reader.offset;
      yield readItem(reader);
    }
    reader.finish();
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    const version = firstVersion + BigInt(index);
    const field = index < count ? fieldThatFails(bytes, itemStart) : 'page';
    throw malformed(version, field, `does not decode: ${error.message}`);
  }
}

const FIELD_READERS: readonly (readonly [PageField, (reader: BcsReader) => unknown])[] = [
  ['version', (reader) => reader.u64()],
  ['transaction', Transaction.read],
  ['info', TransactionInfo.read],
  ['events', (reader) => reader.vector(ContractEvent.minBytes, ContractEvent.read)],
  ['accumulator_root_hash', readHash],
  ['changes', WriteSet.read],
];

/** The field of an item that does not decode. It is `page` if the page ends where the item should begin. */
function fieldThatFails(page: Uint8Array, itemStart: number): PageField {
  if (itemStart === page.length) return 'page';
  const reader = new BcsReader(page, itemStart, page.length, MAX_UNVERIFIED_VALUES);
  let field: PageField = 'page';
  try {
    for (const [name, read] of FIELD_READERS) {
      field = name;
      read(reader);
    }
  } catch (error) {
    if (error instanceof BcsError) return field;
    throw error;
  }
  return 'page';
}

/** Checks the version of an item, and the three hashes of its info. @throws PageError `page_unproved` */
export function checkItem({ data, bytes }: ReadItem, version: bigint): void {
  const { info } = data;
  if (data.version !== version) {
    throw unproved(version, 'version', `the item says it is version ${data.version}`);
  }
  const hash = storedTransactionHash(bytes.transaction, data.transaction);
  if (!hash.equals(info.transactionHash)) {
    throw unproved(version, 'transaction', 'its hash is not the one in the info');
  }
  const eventRoot = accumulatorRoot('EventAccumulator', bytes.events.map(contractEventHash));
  if (!eventRoot.equals(info.eventRootHash)) {
    throw unproved(version, 'events', eventMismatch(bytes.events));
  }
  if (!writeSetHash(bytes.changes).equals(info.stateChangeHash)) {
    throw unproved(version, 'changes', 'their hash is not the one in the info');
  }
}

/**
 * A node that translates sends events that differ from the hashed ones (docs/spec/ledger.md §5.8); this distinguishes
 * it from damage.
 */
function eventMismatch(events: readonly Buffer[]): string {
  const plain = 'their root is not the one in the info';
  const translated = events.some((bytes) => {
    const event = chunkEventOf(bytes);
    return event.kind === 'stream' && isTranslatedType(event.typeTag);
  });
  if (!translated) return plain;
  return (
    `${plain}; a node that translates module events (enable_event_v2_translation) sends others ` +
    'than those that were hashed: follow one that does not'
  );
}

/** Recomputes genesis, including the root of its state, from its own bytes (docs/spec/ledger.md §2.7). */
function verifyGenesisItem(
  { bytes, data }: ReadItem,
  waypoint: Waypoint | undefined,
): VerifiedIdentity {
  const genesis = readGenesisItem(bytes.transaction);
  const hashes = computeGenesisHashes(genesis);
  if (!genesis.writeSetBytes.equals(bytes.changes)) {
    throw unproved(0n, 'changes', 'they are not the writes of the genesis transaction');
  }
  if (!hashes.eventRootHash.equals(data.info.eventRootHash)) {
    throw unproved(0n, 'events', 'they are not the events of the genesis transaction');
  }
  if (!hashes.infoBytes.equals(bytes.info)) {
    throw unproved(0n, 'info', 'it is not the info computed from the genesis transaction');
  }
  if (waypoint !== undefined && !isSameWaypoint(waypoint, hashes.waypoint)) {
    const found = formatWaypoint(hashes.waypoint);
    const detail = `the upstream’s genesis has waypoint ${found}, not ${formatWaypoint(waypoint)}`;
    throw new PageError({ code: 'waypoint_mismatch', version: 0n, field: 'transaction', detail });
  }
  return { chainId: genesis.chainId, genesisWaypointHash: hashes.waypoint.hash };
}

function readGenesisItem(transaction: Buffer): ReturnType<typeof readGenesis> {
  try {
    return readGenesis(transaction);
  } catch (error) {
    if (!(error instanceof GenesisError)) throw error;
    throw unproved(0n, 'transaction', `the ledger cannot begin with it: ${error.message}`);
  }
}

function endsBlock({ version, transaction }: ReadItem['data'], { epoch }: EventMarks): boolean {
  return BLOCK_ENDS.includes(transaction.kind) || version === 0n || epoch >= 0;
}

function unproved(version: bigint, field: PageField, detail: string): PageError {
  return new PageError({ code: 'page_unproved', version, field, detail });
}

function malformed(version: bigint, field: PageField, detail: string): PageError {
  return new PageError({ code: 'page_malformed', version, field, detail });
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
