/**
 * The event streams of a process. Each listener first gets history, batch by batch, as fast as it reads. Once it has
 * all records of the newest view, it joins the channel of its stream. For each new head, the hub finds out which
 * channels have records of the new versions. It reads and renders these once for each channel, and sends the same
 * bytes to all its listeners.
 *
 * Nothing is lost in between: a channel sends everything from its `next` on, and a listener has everything below its
 * own `next`. A listener joins only if its `next` is not below the channel's, and if its view is not older than the
 * view that channels are read at. It skips records that it already has.
 */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Cache, copiedBytes } from '../../cache.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import type { LedgerReader } from '../../ledger/open.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { ApiError, knownFailure } from '../error-table.ts';
import type { RateLimitedWarning } from '../rate-limited-warning.ts';
import type { ApiSettings } from '../settings.ts';
import type { HeadWatch } from './head-watch.ts';
import {
  errorFrame,
  Frame,
  HEARTBEAT,
  Listener,
  ListenerTally,
  MAX_UNREAD_BYTES,
  type RenderedBatch,
  rendered,
  retryFrame,
} from './listener.ts';
import { changedKeys, type RecordBatch, type RecordSource, type StreamStart } from './sources.ts';
import { SLICE_MS, TimeShare } from './time-share.ts';

/** A listener gets a heartbeat after this long without an event, in milliseconds. */
const HEARTBEAT_MS = 15_000;
/** Heartbeats within `requestTimeoutMs`, after which a connection without any traffic is closed. */
const HEARTBEATS_PER_TIMEOUT = 4;
/** How often the hub checks all listeners, in milliseconds. */
const SWEEP_INTERVAL_MS = 1_000;
/** Pause before a failed read of the ledger is repeated, in milliseconds. */
const RETRY_READ_MS = 1_000;
/** After how long a client reconnects, in milliseconds. */
const RETRY_MS = 1_000;
/** A stopping node gives its clients different retry times, up to this one, so that they do not all return at once. */
const MAX_RETRY_MS = 5_000;
const RETRY_AFTER_SECS = 5;

/** Estimated memory of a record without its JSON, in bytes. */
const RECORD_OVERHEAD_BYTES = 300;

const FIRST_FRAME = retryFrame(RETRY_MS);
const NODE_STOPS = 'The node stops';
const UNEXPECTED_FAILURE = 'an event stream failed unexpectedly';

interface Channel {
  readonly source: RecordSource;
  /** All records below this position were sent. */
  next: bigint;
  readonly listeners: Set<Listener>;
}

interface HubParts {
  readonly ledger: LedgerReader;
  readonly heads: HeadWatch;
  readonly settings: Pick<ApiSettings, 'maxListeners' | 'maxUnsentBytes' | 'requestTimeoutMs'>;
  readonly logger: { error(facts: object, message: string): void };
  readonly outage: RateLimitedWarning;
}

export class PushHub {
  readonly tally = new ListenerTally();
  readonly #parts: HubParts;
  readonly #heartbeatMs: number;
  readonly #share = new TimeShare();
  readonly #listeners = new Map<Listener, Channel | undefined>();
  readonly #channels = new Map<string, Channel>();
  /** The view that channels are read at; undefined while no channel is watched. */
  #view: LedgerView | undefined;
  /** History is read for one listener at a time. */
  #reading: Promise<unknown> = Promise.resolve();
  readonly #streams = new WeakMap<Duplex, Listener>();
  /** Connections whose streams end with this error. */
  readonly #refused = new WeakMap<Duplex, ApiError>();
  readonly #batches = new Cache<RenderedBatch>('event_batches');
  #sweeping: ReturnType<typeof setInterval> | undefined;
  #maxUnreadBytes = MAX_UNREAD_BYTES;
  #isClosed = false;

  constructor(parts: HubParts) {
    this.#parts = parts;
    const { requestTimeoutMs } = parts.settings;
    this.#heartbeatMs = Math.min(HEARTBEAT_MS, requestTimeoutMs / HEARTBEATS_PER_TIMEOUT);
  }

