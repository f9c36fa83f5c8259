/**
 * Proof of a page: every hash in it recomputed from its own bytes, and the transaction accumulator extended from what
 * is known to be true (docs/spec/ledger.md §2.7, §3.3–3.5). Which bytes are covered by what: docs/follow.md.
 */

import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { readHash } from '../../move/bcs/fixed-bytes.ts';
import {
  ACCUMULATOR_PLACEHOLDER,
  MerkleAccumulator,
  nodeHasher,
} from '../../move/crypto/accumulator.ts';
import {
  contractEventHash,
  MIN_EVENT_BYTES,
  readContractEvent,
} from '../../move/transactions/event.ts';
import {
  type EncodedOnChainData,
  MIN_ON_CHAIN_DATA_BYTES,
  readOnChainData,
} from '../../move/transactions/on-chain-data.ts';
import { readTransaction, transactionHash } from '../../move/transactions/transaction.ts';
import {
  readTransactionInfo,
  transactionInfoHash,
} from '../../move/transactions/transaction-info.ts';
import { formatWaypoint, isSameWaypoint, type Waypoint } from '../../move/transactions/waypoint.ts';
import { readWriteSet, writeSetHash } from '../../move/transactions/write-set.ts';
import { beginsBlock, endsEpoch } from '../chunk-builder.ts';
import { readGenesis } from '../genesis/genesis.ts';
import { GenesisError } from '../genesis/genesis-error.ts';
import { proveGenesis } from '../genesis/genesis-waypoint.ts';
import { mayBeTranslated } from '../translate/event-translation.ts';
import { chunkEventOf } from '../wire-parts.ts';
import { PageError, type PageField } from './feed-error.ts';
import type { PageCut, ProvenIdentity, ProvenPage } from './proven-page.ts';

/** Most items of a page, far more than any node sends: a bound for what a page's few bytes can claim. */
export const MAX_PAGE_ITEMS = 10_000;

/** A root that is known from elsewhere. */
export interface TrustedRoot {
  readonly version: bigint;
  /** Of the transaction accumulator after that version, 32 bytes. */
  readonly root: Uint8Array;
}

/** What proof goes on from. */
export interface ProofStart {
  readonly nextVersion: bigint;
  /** Full subtrees of the transaction accumulator of `nextVersion` leaves, largest first. */
  readonly frozenRoots: readonly Uint8Array[];
  readonly trustedRoots: readonly TrustedRoot[];
  /** What genesis must be; absent: whatever it is. */
  readonly waypoint: Waypoint | undefined;
}

/** Proves pages one after the other; a page that fails changes nothing. */
export class PageProver {
  readonly #trusted: ReadonlyMap<bigint, Uint8Array>;
  readonly #waypoint: Waypoint | undefined;
  #accumulator: MerkleAccumulator;

  constructor(start: ProofStart) {
    this.#trusted = new Map(start.trustedRoots.map(({ version, root }) => [version, root]));
    const { waypoint } = start;
    // What comes from another thread comes as plain bytes.
    this.#waypoint = waypoint && { ...waypoint, hash: Buffer.from(waypoint.hash) };
    const roots = start.frozenRoots.map((root) => Buffer.from(root));
    this.#accumulator = new MerkleAccumulator('TransactionAccumulator', start.nextVersion, roots);
  }

  /** The version that must come next. */
  get nextVersion(): bigint {
    return this.#accumulator.leafCount;
  }

  /** @throws PageError naming version and field; nothing is taken in then. */
  prove(bytes: Uint8Array<ArrayBuffer>): ProvenPage {
    const proof = new PageProof(this.#accumulator.clone(), this.#trusted, this.#waypoint);
    const page = proof.run(bytes);
    this.#accumulator = proof.accumulator;
    return page;
  }
}

/** One page's proof under way. */
class PageProof {
  readonly accumulator: MerkleAccumulator;
  readonly #trusted: ReadonlyMap<bigint, Uint8Array>;
  readonly #waypoint: Waypoint | undefined;
  readonly #spans: number[] = [];
  #lastBlockStart: PageCut | undefined;
  #identity: ProvenIdentity | undefined;

  constructor(
    accumulator: MerkleAccumulator,
    trusted: ReadonlyMap<bigint, Uint8Array>,
    waypoint: Waypoint | undefined,
  ) {
    this.accumulator = accumulator;
    this.#trusted = trusted;
    this.#waypoint = waypoint;
  }

