/**
 * Memory that requests hold until the operating system has taken their answers: pages and runs of code while they are
 * made, bodies while they are received, requests that wait behind them, and answers that clients do not read. A client
 * may hold as much as is free: alone half of the limit. However much others hold, something is left for a client that
 * holds nothing.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clients } from './request-client.ts';

export interface Held {
  bytes: number;
  readonly client: string;
  /** All that its connection holds; this one is among them until it is released. */
  readonly ofSocket: Set<Held>;
  readonly onRelease: (() => void) | undefined;
}

/** How many times the limit may be held before single items are refused too, not only listings. */
const ITEM_EXCESS = 2;

export class HeldBytes {
  readonly #maxBytes: number;
  readonly #clients: Clients;
  readonly #bySocket = new WeakMap<Socket, Set<Held>>();
  /** Work that grows, the oldest first. */
  readonly #growing = new Set<Held>();
  readonly #bytesByClient = new Map<string, number>();
  #bytes = 0;
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
   * Whether a request is refused because so much is held. A client that asks on without reading its answers would not
   * read the refusal: it loses its connection. It has not read what the operating system did not take; answers that
   * wait behind one that is being made do not count.
   */
  refuses(isListing: boolean, request: IncomingMessage): boolean {
    const maxBytes = isListing ? this.#maxBytes : this.#maxBytes * ITEM_EXCESS;
    // No client holds more than all.
    if (this.#bytes * 2 < maxBytes) return false;
    const own = this.#bytesByClient.get(this.#clients.of(request)) ?? 0;
    if (own < maxBytes - this.#bytes) return false;
    if (request.socket.writableLength > 0) request.socket.destroy();
    return true;
  }

  /** Counts bytes until they are released or their connection is closed; none for a connection that is closed. */
  hold(request: IncomingMessage, bytes: number, onRelease?: () => void): Held {
    const { socket } = request;
    const ofSocket = this.#heldOf(socket);
    const held = { bytes, client: this.#clients.of(request), ofSocket, onRelease };
    if (socket.destroyed || (onRelease !== undefined && this.#isStopping)) return held;
    ofSocket.add(held);
    this.#add(held.client, bytes);
    return held;
  }

  begin(request: IncomingMessage, onRelease?: () => void): Held {
    const held = this.hold(request, 0, onRelease);
    this.#growing.add(held);
    return held;
  }

  isHeld(held: Held): boolean {
    return held.ofSocket.has(held);
  }

  /** Counts more of what is still held; a negative number gives bytes back. */
  grow(held: Held, bytes: number): void {
    if (!this.isHeld(held)) return;
    held.bytes += bytes;
    this.#add(held.client, bytes);
  }

  /**
   * Whether work may grow any further. Older work goes first: if all of it ended at the limit, none would be completed.
   * Alone it may have any size, so that every page can be made.
   */
  hasRoom(work: Held): boolean {
    let bytes = this.#bytes;
    let ownBytes = this.#bytesByClient.get(work.client) ?? 0;
    if (bytes + ownBytes - work.bytes < this.#maxBytes) return true;
    let isYounger = false;
    for (const other of this.#growing) {
      if (isYounger) {
        bytes -= other.bytes;
        if (other.client === work.client) ownBytes -= other.bytes;
      } else isYounger = other === work;
    }
    return bytes === work.bytes || bytes + ownBytes - work.bytes < this.#maxBytes;
  }

  release(held: Held): void {
    this.#growing.delete(held);
    if (!held.ofSocket.delete(held)) return;
    this.#add(held.client, -held.bytes);
    held.onRelease?.();
  }

  /** Ends what can be ended, and lets none of it begin: the node stops. */
  stop(): void {
    this.#isStopping = true;
    for (const held of this.#growing) if (held.onRelease !== undefined) this.release(held);
  }

  /** The socket tells when a connection ends: a response that waits behind others gets no event then. */
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