  /**
   * Sends a stream until it ends; resolves when it has begun.
   * @param begin writes the head of the response
   * @throws ApiError 503 for too many streams; what the source throws for the start
   */
  async open(
    response: ServerResponse,
    view: LedgerView,
    start: StreamStart,
    begin: () => void,
  ): Promise<void> {
    // A response that waits behind others on its connection has no socket yet.
    if (response.socket === null) {
      await new Promise((resolve) => response.once('socket', () => setImmediate(resolve)));
    }
    this.#admit();
    if (response.destroyed) return;
    this.tally.open += 1;
    response.once('close', () => {
      this.tally.open -= 1;
    });
    const { source, from } = start;
    const first = await this.#read(source, view, from);
    // The start may be above the end. The stream is then read from its end, and records below the start are skipped.
    const isAbove = first.records.length === 0 && first.isEnd;
    const next = isAbove ? await source.end(view) : first.next;
    if (response.destroyed) return;
    // `close` has not seen this listener and would not end it.
    if (this.#isClosed) throw refusal(NODE_STOPS);
    begin();
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    const listener = new Listener(response, from, this.tally);
    this.#add(listener, response);
    listener.send(FIRST_FRAME);
    listener.sendNew(first, Number.POSITIVE_INFINITY);
    listener.next = next;
    const refused = this.#refused.get(response.req.socket);
    if (refused !== undefined) this.#fail([listener], refused);
    const isLive = first.isEnd && this.#join(listener, source, view);
    if (!isLive) this.#inBackground(() => this.#follow(listener, source));
  }

  /** Ends the streams of a connection, open and waiting, because bytes after their requests are refused. */
  refuse(connection: Duplex, error: ApiError): void {
    this.#refused.set(connection, error);
    const listener = this.#streams.get(connection);
    if (listener !== undefined) this.#fail([listener], error);
  }

  /** Ends all streams, and refuses new ones. @param lastText absent: tells clients to retry, at different times */
  async close(lastText?: string): Promise<void> {
    this.#isClosed = true;
    let startedMs = performance.now();
    for (const listener of this.#listeners.keys()) {
      const retryMs = RETRY_MS + Math.floor(Math.random() * (MAX_RETRY_MS - RETRY_MS));
      const last =
        lastText === undefined ? retryFrame(retryMs, 'the node stops') : new Frame([lastText]);
      listener.end('shutdown', last);
      if (performance.now() - startedMs < SLICE_MS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      startedMs = performance.now();
    }
  }

  #admit(): void {
    const { maxListeners } = this.#parts.settings;
    const reason = this.#isClosed
      ? NODE_STOPS
      : this.tally.open >= maxListeners
        ? `Too many event streams are open: at most ${maxListeners}`
        : this.#maxUnreadBytes === 0 && 'Listeners of event streams do not read what they are sent';
    if (reason !== false) throw refusal(reason);
  }

  #add(listener: Listener, response: ServerResponse): void {
    const { socket } = response.req;
    this.#listeners.set(listener, undefined);
    this.#streams.set(socket, listener);
    response.once('close', () => {
      this.#streams.delete(socket);
      const channel = this.#listeners.get(listener);
      this.#listeners.delete(listener);
      channel?.listeners.delete(listener);
      if (channel?.listeners.size === 0) this.#forget(channel);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#sweeping);
      this.#sweeping = undefined;
      this.#maxUnreadBytes = MAX_UNREAD_BYTES;
    });
    if (this.#sweeping !== undefined) return;
    const intervalMs = Math.min(SWEEP_INTERVAL_MS, this.#heartbeatMs / 2);
    let isSweeping = false;
    const sweep = async (): Promise<void> => {
      if (isSweeping) return;
      isSweeping = true;
      try {
        await this.#checkListeners();
      } finally {
        isSweeping = false;
      }
    };
    this.#sweeping = setInterval(() => this.#inBackground(sweep), intervalMs).unref();
  }

  /** Runs work that nothing awaits. Its failure is a bug in this program. */
  #inBackground(work: () => Promise<void>): void {
    work().catch((err: unknown) => this.#parts.logger.error({ err }, UNEXPECTED_FAILURE));
  }

  #forget({ source, listeners: live }: Channel): void {
    live.clear();
    if (this.#channels.get(source.key)?.listeners === live) this.#channels.delete(source.key);
  }

  /** Sends heartbeats, and adds up the bytes that clients have not read. */
  async #checkListeners(): Promise<void> {
    let unreadBytes = 0;
    let startedMs = performance.now();
    for (const listener of this.#listeners.keys()) {
      const unread = listener.unreadBytes;
      unreadBytes += unread;
      const nowMs = performance.now();
      if (unread === 0 && nowMs - listener.sentMs >= this.#heartbeatMs) listener.send(HEARTBEAT);
      if (nowMs - startedMs < SLICE_MS) continue;
      await this.#share.spend(nowMs - startedMs);
      startedMs = performance.now();
    }
    const { maxUnsentBytes } = this.#parts.settings;
    const isFull = maxUnsentBytes > 0 && unreadBytes > maxUnsentBytes;
    this.#maxUnreadBytes = isFull ? 0 : MAX_UNREAD_BYTES;
  }

  async #follow(listener: Listener, source: RecordSource): Promise<void> {
    let hasJoined = false;
    while (!hasJoined) {
      await listener.drained();
      if (listener.hasEnded) return;
      try {
        const turn = this.#reading.then(() => this.#sendHistory(listener, source));
        this.#reading = turn.catch(() => undefined);
        hasJoined = await turn;
      } catch (failure) {
        if (!(await this.#waitIfTransient(failure))) this.#fail([listener], failure);
      }
    }
  }

  /** Sends the next batch of history. @returns whether the listener now has all records and is live */
  async #sendHistory(listener: Listener, source: RecordSource): Promise<boolean> {
    const startedMs = performance.now();
    const view = await this.#parts.ledger.view();
    const batch = await this.#read(source, view, listener.next);
    listener.sendNew(batch, Number.POSITIVE_INFINITY);
    const isLive = batch.isEnd && this.#join(listener, source, view);
    await this.#share.spend(performance.now() - startedMs);
    return isLive;
  }

  /** Reads history. It is cached, because clients that were interrupted together resume at the same position. */
  #read(source: RecordSource, view: LedgerView, from: bigint): MaybePromise<RenderedBatch> {
    const read = () => source.read(view, from);
    if (view.overrides !== undefined) return andThen(read(), rendered);
    const make = () => andThen(read(), renderedForCache);
    const { version, oldestVersion } = view.state;
    const key = `${source.key} ${from} ${version} ${oldestVersion}`;
    return this.#batches.getOrMake(key, make, bytesOf);
  }

  /** @param view the listener has all its records @returns false if the channel may have sent newer records */
  #join(listener: Listener, source: RecordSource, view: LedgerView): boolean {
    // A frozen ledger, such as a fork, never grows.
    if (listener.hasEnded || view.isFrozen) return true;
    if (this.#view !== undefined && view.state.version < this.#view.state.version) return false;
    let channel = this.#channels.get(source.key);
    if (channel === undefined) {
      channel = { source, next: listener.next, listeners: new Set() };
      this.#channels.set(source.key, channel);
    } else if (listener.next < channel.next) {
      return false;
    }
    channel.listeners.add(listener);
    this.#listeners.set(listener, channel);
    if (this.#view === undefined) {
      this.#view = view;
      this.#inBackground(() => this.#watch(view.state.version));
    }
    return true;
  }

  /** Reads the channels at each new head, as long as there are any. @param first all records up to it were sent */
  async #watch(first: bigint): Promise<void> {
    let sent = first;
    try {
      while (this.#channels.size > 0 && !this.#isClosed) {
        try {
          const view = await this.#parts.heads.next();
          if (view.state.version <= sent) continue;
          await this.#sendUpdates(view, sent);
          sent = view.state.version;
        } catch (failure) {
          if (!(await this.#waitIfTransient(failure))) this.#endAll(failure);
        }
      }
    } finally {
      this.#view = undefined;
    }
  }

  /** Sends all channels the records of a view above version `sent`. Throws only transient failures. */
  async #sendUpdates(view: LedgerView, sent: bigint): Promise<void> {
    this.#view = view;
    const changed = await this.#changedChannels(view, sent);
    for (const key of changed ?? this.#channels.keys()) {
      const channel = this.#channels.get(key);
      if (channel !== undefined) await this.#advance(channel, view, sent);
    }
  }

  /** Keys of the channels with new records; `undefined` if any may have some. Throws only transient failures. */
  async #changedChannels(view: LedgerView, sent: bigint): Promise<ReadonlySet<string> | undefined> {
    // Reading what a version emitted takes about as long as reading a channel.
    if (view.state.version - sent >= this.#channels.size) return undefined;
    try {
      return await changedKeys(view, sent, this.#share);
    } catch (failure) {
      if (isTransientFailure(failure)) throw failure;
      // It may be damage. Reading each channel then tells the listeners of the damaged streams.
      return undefined;
    }
  }

  /** Sends a channel the records of a view above version `sent`. Throws only transient failures. */
  async #advance(channel: Channel, view: LedgerView, sent: bigint): Promise<void> {
    channel.next = channel.source.skip(channel.next, sent);
    for (;;) {
      const startedMs = performance.now();
      let batch: RenderedBatch;
      try {
        batch = rendered(await channel.source.read(view, channel.next));
      } catch (failure) {
        if (isTransientFailure(failure)) throw failure;
        const listeners = [...channel.listeners];
        this.#forget(channel);
        this.#fail(listeners, failure);
        return;
      }
      await this.#share.spend(performance.now() - startedMs);
      channel.next = batch.next;
      if (batch.records.length > 0) await this.#broadcast(channel, batch);
      if (batch.isEnd) return;
    }
  }

  async #broadcast({ listeners: live }: Channel, batch: RenderedBatch): Promise<void> {
    let startedMs = performance.now();
    for (const listener of live) {
      listener.sendNew(batch, this.#maxUnreadBytes);
      const spentMs = performance.now() - startedMs;
      if (spentMs < SLICE_MS) continue;
      await this.#share.spend(spentMs);
      startedMs = performance.now();
    }
    await this.#share.spend(performance.now() - startedMs);
  }

  #endAll(failure: unknown): void {
    const listeners = [...this.#channels.values()].flatMap(({ listeners: live }) => [...live]);
    for (const channel of this.#channels.values()) this.#forget(channel);
    this.#fail(listeners, failure);
  }

  /** Whether a failure is transient; if so, waits a while first. */
  async #waitIfTransient(failure: unknown): Promise<boolean> {
    // The ledger may be closed by now. `close` tells all listeners.
    if (this.#isClosed) return true;
    if (!isTransientFailure(failure)) return false;
    this.#parts.outage.warn({ err: failure });
    await delay(RETRY_READ_MS);
    return true;
  }

  #fail(listeners: Iterable<Listener>, failure: unknown): void {
    const known = knownFailure(failure);
    const error = known ?? new ApiError(500, 'internal_error', 'internal error');
    const reason = error.status === 410 ? 'pruned' : 'failed';
    const frame = errorFrame(error);
    for (const listener of listeners) listener.end(reason, frame);
    if (known === undefined) this.#parts.logger.error({ err: failure }, UNEXPECTED_FAILURE);
  }
}

function refusal(message: string): ApiError {
  return new ApiError(503, 'internal_error', message, { retryAfterSecs: RETRY_AFTER_SECS });
}

function renderedForCache(batch: RecordBatch): RenderedBatch {
  const records = batch.records.map((record) => ({ ...record, json: copiedBytes(record.json) }));
  return rendered({ ...batch, records });
}

/** Estimated memory of a batch: its records are as large as its frame. */
function bytesOf({ records, frame }: RenderedBatch): number {
  return 2 * frame.chunk.length + records.length * RECORD_OVERHEAD_BYTES;
}

function isTransientFailure(failure: unknown): boolean {
  return knownFailure(failure)?.retryAfterSecs !== undefined;
}
