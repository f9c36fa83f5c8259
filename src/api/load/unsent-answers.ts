/**
 * What answers occupy until the operating system has taken them: pages and runs of code while they are made, requests
 * that wait behind them, and answers that clients do not read. A client may hold as much as is free: alone half of all
 * that is allowed, and however much others hold, there is something left for one that holds nothing.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clients } from './request-client.ts';

/** One answer. */
export interface Held {
  bytes: number;
  readonly client: string;
  /** All of its connection; this one until it is released. */
  readonly ofSocket: Set<Held>;
  /** Absent for what does not end with it. */
  readonly onRelease: (() => void) | undefined;
}

/** How many times as much may be unsent before single items are refused too, not only listings. */
const ITEM_EXCESS = 2;

export class UnsentAnswers {
  readonly #maxBytes: number;
  readonly #clients: Clients;
  readonly #bySocket = new WeakMap<Socket, Set<Held>>();
  /** Those that are being made, the oldest first. */
  readonly #pages = new Set<Held>();
  /** Of clients that hold some. */
  readonly #bytesByClient = new Map<string, number>();
  #bytes = 0;
  /** Whether a page was given up, and others are still made: one that began now would be given up too. */
  #isShort = false;
  #isStopping = false;

  /** @param maxBytes 0 for no limit */
  constructor(maxBytes: number, clients: Clients) {
    this.#clients = clients;
    this.#maxBytes = maxBytes === 0 ? Number.POSITIVE_INFINITY : maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /**
   * Whether a request is refused because so much is unsent. A client that asks on without reading what it has would
   * not read the refusal: it loses its connection. Answers that wait behind one that is made do not say so: only what
   * the operating system did not take does.
   */
  refuses(isListing: boolean, request: IncomingMessage): boolean {
    const maxBytes = isListing ? this.#maxBytes : this.#maxBytes * ITEM_EXCESS;
    // Nobody holds more than all.
    if (this.#bytes * 2 < maxBytes) return false;
    if (isListing && this.#isShort) return true;
    const own = this.#bytesByClient.get(this.#clients.of(request)) ?? 0;
    if (own < maxBytes - this.#bytes) return false;
    if (request.socket.writableLength > 0) request.socket.destroy();
    return true;
  }

  /**
   * Counts bytes for a request until they are released or its connection is closed. Nothing is held for one that is
   * closed already.
   * @param onRelease is called when they are released; what has one is not held by a node that stops
   */
  hold(request: IncomingMessage, bytes: number, onRelease?: () => void): Held {
    const { socket } = request;
    const ofSocket = this.#heldOf(socket);
    const held = { bytes, client: this.#clients.of(request), ofSocket, onRelease };
    if (socket.destroyed || (onRelease !== undefined && this.#isStopping)) return held;
    ofSocket.add(held);
    this.#add(held.client, bytes);
    return held;
  }

  /** Counts a page that is being made, or a run, as `hold`: nothing so far. */
  beginPage(request: IncomingMessage, onRelease?: () => void): Held {
    const held = this.hold(request, 0, onRelease);
    this.#pages.add(held);
    return held;
  }

  isHeld(held: Held): boolean {
    return held.ofSocket.has(held);
  }

  /** Counts more of what is held still; a negative number gives bytes back. */
  grow(held: Held, bytes: number): void {
    if (!this.isHeld(held)) return;
    held.bytes += bytes;
    this.#add(held.client, bytes);
  }

  /**
   * Whether a page may be made any further. Older pages go first: were all of them to end where the memory does, none
   * would be finished. One alone may have any size, so that every page can be made.
   */
  hasRoom(page: Held): boolean {
    let bytes = this.#bytes;
    let ownBytes = this.#bytesByClient.get(page.client) ?? 0;
    if (bytes + ownBytes - page.bytes < this.#maxBytes) return true;
    let isYounger = false;
    for (const other of this.#pages) {
      if (isYounger) {
        bytes -= other.bytes;
        if (other.client === page.client) ownBytes -= other.bytes;
      } else isYounger = other === page;
    }
    if (bytes === page.bytes || bytes + ownBytes - page.bytes < this.#maxBytes) return true;
    this.#isShort ||= this.isFull;
    return false;
  }

  release(held: Held): void {
    if (this.#pages.delete(held) && this.#pages.size === 0) this.#isShort = false;
    if (!held.ofSocket.delete(held)) return;
    this.#add(held.client, -held.bytes);
    held.onRelease?.();
  }

  /** Releases whatever is called back, and holds no more of it: the node stops. */
  stop(): void {
    this.#isStopping = true;
    for (const page of this.#pages) if (page.onRelease !== undefined) this.release(page);
  }

  /** An answer that waits behind others when its connection ends gets no event: its socket does. */
  #heldOf(socket: Socket): Set<Held> {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const held = new Set<Held>();
    this.#bySocket.set(socket, held);
    socket.once('close', () => {
      for (const one of held) this.release(one);
    });
    return held;
  }

  #add(client: string, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#bytesByClient.get(client) ?? 0) + bytes;
    if (own === 0) this.#bytesByClient.delete(client);
    else this.#bytesByClient.set(client, own);
  }
}