  run(bytes: Uint8Array<ArrayBuffer>): ProvenPage {
    const firstVersion = this.accumulator.leafCount;
    const startedMs = performance.now();
    let hashMs = 0;
    let count = 0;
    let last: EncodedOnChainData | undefined;
    // Each item is proved before the next is decoded: damage that moves the end of an item is named where it is.
    for (const item of itemsOf(bytes, firstVersion)) {
      const decodedMs = performance.now();
      this.#item(item, count, bytes.byteOffset);
      hashMs += performance.now() - decodedMs;
      count += 1;
      last = item;
    }
    return {
      firstVersion,
      count,
      bytes,
      spans: Uint32Array.from(this.#spans),
      lastBlockStart: this.#lastBlockStart,
      end: cutAt(count, this.accumulator),
      endsBlock: endsBlock(last!),
      identity: this.#identity,
      decodeMs: performance.now() - startedMs - hashMs,
      hashMs,
    };
  }

  #item(item: EncodedOnChainData, index: number, pageOffset: number): void {
    const version = this.accumulator.leafCount;
    checkItem(item, version);
    if (version === 0n) this.#identity = proveGenesisItem(item, this.#waypoint);
    if (beginsBlock(version, item.bytes.events)) {
      this.#lastBlockStart = cutAt(index, this.accumulator);
    }
    this.accumulator.append(transactionInfoHash(item.bytes.info));
    const root = this.accumulator.rootHash();
    if (!root.equals(item.data.accumulatorRootHash)) {
      const said = hex(item.data.accumulatorRootHash);
      throw unproved(
        version,
        'accumulator_root_hash',
        `the accumulator comes to ${hex(root)}, the feed says ${said}: ` +
          'root or info is not the one of this history',
      );
    }
    this.#checkTrusted(version, root);
    this.#addSpans(item, pageOffset);
  }

  #checkTrusted(version: bigint, root: Buffer): void {
    const trusted = this.#trusted.get(version);
    if (trusted === undefined || Buffer.compare(trusted, root) === 0) return;
    throw new PageError(
      'trust_contradicts',
      version,
      'accumulator_root_hash',
      `the upstream’s history comes to ${hex(root)}, trusted is ${hex(trusted)}`,
    );
  }

  #addSpans({ bytes }: EncodedOnChainData, pageOffset: number): void {
    const push = (part: Buffer): void => {
      const start = part.byteOffset - pageOffset;
      this.#spans.push(start, start + part.length);
    };
    push(bytes.whole);
    push(bytes.info);
    push(bytes.changes);
    const { events } = bytes;
    const eventsStart = (events[0]?.byteOffset ?? pageOffset) - pageOffset;
    this.#spans.push(events.length, eventsStart);
    for (const event of events) this.#spans.push(event.byteOffset - pageOffset + event.length);
  }
}

function cutAt(count: number, accumulator: MerkleAccumulator): PageCut {
  const roots = Buffer.concat(accumulator.frozenSubtreeRoots as Buffer[]);
  return { count, frozenRoots: Uint8Array.from(roots) };
}

/** Decodes a page of one item or more, item by item. @throws PageError */
export function* itemsOf(
  bytes: Uint8Array,
  firstVersion: bigint,
): Generator<EncodedOnChainData, void, undefined> {
  const reader = new BcsReader(bytes);
  let count = 0;
  let index = 0;
  let itemStart = 0;
  try {
    count = reader.length(MIN_ON_CHAIN_DATA_BYTES);
    if (count === 0 || count > MAX_PAGE_ITEMS) {
      const detail = `a page of ${count} items, 1 to ${MAX_PAGE_ITEMS} are taken`;
      throw new PageError('page_malformed', firstVersion, 'page', detail);
    }
    for (; index < count; index += 1) {
      itemStart = reader.offset;
      yield readOnChainData(reader);
    }
    reader.finish();
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    const version = firstVersion + BigInt(index);
    const field = index < count ? fieldThatFails(bytes, itemStart) : 'page';
    throw new PageError('page_malformed', version, field, `does not decode: ${error.message}`);
  }
}

/** The readers of an item's fields, in their order. */
const FIELD_READERS: readonly (readonly [PageField, (reader: BcsReader) => unknown])[] = [
  ['version', (reader) => reader.u64()],
  ['transaction', readTransaction],
  ['info', readTransactionInfo],
  ['events', (reader) => reader.vector(MIN_EVENT_BYTES, readContractEvent)],
  ['accumulator_root_hash', readHash],
  ['changes', readWriteSet],
];

/** The field of an item that does not decode; the page itself when it ends where the item should begin. */
function fieldThatFails(page: Uint8Array, itemStart: number): PageField {
  if (itemStart === page.length) return 'page';
  const reader = new BcsReader(page, itemStart);
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

/**
 * Checks what an item says of itself: its version, and the three hashes of its info.
 * @throws PageError `page_unproved`
 */
export function checkItem({ data, bytes }: EncodedOnChainData, version: bigint): void {
  const { info } = data;
  if (data.version !== version) {
    throw unproved(version, 'version', `the item says it is version ${data.version}`);
  }
  if (!transactionHash(bytes.transaction).equals(info.transactionHash)) {
    throw unproved(version, 'transaction', 'its hash is not the one in the info');
  }
  if (!eventRoot(bytes.events).equals(info.eventRootHash)) {
    throw unproved(version, 'events', eventMismatch(bytes.events));
  }
  if (!writeSetHash(bytes.changes).equals(info.stateChangeHash)) {
    throw unproved(version, 'changes', 'their hash is not the one in the info');
  }
}

const hashEventNode = nodeHasher('EventAccumulator');

/** Root over the events of a transaction: each level padded on the right when it is odd (§2.7). */
function eventRoot(events: readonly Buffer[]): Buffer {
  if (events.length === 0) return ACCUMULATOR_PLACEHOLDER;
  let level = events.map(contractEventHash);
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let at = 0; at < level.length; at += 2) {
      above.push(hashEventNode(level[at]!, level[at + 1] ?? ACCUMULATOR_PLACEHOLDER));
    }
    level = above;
  }
  return level[0]!;
}

/** A node that translates puts events in the place of those that were hashed (§5.8); it is told from damage here. */
function eventMismatch(events: readonly Buffer[]): string {
  const plain = 'their root is not the one in the info';
  const translated = events.some((bytes) => {
    const event = chunkEventOf(bytes);
    return event.kind === 'stream' && mayBeTranslated(event.typeTag);
  });
  if (!translated) return plain;
  return (
    `${plain}; a node that translates module events (enable_event_v2_translation) sends others ` +
    'than those that were hashed: follow one that does not'
  );
}

/** Genesis must be the genesis that its own bytes come to, state and all (§2.7). */
function proveGenesisItem(
  { bytes, data }: EncodedOnChainData,
  waypoint: Waypoint | undefined,
): ProvenIdentity {
  const genesis = readGenesisItem(bytes.transaction);
  const proof = proveGenesis(genesis);
  if (!genesis.writeSetBytes.equals(bytes.changes)) {
    throw unproved(0n, 'changes', 'they are not the writes of the genesis transaction');
  }
  if (!proof.eventRootHash.equals(data.info.eventRootHash)) {
    throw unproved(0n, 'events', 'they are not the events of the genesis transaction');
  }
  if (!proof.infoBytes.equals(bytes.info)) {
    throw unproved(0n, 'info', 'it is not the info that the genesis transaction comes to');
  }
  if (waypoint !== undefined && !isSameWaypoint(waypoint, proof.waypoint)) {
    const found = formatWaypoint(proof.waypoint);
    throw new PageError(
      'waypoint_mismatch',
      0n,
      'transaction',
      `the upstream’s genesis has waypoint ${found}, not ${formatWaypoint(waypoint)}`,
    );
  }
  return { chainId: genesis.chainId, genesisWaypointHash: proof.waypoint.hash };
}

function readGenesisItem(transaction: Buffer): ReturnType<typeof readGenesis> {
  try {
    return readGenesis(transaction);
  } catch (error) {
    if (!(error instanceof GenesisError)) throw error;
    throw unproved(0n, 'transaction', `the ledger cannot begin with it: ${error.message}`);
  }
}

function endsBlock({ data, bytes }: EncodedOnChainData): boolean {
  const { kind } = data.transaction;
  return (
    kind === 'stateCheckpoint' || kind === 'blockEpilogue' || endsEpoch(data.version, bytes.events)
  );
}

function unproved(version: bigint, field: PageField, detail: string): PageError {
  return new PageError('page_unproved', version, field, detail);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
